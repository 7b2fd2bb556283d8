#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a guest map one of a guest that was booted a while before the map was made.

usage: rebooted.py GOOD SECONDS OUT

Of a map that was made at once, what has a time in it: the clock, and since when who has an address space.
"""

import struct
import sys

sys.dont_write_bytecode = True

from badmap import records  # noqa: E402

NSEC = 1000000000


def main():
    path, seconds, out = sys.argv[1:]
    good = records.Good(path).records
    now = max(struct.unpack_from("<QQ", data)[1] for number, _, data in good if number == records.CLOCK)
    earlier = now - int(float(seconds) * NSEC)
    with open(out, "wb") as file:
        file.write(records.FILE_HEADER)
        for number, misc, data in good:
            if number == records.CLOCK:
                tsc, time = struct.unpack_from("<QQ", data)
                # Before it was booted it had none.
                if time < earlier:
                    continue
                data = struct.pack("<QQ", tsc, time - earlier)
            elif number == records.SPACE:
                root, since = struct.unpack_from("<QQ", data)
                data = struct.pack("<QQ", root, max(0, since - earlier)) + data[16:]
            file.write(records.record(number, data, misc))
        file.write(records.END)


main()
