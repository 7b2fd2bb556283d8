# SPDX-License-Identifier: GPL-2.0
"""A Java VM whose heap is too small for its work, and one whose is not."""

import re

from experiment import Finding

SCENARIOS = ["jvm"]
HEAPS = ["small-heap", "large-heap"]
TOP = 5

# Tables 16 and 17, in %. What they do not have, as they have the first rows only, is None.
PAPER = {
    "live_words": [10.05, None], "SpinPause": [11.10, None], "copy": [None, 0.94],
    "JIT": [None, 75.01], "OS": [7.43, 5.44], "USER": [81.83, 90.08], "IDLE": [0.01, 0.02],
    "steal": [10.73, 4.46],
}

# The parallel collector's functions in libjvm.so, and the classes of their arguments: those
# that the JVM shares with other things, such as oop_oop_iterate(), are told by these.
COLLECTOR = re.compile(
    "PSCardTable|PSParallelCompact|PSPromotion|PSRoots|PSScavenge|ParMarkBitMap|ParallelCompact|"
    "ParCompactionManager|ParallelScavenge|ScavengeRoots|PS[A-Za-z]+Closure|PC[A-Za-z]+Closure|"
    "MoveAndUpdateClosure|UpdateOnlyClosure|WeakProcessor|oops_do|cleanup_inline_caches|"
    "fix_oop_relocations|RelocIterator|TaskTerminator|SpinPause|steal_marking_work")


def is_library(row):
    return row["class"] == "USER" and row["module"] == "libjvm.so"


def is_collector(row):
    return is_library(row) and COLLECTOR.search(row["function"]) is not None


def is_compiled(row):
    return row["class"] == "USER" and row["module"].startswith("[JIT]")


def function(name):
    """Of a row: without what C++ and Java have around the name, which is long."""
    longer = None
    while name != longer:
        longer, name = name, re.sub(r"(?<=\w)<[^<>]*>", "", name)
    match = re.match(r"(?:[^(]* )?([^ (]+)\(", name)
    return match.group(1) if match else name


def collector(name):
    return lambda row: is_library(row) and name in row["function"]


def context_switches(stat):
    return int(re.search(r"^ctxt (\d+)", stat, re.MULTILINE).group(1))


class Run:
    """A recording, and what the workload has said."""

    def __init__(self, lab, heap):
        answer = lab.text("jvm", heap + "-answer").split()
        self.answer = {key: int(value) for key, value in (word.split("=") for word in answer)}
        before, after = (context_switches(lab.text("jvm", "%s-guest1-stat.%s" % (heap, when)))
                         for when in ("before", "after"))
        self.switches = (after - before) * 1e9 / self.answer["ns"]
        self.report = lab.report("jvm", heap, guest_root="extra-jvm")
        self.level = self.report.level("guest1")

    def part(self, of):
        return self.report.part("guest1", of)

    def share(self, kind):
        return self.report.share("guest1", kind)

    @property
    def per_second(self):
        return self.answer["transactions"] * 1e9 / self.answer["ns"]

    @property
    def collections(self):
        """Percent of the time in collections, as the JVM has it."""
        return 100 * self.answer["collections_ms"] * 1e6 / self.level["time_ns"]

    def compiled(self, of):
        """Percent of the compiled code's time."""
        return 100 * self.part(lambda row: is_compiled(row) and of(row)) / self.part(is_compiled)

    def top(self):
        rows = sorted(self.level["rows"], key=lambda row: -row["time_ns"])[:TOP]
        return [[function(row["function"]), row["module"] or None, row["percent"]]
                for row in rows]


def is_named(row):
    return row["function"] != "[unknown]"


def find(lab):
    small, large = runs = [Run(lab, heap) for heap in HEAPS]
    finding = Finding(
        "A Java VM with too small a heap", "Tables 16 and 17, Figure 20",
        "A shop that keeps its orders in memory does %d transactions in OpenJDK 17 with the "
        "parallel collector and four threads of it, in a guest with one vCPU: with a heap of "
        "8 MB, of which more than half is in use at any time, and of 16 MB. The paper has "
        "SPECjbb2013, four vCPUs, and heaps of 8 and 16 GB." % small.answer["transactions"])

    def row(what, paper, of):
        figures = [of(run) for run in runs]
        return [what, PAPER[paper][0] if paper else None, figures[0],
                PAPER[paper][1] if paper else None, figures[1]]

    finding.table(
        "The guest's time, %. The paper has no more than the first rows of its two tables",
        ["", "small heap, paper", "small heap, ours", "large heap, paper", "large heap, ours"],
        [row("compiled Java code", "JIT", lambda run: run.part(is_compiled)),
         row("the collector in libjvm.so", None, lambda run: run.part(is_collector)),
         row("... ParMarkBitMap::live_words_in_range", "live_words",
             lambda run: run.part(collector("ParMarkBitMap::live_words_in_range"))),
         row("... SpinPause", "SpinPause", lambda run: run.part(collector("SpinPause"))),
         row("... PSPromotionManager::copy_to_survivor_space", "copy",
             lambda run: run.part(collector("_to_survivor_space"))),
         row("the rest of libjvm.so", None,
             lambda run: run.part(is_library) - run.part(is_collector)),
         row("collections, by the JVM's own account", None, lambda run: run.collections)] +
        [row(paper, paper, lambda run, kind=kind: run.share(kind))
         for paper, kind in (("OS", "OS"), ("USER", "USER"), ("IDLE", "idle"),
                             ("steal", "taken"))])
    finding.table(
        "What comes of it",
        ["", "small heap", "large heap"],
        [["transactions a second"] + [run.per_second for run in runs],
         ["collections"] + [run.answer["collections"] for run in runs],
         ["context switches in the guest, a second"] + [run.switches for run in runs],
         ["compiled code that has a name, % of its time"] +
         [run.compiled(is_named) for run in runs],
         ["... and is the workload's own"] +
         [run.compiled(lambda row: "Shop" in row["function"]) for run in runs]])
    for run, heap in zip(runs, ("small", "large")):
        finding.table("The first rows with the %s heap" % heap, ["function", "module", "%"],
                      run.top())

    finding.equal("the work with a large heap, as a sum over all of it, and with a small one",
                  large.answer["sum"], small.answer["sum"])
    finding.at_least(4, "the collector's share with a small heap, over that with a large one",
                     small.part(is_collector) / large.part(is_collector))
    finding.at_least(3, "ParMarkBitMap::live_words_in_range with a small heap",
                     small.part(collector("ParMarkBitMap::live_words_in_range")), "%")
    finding.at_most(0.1, "ParMarkBitMap::live_words_in_range with a large heap",
                    large.part(collector("ParMarkBitMap::live_words_in_range")), "%")
    finding.at_least(1, "SpinPause with a small heap", small.part(collector("SpinPause")), "%")
    finding.at_most(0.1, "SpinPause with a large heap", large.part(collector("SpinPause")), "%")
    finding.at_least(1.2, "steal with a small heap, over that with a large one",
                     small.share("taken") / large.share("taken"))
    finding.at_least(1.5, "transactions a second with a large heap, over those with a small one",
                     large.per_second / small.per_second)
    for run, heap in zip(runs, ("small", "large")):
        finding.at_least(90, "compiled code that has a name, %s heap" % heap,
                         run.compiled(is_named), "%")
        # Whatever runs in the pauses is in the JVM's account: the kernel, the compiler, steal.
        finding.within(8, "the collector's share and the JVM's own account, %s heap" % heap,
                       run.part(is_collector), run.collections)
    finding.bars("Too small a heap, and one that is large enough", "% of the guest's time",
                 ["collector", "compiled code", "steal"],
                 {heap: [run.part(is_collector), run.part(is_compiled), run.share("taken")]
                  for run, heap in zip(runs, ("small heap", "large heap"))})
    finding.remark(
        "With the small heap the profile has the functions of full collections near its top, "
        "ParMarkBitMap::live_words_in_range first of all, which says what to change; "
        "with twice the heap they are gone. Where the paper has one row for all that the JVM has "
        "compiled, each method has its own.")
    finding.remark(
        "Steal gets less with it, as in the paper, which does not say why. Here it is the "
        "collector's threads, too: each time that they wait for one another the guest's kernel "
        "sets its timer, and that is an exit. SpinPause is less than the paper's, as on a single "
        "vCPU a thread that spins soon gives it up to one that has work.")
    return finding
