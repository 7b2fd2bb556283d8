#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tell a host of the lab that hangs from an emulator that does.

usage: watch-emulator.py QMP-SOCKET CONSOLE-LOG SECONDS [NMI-SECONDS]

Ends with the emulator. If that is still there after SECONDS, its host has not powered off in time.
Then prints what its CPUs are at, twice, and sends them an NMI. A kernel takes that wherever it
is, and has a line about it on its console. Where no CPU does within NMI-SECONDS, the emulator
hangs: lab.sh looks for the sentence about that.
"""

import os
import re
import sys
import time

# Nothing is to be left in the checkout.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from qmp import Emulator  # noqa: E402 # where it is, is said above

# For an NMI's words to be on the console, on a busy machine, too
NMI_SECONDS = 20
# Registers which do not tell where a CPU is (brackets: one is a word for codespell)
NO_PLACE = re.compile(r"^(FCW|F[P]R|[XYZ]MM|Opmask).*\n", re.MULTILINE)


def nmis(log):
    """How many NMIs without a cause the kernel has noted."""
    with open(log, errors="replace") as file:
        return file.read().count("NMI received for unknown reason")


def main():
    path, log, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    nmi_seconds = float(sys.argv[4]) if len(sys.argv) > 4 else NMI_SECONDS
    emulator = Emulator(path)
    if emulator.ends(seconds):
        return
    for _ in range(2):
        registers = emulator.command("human-monitor-command",
                                     **{"command-line": "info registers -a"})
        print(NO_PLACE.sub("", (registers or "").replace("\r", "")), flush=True)
        time.sleep(1)
    before = nmis(log)
    emulator.command("inject-nmi")
    if emulator.ends(nmi_seconds):
        return
    if nmis(log) > before:
        print("the emulated host takes an NMI: it is its own fault that it does not power off")
    else:
        print("no CPU of the emulator takes an NMI any more")


main()
