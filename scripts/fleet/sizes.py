#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the fleet's tables take, on paper, from what was measured of a small fleet.

usage: sizes.py [--hosts N] [--days N] [--replicas N] [--rows N] [--answer SECONDS]
             [--disk GB] [--price-gb PRICE --price-machine PRICE] FIGURES

FIGURES is what `make test-long TEST=fleet-sql` leaves in build/fleet-sql.json. All scales with the
number of rows: that is a model, and nobody has tried it with so many hosts. Prints a table.

  --hosts 10000   --days 30        how many there are, and how long rows are kept
  --replicas 2                     how many machines have each row
  --rows N                         of a host's window, if it is not what the measured hosts have
  --answer 60                      s that the slowest question about one day may take
  --disk 2000                      GB of a machine, of which a fifth is left for merges
  --price-gb, --price-machine      of a month: of a GB on disk, and of a machine without it
"""

import argparse
import json
import math
import sys

DAY_S, HOUR_S, GB = 86400, 3600, 1e9
FULL = 0.8
USAGE = __doc__.partition("usage: ")[2].partition("\n\n")[0]


def plan(figures, args):
    """(what, how much) of the fleet"""
    rows_of_window = args.rows or figures["rows_of_window"]
    host_hour = rows_of_window * figures["windows_of_hour"] * figures["bytes_of_row"]
    rows_day = args.hosts * 24 * figures["windows_of_hour"] * rows_of_window
    day = args.hosts * 24 * host_hour
    kept = day * args.days * args.replicas
    by_disk = math.ceil(day * args.days / (args.disk * GB * FULL))
    by_time = math.ceil(rows_day / figures["rows_of_question_second"] / args.answer)
    shards = max(by_disk, by_time)
    yield "rows of a host's window, windows an hour", "%d, %d" % (
        rows_of_window, figures["windows_of_hour"])
    yield "on disk, for a host and hour", "%.1f kB" % (host_hour / 1e3)
    yield "rows a day", "%.2f thousand million" % (rows_day / 1e9)
    yield "rows a second", "%d" % (rows_day / DAY_S)
    yield "on disk, for a day", "%.1f GB" % (day / GB)
    yield "on disk, for %d days on %d replicas" % (args.days, args.replicas), "%.2f TB" % (
        kept / 1e12)
    yield "over the network to load, as JSON", "%.1f MB/s" % (
        rows_day / DAY_S * figures["json_bytes_of_row"] / 1e6)
    yield "processes of load, if each is as fast as the measured one", "%d" % math.ceil(
        rows_day / DAY_S / figures["rows_loaded_a_second"])
    yield "shards for disks of %d GB" % args.disk, "%d" % by_disk
    yield "shards for an answer about a day in %d s" % args.answer, "%d" % by_time
    yield "machines (the more of these, times replicas)", "%d" % (shards * args.replicas)
    if args.price_gb is not None and args.price_machine is not None:
        yield "cost of a month", "%.0f" % (kept / GB * args.price_gb +
                                           shards * args.replicas * args.price_machine)


def main():
    parser = argparse.ArgumentParser(usage=USAGE, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    for option, default in (("hosts", 10000), ("days", 30), ("replicas", 2), ("rows", 0),
                            ("answer", 60), ("disk", 2000)):
        parser.add_argument("--" + option, type=int, default=default)
    parser.add_argument("--price-gb", type=float)
    parser.add_argument("--price-machine", type=float)
    parser.add_argument("figures", nargs="?")
    args = parser.parse_args()
    if args.help or not args.figures:
        print(__doc__.strip())
        return
    with open(args.figures, encoding="ascii") as file:
        figures = json.load(file)
    print("| %d hosts | |\n|---|---|" % args.hosts)
    for what, value in plan(figures, args):
        print("| %s | %s |" % (what, value))


try:
    main()
except (OSError, ValueError, KeyError, ZeroDivisionError) as error:
    sys.exit("sizes.py: %s: %s" % (type(error).__name__, error))
