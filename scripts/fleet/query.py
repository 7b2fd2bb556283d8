#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Ask the fleet's tables one of the questions in queries/.

usage: query.py [--format FORMAT] [--sql] [--values FILE] NAME [PARAMETER=VALUE...]
       query

Without a name, prints which questions there are; NAME --help has a question's parameters, and what
an answer looks like. Times are of UTC, such as '2026-11-30 10:00:00' or 2026-11-30.

  --format FORMAT  one of ClickHouse's (default: TSVWithNames, which has one line for each row,
                   whatever is in a name)
  --sql            print the query with its values instead of asking
  --values FILE    a JSON object with parameters, for what a command line cannot hold

The files have parameters as today's ClickHouse takes them itself (clickhouse-client
--param_from=...): {name:Type}. 18.16 does not know these, so this puts values into the query, each
as a literal of its type. The environment names the server as for load.
"""

import argparse
import datetime
import json
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import clickhouse  # noqa: E402
import rows  # noqa: E402

QUERIES = os.path.join(HERE, "queries")
PARAMETER = re.compile(r"\{([a-z_]+):([A-Za-z0-9]+(?:\('UTC'\))?)\}")
# A parameter in the head of a file, if it need not be said
DEFAULT = re.compile(r"  ([a-z_]+)=(\S*) ")
USAGE = __doc__.partition("usage: ")[2].partition("\n\n")[0]


def time(text):
    """A literal of a time"""
    value = datetime.datetime.fromisoformat(text)
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc)
    # 18.16 takes what comes after the seconds for another time.
    return "toDateTime('%s', 'UTC')" % value.strftime("%Y-%m-%d %H:%M:%S")


def number(text):
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ValueError
    return text


def fraction(text):
    if not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", text):
        raise ValueError
    return "toFloat64(%s)" % text


TYPES = {"String": clickhouse.literal, "UInt64": number, "Float64": fraction,
         "DateTime('UTC')": time}


def parse(path):
    """Head, without the signs of comments, and SQL of a file"""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    head = [line[3:] for line in lines if line.startswith("--") and "SPDX" not in line]
    sql = "\n".join(line for line in lines if not line.startswith("--"))
    return head, sql.strip().rstrip(";")


def fill_in(sql, values):
    """The query with these values. All places are found before anything is put in: what a value
    has in it is not looked at."""
    def put(match):
        name, kind = match.groups()
        if name not in values:
            sys.exit("query.py: this question wants %s=..., see --help" % name)
        used.add(name)
        try:
            return TYPES[kind](values[name])
        except ValueError:
            sys.exit("query.py: %s: no %s: %s" % (name, kind, rows.shown(values[name])))

    used = set()
    sql = PARAMETER.sub(put, sql)
    for name in values:
        if name not in used:
            sys.exit("query.py: this question has no parameter %s, see --help" % rows.shown(name))
    return sql


def defaults(head):
    return dict(match.groups() for match in map(DEFAULT.match, head) if match)


def values_of(args):
    """What the user says, of the file first"""
    values = {}
    if args.values_file:
        with open(args.values_file, encoding="utf-8") as file:
            values = json.load(file)
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            raise ValueError("not an object of strings")
    for value in args.values:
        name, sign, text = value.partition("=")
        if not sign:
            sys.exit("query.py: not PARAMETER=VALUE: %s" % rows.shown(value))
        values[name] = text
    return values


def names():
    return sorted(name[:-len(".sql")] for name in os.listdir(QUERIES) if name.endswith(".sql"))


def main():
    parser = argparse.ArgumentParser(usage=USAGE, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--format", default="TSVWithNames")
    parser.add_argument("--sql", action="store_true")
    parser.add_argument("--values", dest="values_file")
    parser.add_argument("name", nargs="?")
    parser.add_argument("values", nargs="*")
    args = parser.parse_intermixed_args()
    if args.name is None:
        if args.help:
            print(__doc__.strip())
        for name in [] if args.help else names():
            print("%-20s %s" % (name, parse(os.path.join(QUERIES, name + ".sql"))[0][0]))
        return
    if args.name not in names():
        sys.exit("query.py: there is no question %s, but %s" %
                 (rows.shown(args.name), ", ".join(names())))
    head, sql = parse(os.path.join(QUERIES, args.name + ".sql"))
    if args.help:
        print("\n".join(head))
        return
    if not re.fullmatch("[A-Za-z]+", args.format):
        sys.exit("query.py: no format: %s" % rows.shown(args.format))
    try:
        values = values_of(args)
    except (OSError, ValueError) as error:
        sys.exit("query.py: --values: %s" % error)
    sql = fill_in(sql, {**defaults(head), **values})
    if args.sql:
        print(sql)
        return
    sys.stdout.buffer.write(clickhouse.run("%s\nFORMAT %s" % (sql, args.format)))


try:
    main()
    sys.stdout.flush()
except BrokenPipeError:
    # Whoever reads it has seen enough.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
except UnicodeEncodeError:
    sys.exit("query.py: a value is not UTF-8")
except clickhouse.Refused as error:
    sys.exit("query.py: %s" % error)
