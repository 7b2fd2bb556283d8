#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send NMIs to the lab's host while its scenario measures.

usage: inject-nmi.py QMP-SOCKET CONSOLE-LOG PER-SECOND

The emulator has no PMU, so this is the only way to be in NMI context while a
guest runs. Starts and ends with the lines that lab/host/run prints around the
measurement; prints how many were sent.
"""

import os
import re
import sys
import time

# Nothing is to be left in the checkout.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from qmp import Emulator  # noqa: E402 # where it is, is said above


def phase(log):
    """0 before, 1 in, 2 after the measurement."""
    with open(log, errors="replace") as file:
        return len(re.findall(r"^lab: .* measured?\b", file.read(), re.MULTILINE))


def main():
    path, log, rate = sys.argv[1], sys.argv[2], float(sys.argv[3])
    emulator = Emulator(path)
    while phase(log) == 0:
        time.sleep(0.1)

    sent = 0
    due = check = time.monotonic()
    while True:
        now = time.monotonic()
        if now >= check:
            check = now + 0.2
            if phase(log) > 1:
                break
        if emulator.command("inject-nmi") is None:
            break
        sent += 1
        due = max(due + 1 / rate, now)
        time.sleep(max(0, due - time.monotonic()))
    print("inject-nmi.py: %d sent" % sent)


main()
