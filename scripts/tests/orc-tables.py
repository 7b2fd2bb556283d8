#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""orc-tables.py MAP: the tables of a guest map that its kernel is unwound by.

Prints how many there are, and fails if one of them has addresses that are not in order.
"""

import struct
import sys

from badmap import records


def main(path):
    """See above."""
    tables, end, last = 0, None, 0
    for kind, _, data in records.Good(path).records:
        if kind != records.ORC:
            continue
        address, number = struct.unpack_from("<QI", data)
        if address != end:
            tables, last = tables + 1, 0
        for i, offset in enumerate(struct.unpack_from("<%di" % number, data, 16)):
            code = address + 4 * i + offset
            if code < last:
                sys.exit("the table at %x is not in order" % address)
            last = code
        end = address + 4 * number
    print(tables)


main(*sys.argv[1:])
