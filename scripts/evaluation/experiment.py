# SPDX-License-Identifier: GPL-2.0
"""What an experiment has found, in a form that can be written down and held against limits.

An experiment is a module of scripts/evaluation/experiments with

  SCENARIOS   of the lab, that it has the results of (QUICK_SCENARIOS, if it has a short form)
  find(lab)   returns a Finding

Everything in a Finding is text or a number: it goes through JSON to the document, to the plots
and to the tests. A figure of the paper is from the article that README.md names.
"""

import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lab"))
from report import Report  # noqa: E402 # where it is, is said above


class Lab:
    """The results of scenarios, and how to have them reported: tree is where perf and the guests
    are, vmlinux the host's kernel."""

    def __init__(self, results, tree, vmlinux, work, quick):
        self.results = results
        self.tree = tree
        self.vmlinux = vmlinux
        self.work = work
        self.quick = quick

    def path(self, scenario, name):
        return os.path.join(self.results, scenario, name)

    def text(self, scenario, name):
        with open(self.path(scenario, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def paths(self, scenario, pattern):
        return sorted(glob.glob(self.path(scenario, pattern)))

    def report(self, scenario, recording, *options, guest_root="root"):
        """Has a recording reported, symbols and all, unless it has been, and returns the
        Report. guest_root is the directory with the guest's files."""
        output = os.path.join(self.work, "%s-%s%s.json" % (
            scenario, recording, "".join(options).replace("/", "_")))
        if os.path.exists(output):
            return Report(output)
        command = [os.path.join(self.tree, "perf/perf"), "--buildid-dir", self.build_ids(),
                   "kvm", "unified", "report", "-f",
                   "-i", self.path(scenario, recording + ".data"), "--format", "json",
                   "-k", self.vmlinux,
                   "--guest-root", os.path.join(self.tree, "guest", guest_root)] + list(options)
        with open(output, "wb") as file, open(output + ".err", "wb") as errors:
            code = subprocess.call(command, stdout=file, stderr=errors)
        if code:
            with open(output + ".err", encoding="utf-8", errors="replace") as errors:
                sys.exit("evaluation: %s: %s" % (" ".join(command), errors.read()))
        return Report(output)

    def build_ids(self):
        """A build-id cache with the guests' programs: the lab's host, too, has run them."""
        cache = os.path.join(self.work, "build-ids")
        if not os.path.isdir(cache):
            root = os.path.join(self.tree, "guest/root")
            files = glob.glob(root + "/lib/*/libquantum.so.*") + [root + "/usr/bin/shor"]
            subprocess.check_call([os.path.join(self.tree, "perf/perf"), "--buildid-dir", cache,
                                   "buildid-cache", "--add", ",".join(files)])
        return cache


def scheduled(lab, scenario, recording, name, run_ns):
    """Percent of the time between the brackets that run_ns() finds in the fields of the lines
    of NAME, one of the files that bracket.py makes."""
    run, clock = [], []
    for when in ("before", "after"):
        run.append(run_ns([line.split() for line in lab.text(
            scenario, "%s-%s.%s" % (recording, name, when)).splitlines()]))
        clock.append(int(lab.text(scenario, "%s-host-clock.%s" % (recording, when))))
    return 100 * (run[1] - run[0]) / (clock[1] - clock[0])


def cpu_time(report, lab, scenario, recording, guest, vcpu=None):
    """Percent of the measurement that the scheduler had a vCPU thread (all) on a CPU, and what the
    report says: that it was in the guest, or in KVM for it. (The VMM's files: see bracket.)"""
    by_scheduler = scheduled(lab, scenario, recording, guest + "-schedstat", lambda lines: sum(
        int(line[2]) for line in lines if vcpu in (None, int(line[0]))))
    waited = report.rows(guest, "[steal] (on", vcpu) + report.share(guest, "idle", vcpu)
    return by_scheduler, 100 - waited


class Finding:
    """What an experiment has found."""

    def __init__(self, title, paper, about):
        self.title = title
        # Which of its tables and figures, or whose.
        self.paper = paper
        self.about = about
        self.tables = []
        self.properties = []
        self.plots = []
        self.remarks = []
        # What the virtual clock says of runs that leave it no idle time: the same on each machine
        self.virtual_ns = {}

    def table(self, caption, columns, rows):
        """Of texts and numbers. None is shown as a dash."""
        self.tables.append({"caption": caption, "columns": columns, "rows": rows})

    def _property(self, what, figure, limit, unit, relation, holds):
        self.properties.append({"what": what, "figure": figure, "limit": limit, "unit": unit,
                                "relation": relation, "holds": bool(holds)})

    def at_most(self, limit, what, figure, unit=""):
        self._property(what, figure, limit, unit, "at most", figure <= limit)

    def at_least(self, limit, what, figure, unit=""):
        self._property(what, figure, limit, unit, "at least", figure >= limit)

    def equal(self, what, figure, other, unit=""):
        self._property(what, figure, other, unit, "exactly", figure == other)

    def within(self, tolerance, what, one, other, unit="points"):
        """The difference of two figures, which are said besides."""
        self.at_most(tolerance, "%s (%.2f and %.2f)" % (what, one, other), abs(one - other), unit)

    def bars(self, title, unit, groups, series, log=False):
        """A plot: for each group a bar of each of the series, {name: [figure, ...]}. None is
        a bar that is not there. log: on a logarithmic axis"""
        self.plots.append({"title": title, "unit": unit, "groups": groups, "log": log,
                           "series": [{"name": name, "values": values}
                                      for name, values in series.items()]})

    def remark(self, text):
        self.remarks.append(text)


def write_findings(path, findings, versions, quick):
    """{name: Finding}, as JSON. versions is what was run, a line each."""
    found = {"schema": "perf-kvm-unified-evaluation", "version": 1, "quick": quick,
             "versions": versions.splitlines(),
             "experiments": [dict(name=name, **vars(finding))
                             for name, finding in findings.items()]}
    with open(path + ".new", "w", encoding="ascii") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)
