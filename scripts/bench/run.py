#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make large profiles of one, and measure the report of each beside perf report.

usage: run.py [--samples "MILLIONS..."] [--shapes "SHAPE..."] [--times N] --profile PERF.DATA
           --fleet PERF.DATA --busy PERF.DATA --work DIR --tree DIR --vmlinux FILE
           --output ROWS.json
       run.py [--samples "MILLIONS..."] [--shapes "SHAPE..."] --space

Prints a line for each profile, and writes the same as JSON. --tree: where perf and the guests
are; --vmlinux: the host's kernel. --shapes: what else than samples there is more of; such a
profile has no more samples than the largest of the others. --times: how often each is measured;
the one of 200 VMs, which no limit is about, is measured once. Where a profile's records are held
against those of a smaller one, that one is kept, and measured once more in turns with it. --fleet:
the profile that the shape 200-vms is made of; --busy: the one of a CPU that those of many CPUs are
made of.
--space: print how many MB of disk it takes.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
MILLION = 1000000
# What a sample and an event of a vCPU take in a file, and what else there is in a profile, bytes
SAMPLE_BYTES, EVENT_BYTES, OTHER_BYTES = 70, 152, 20 * MILLION
# The menu of the tables has the host first.
FIRST_SCREEN = "^[0-9]+[KMG]? Host"
# The overview, which is alone where there are so many tables, ends with this.
OVERVIEW = "^# [0-9]+ of [0-9]+ guests are mapped"
# The unit test with 200,000 switches among 20,000 tasks
SWITCHES_TEST = "many short waits and many tasks"

# A guest that does nothing but port I/O leaves KVM_RUN so often in a second: 3.8 million times
# in 175 s.
EXITS = 21700
# Switches in a second: 200,000 in the time of 4 million samples of two CPUs
SWITCHES = 100
# What it is, millions of samples and of events, options of enlarge, or copies side by side
SHAPES = {
    "2-vcpus": ("2 vCPUs", 4, 0, ["--vcpus", "2"]),
    "64-vcpus": ("64 vCPUs, 8 VMs", 1, 0, ["--vcpus", "64"]),
    "20000-tasks": ("20,000 tasks", 4, 0.2, ["--tasks", "20000", "--switches", str(SWITCHES)]),
    "port-io": ("port I/O", 0.35, 3.8, ["--exits", str(EXITS)]),
    "200-vms": ("200 VMs, 128 CPUs", 9.2, 3, None),
    "2-cpus": ("2 CPUs, 8 vCPUs", 0.016, 0.024, 2),
    "64-cpus": ("64 CPUs, 256 vCPUs", 0.5, 0.8, 64),
    "256-cpus": ("256 CPUs, 1,024 vCPUs", 2.1, 3.1, 256),
}
# What each record of a profile costs is held against the same of which smaller one: by millions of
# samples, or copies side by side
SMALLER = {64: 4, "256-cpus": "64-cpus"}
OF_SMALLER = "smaller-"
LINE = "%-21s %9s %9s %6s  %8s %6s  %8s %6s  %5s  %8s"


def output_of(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        sys.exit("bench: exit code %d: %s" % (result.returncode, " ".join(command)))
    return result.stdout


def tool(name):
    return os.path.join(HERE, name)


def perf(args):
    return os.path.join(args.tree, "perf/perf")


def measure(times, commands):
    """The runs of each command, by its name: s, MiB, and s of CPU time"""
    runs = {name: [] for name in commands}
    for line in output_of(tool("measure.py"), str(times), *map("=".join, commands.items())).splitlines():
        name, *figures = line.split()
        runs[name].append(tuple(map(float, figures)))
    return runs


def figures_of(runs, others):
    """Medians of a command's runs; of the ratios of time, each of two that followed each other"""
    seconds, mib, cpu = map(statistics.median, zip(*runs))
    return {"s": seconds, "mib": mib, "cpu_s": cpu,
            "ratio": statistics.median(run[0] / other[0] for run, other in zip(runs, others))}


def unified(args, path):
    return [perf(args), "kvm", "unified", "report", "-f", "-k", args.vmlinux,
            "--guest-root", os.path.join(args.tree, "guest/root"), "-i", path]


def reports(args, path, prefix=""):
    """The two commands that are measured of a profile, by their names"""
    return {prefix + "unified": " ".join(unified(args, path) + ["--stdio"]),
            prefix + "report": " ".join([perf(args), "report", "--stdio", "-f", "-k", args.vmlinux,
                                         "-i", path])}


def growth(runs, records, smaller):
    """CPU time of a record, by the same of the smaller profile, medians of the turns: that of our
    report, and the same by what perf report's grows by"""
    ours, other = ([(run[2] / records) / (before[2] / smaller["records"])
                    for run, before in zip(runs[name], runs[OF_SMALLER + name])]
                   for name in ("unified", "report"))
    return {"unified": statistics.median(ours),
            "by_report": statistics.median(a / b for a, b in zip(ours, other))}


def make(args, path, millions, options):
    """Samples, events, and bytes of data; without options, it is the fleet of VMs; a number of
    copies is that of CPUs"""
    if isinstance(options, int):
        return map(int, output_of(tool("widen.py"), args.busy, path, str(options)).split())
    if options is None:
        samples, events, _, _, size = map(int, output_of(tool("fleet.py"), args.fleet, path).split())
        return samples, events, size
    return map(int, output_of(tool("enlarge.py"), *options, args.profile, path,
                              str(round(millions * MILLION))).split())


def row(args, key, shape, millions, options, kept):
    """Measures a profile, and keeps it if it is the smaller one of another that is asked for."""
    path = os.path.join(args.work, "perf.data")
    shutil.rmtree(path, ignore_errors=True)
    samples, events, size = make(args, path, millions, options)
    # What is still to be written is not to be so while the clock runs.
    os.sync()
    times = 1 if options is None else args.times
    smaller = kept.pop(SMALLER.get(key), None)
    commands = reports(args, path)
    if smaller:
        commands.update(reports(args, smaller["path"], OF_SMALLER))
    runs = measure(times, commands)
    took = {name: figures_of(runs[name], runs["report"]) for name in ("unified", "report")}
    # Of many tables, the overview is all there is if the browser is not asked for.
    screen = float(output_of(tool("first-screen"), *(
        [FIRST_SCREEN, *unified(args, path), "--tui"] if isinstance(options, list) else
        [OVERVIEW, *unified(args, path), "--summary", "--stdio"])))
    if smaller:
        took["growth"] = growth(runs, samples + events, smaller)
        shutil.rmtree(smaller["path"])
    if key in SMALLER.values():
        kept[key] = {"path": path + "." + str(key), "records": samples + events}
        shutil.rmtree(kept[key]["path"], ignore_errors=True)
        os.rename(path, kept[key]["path"])
    else:
        shutil.rmtree(path)
    print(LINE % (shape, samples, events, size // MILLION, "%.2f" % took["unified"]["s"],
                  "%.0f" % took["unified"]["mib"], "%.2f" % took["report"]["s"],
                  "%.0f" % took["report"]["mib"], "%.2f" % took["unified"]["ratio"],
                  "%.2f" % screen), flush=True)
    return {"shape": shape, "millions": millions, "times": times, "samples": samples,
            "events": events, "bytes": size, "first_screen": screen,
            "cpus": options if isinstance(options, int) else None, **took}


def switches(args):
    """s of the unit test, and of the perf that runs it"""
    command = "%s test -F '%s' 2>&1 | grep -q ': Ok$'" % (perf(args), SWITCHES_TEST)
    seconds = statistics.median(run[0] for run in measure(args.times, {"switches": command})["switches"])
    print("unit test of 200,000 switches among 20,000 tasks: %.2f s" % seconds, flush=True)
    return seconds


def chosen(args):
    """Of each shape that is asked for: its name, what it is, millions of samples and of events,
    options"""
    for name, (what, millions, events, options) in SHAPES.items():
        if name not in args.shapes:
            continue
        part = min(1, max(args.samples) / millions) if isinstance(options, list) else 1
        yield name, what, part * millions, part * events, options


def rows(args):
    print(LINE % ("profile", "samples", "events", "MB", "report s", "MiB", "perf's s", "MiB",
                  "ratio", "screen s"), flush=True)
    kept = {}
    found = {"clock": [row(args, millions, "samples", millions, [], kept)
                       for millions in args.samples],
             "shapes": [row(args, name, what, millions, options, kept)
                        for name, what, millions, _, options in chosen(args)]}
    if "20000-tasks" in args.shapes:
        found["switches_s"] = switches(args)
    return found


def space(args):
    """MB of the largest profile, and of those that are kept"""
    sizes = {millions: (millions, 0) for millions in args.samples}
    sizes.update({name: (millions, events) for name, _, millions, events, _ in chosen(args)})
    needs = {key: MILLION * (millions * SAMPLE_BYTES + events * EVENT_BYTES) + OTHER_BYTES
             for key, (millions, events) in sizes.items()}
    return int(max(needs.values()) + sum(needs.get(key, 0) for key in SMALLER.values())) // MILLION


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--samples", default="0.1 1 4 16 64")
    parser.add_argument("--shapes", default=" ".join(SHAPES))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--space", action="store_true")
    for name in ("profile", "fleet", "busy", "work", "tree", "vmlinux", "output"):
        parser.add_argument("--" + name)
    args = parser.parse_args()
    args.shapes = args.shapes.split()
    for name in args.shapes:
        if name not in SHAPES:
            sys.exit("bench: there is no shape %s (%s)" % (name, " ".join(SHAPES)))
    try:
        args.samples = sorted({float(millions) for millions in args.samples.split()})
    except ValueError:
        args.samples = []
    if not args.samples or not all(0 < millions < 1e6 for millions in args.samples):
        sys.exit("bench: samples are so many millions, such as: 0.1 4")
    if args.times < 1:
        sys.exit("bench: once at least")
    if args.space:
        print(space(args))
        return
    found = rows(args)
    with open(args.output, "w", encoding="ascii") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


main()
