#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Which tests can see a change.

usage: changed-tests.py TABLE [PROFILE] <PATHS

PATHS: what has changed, one a line. TABLE: see scripts/tests/changed. Tests with a question mark
there only make PROFILE, and are left out where that file is. Print the tests, one a line and each
once, or "all".
"""

import fnmatch
import os
import sys


def rows(path):
    with open(path, encoding="ascii") as f:
        for line in f:
            pattern, *tests = line.partition("#")[0].split() or [None]
            if pattern:
                yield pattern, tests


def tests_of(path, table):
    # A test, or what one of its name has, is seen by itself.
    if os.path.dirname(path) == "scripts/tests" and path.endswith(".t"):
        return [os.path.basename(path)[:-len(".t")]]
    for pattern, tests in table:
        if fnmatch.fnmatchcase(path, pattern):
            return tests
    return ["all"]


def main():
    table = list(rows(sys.argv[1]))
    has_profile = os.path.exists(sys.argv[2]) if len(sys.argv) > 2 else False
    tests = {test.rstrip("?") for path in sys.stdin.read().split() for test in tests_of(path, table)
             if not (has_profile and test.endswith("?"))}
    print("all" if "all" in tests else "\n".join(sorted(tests)), end="\n" if tests else "")


main()
