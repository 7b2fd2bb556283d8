#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Load rows of `perf kvm unified export --format rows` into the tables of schema.sql.

usage: load.py [--check] [--window TIME] [--again] [--batch ROWS] [FILE...]

FILEs, or standard input, are read and checked to the end first: for a bad line nothing is loaded.
A window of a host (its rows of one start) that is in the table already is refused, so that nothing
counts twice. If the server fails on the way, it is said how many rows it has; whole windows are
sent, and --again goes on with those that are missing.

  --check        check only, without a server
  --window TIME  when a window began of which this is not known (its start is 0), in UTC, such
                 as 2026-11-30T10:00:00. Without it such a window is refused.
  --again        leave out windows that are there instead of refusing them
  --batch ROWS   how many rows go to the server at once, at least (default: 100000)

The environment names the server: CLICKHOUSE_URL (http://127.0.0.1:8123), CLICKHOUSE_USER,
CLICKHOUSE_PASSWORD.
"""

import argparse
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import clickhouse  # noqa: E402
import rows  # noqa: E402

# Windows that the server is asked about at once; and how long their names may be together
ASK_ABOUT = 1000
ASK_BYTES = 1 << 20
# A batch ends with the window that reaches it.
BATCH_BYTES = 64 << 20
DAY = 86400 * rows.SECOND
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
USAGE = __doc__.partition("usage: ")[2].partition("\n")[0]
INSERT = "INSERT INTO kvm_fleet.rows (%s) FORMAT JSONEachRow" % ", ".join(rows.MEMBERS)


class Spool:
    """The rows that were checked, on disk, as they are sent. windows: for each, where its rows are,
    which need not follow each other: places, bytes and how many"""

    def __init__(self):
        self.file = tempfile.TemporaryFile()
        self.windows = {}
        self.nr = self.end = 0
        self.last = None

    def add(self, row):
        line = ENCODER.encode(row).encode("utf-8") + b"\n"
        window = row["host"], row["start"]
        pieces = self.windows.setdefault(window, [])
        if self.last != window:
            pieces.append([self.end, 0, 0])
            self.last = window
        pieces[-1][1] += len(line)
        pieces[-1][2] += 1
        self.file.write(line)
        self.end += len(line)
        self.nr += 1

    def take(self, window):
        """Its rows as bytes, and how many they are"""
        lines, nr = [], 0
        for place, size, count in self.windows[window]:
            self.file.seek(place)
            lines.append(self.file.read(size))
            nr += count
        return b"".join(lines), nr


def read(paths, window):
    """All rows, checked, or SystemExit that says which line is wrong, and why"""
    spool, sums = Spool(), rows.Sums()
    for path in paths or ["-"]:
        name = "standard input" if path == "-" else path
        with sys.stdin.buffer if path == "-" else open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    row = rows.parse(line)
                    if not row["start"]:
                        if not window:
                            raise rows.BadRow("it is not known when this window began; "
                                              "--window says it")
                        row["start"] = window
                    sums.add(row)
                except rows.BadRow as error:
                    sys.exit("load.py: %s, line %d: %s. Nothing was loaded." % (name, number, error))
                spool.add(row)
    return spool


def in_parts(windows):
    """Few enough to be named in a query"""
    part, size = [], 0
    for window in windows:
        part.append(window)
        size += len(window[0])
        if len(part) >= ASK_ABOUT or size >= ASK_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def there_of(windows):
    """Those that the server has. The small table knows: it is in the order of hosts."""
    there = set()
    for part in in_parts(sorted(windows)):
        starts = [start for _, start in part]
        answer = clickhouse.run(
            "SELECT DISTINCT host, start FROM kvm_fleet.class_time WHERE start >= %d AND "
            "start <= %d AND day >= toDate(toUInt16(%d)) AND day <= toDate(toUInt16(%d)) "
            "AND (host, start) IN (%s) FORMAT JSONEachRow" % (
                min(starts), max(starts), min(starts) // DAY, max(starts) // DAY,
                ", ".join("(%s, toUInt64(%d))" % (clickhouse.literal(host), start)
                          for host, start in part)))
        for line in answer.splitlines():
            row = json.loads(line)
            there.add((row["host"], int(row["start"])))
    return there


def batches(spool, windows, least):
    """(rows as bytes, how many) of whole windows"""
    parts, nr, size = [], 0, 0
    for window in windows:
        lines, count = spool.take(window)
        parts.append(lines)
        nr += count
        size += len(lines)
        if nr >= least or size >= BATCH_BYTES:
            yield b"".join(parts), nr
            parts, nr, size = [], 0, 0
    if parts:
        yield b"".join(parts), nr


def send(spool, windows, least):
    loaded = 0
    for lines, nr in batches(spool, windows, least):
        try:
            # Of a cluster, the answer is to come when the shards have it.
            clickhouse.run(INSERT, lines, insert_distributed_sync=1)
        except clickhouse.Refused as error:
            sys.exit("load.py: %s\nload.py: %d of %d rows were loaded before that; the %d at which it "
                     "failed may be there in part. --again leaves out what is there."
                     % (error, loaded, spool.nr, nr))
        loaded += nr
    return loaded


def main():
    parser = argparse.ArgumentParser(usage=USAGE, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--window")
    parser.add_argument("--batch", type=int, default=100000)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if args.help:
        print(__doc__.strip())
        return
    try:
        window = rows.start_of(args.window) if args.window else 0
    except ValueError:
        sys.exit("load.py: --window: no time: %s" % rows.shown(args.window))
    spool = read(args.files, window)
    if args.check:
        print("%d rows of %d windows are well-formed." % (spool.nr, len(spool.windows)))
        return
    there = there_of(spool.windows)
    if there and not args.again:
        host, start = min(there)
        sys.exit("load.py: the server has %d of these %d windows already, such as the one of host %s "
                 "with start %d. Nothing was loaded; --again leaves them out."
                 % (len(there), len(spool.windows), rows.shown(host), start))
    windows = [window for window in spool.windows if window not in there]
    loaded = send(spool, windows, args.batch)
    print("%d rows of %d windows were loaded%s." %
          (loaded, len(windows), ", and %d windows were there" % len(there) if there else ""))


try:
    main()
except clickhouse.Refused as error:
    sys.exit("load.py: %s\nload.py: nothing was loaded." % error)
except OSError as error:
    sys.exit("load.py: %s" % error)
