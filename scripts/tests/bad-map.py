#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a bad guest map out of a good one.

usage: bad-map.py list | bad-map.py KIND GOOD OUT-DIR

OUT-DIR gets map, and root/, the root of the guest's file system as that guest has it.
The list has name, what is said of it if it is refused, and what it attacks.
"""

import sys

sys.dont_write_bytecode = True

from badmap import KINDS, make  # noqa: E402


def main():
    if sys.argv[1:] == ["list"]:
        for kind in KINDS.values():
            print("%s\t%s\t%s" % (kind.name, kind.refused or "", kind.what))
        return
    make(*sys.argv[1:])


main()
