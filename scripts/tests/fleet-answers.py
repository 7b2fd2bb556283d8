#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Hold what queries of the fleet's tables answer against what the generator of the rows knows.

usage: fleet-answers.py ANSWERS <OUTPUT
       fleet-answers.py ANSWERS --ask

OUTPUT: of each of the questions in ANSWERS, in their order, a line "== NAME" and the answer as
TSVWithNames. With --ask, scripts/fleet/query.py has the answers. Prints TAP: numbers of ns and of
things have to be the same, rounded ones nearly so.
"""

import json
import os
import subprocess
import sys

QUERY = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "fleet", "query")


def ask(question):
    values = ["%s=%s" % item for item in question["values"].items()]
    return subprocess.run([QUERY, question["query"], *values], check=True, encoding="utf-8",
                          stdout=subprocess.PIPE).stdout


def is_same(known, said, name):
    if isinstance(known, float):
        # What is rounded, by half of its last digit, and a little for the way of rounding
        return abs(known - float(said)) <= (0.501 if name.endswith("_ppm") else 0.00501) * (
            2 if name == "change_ppm" else 1)
    return str(known) == said


def wrong(question, text):
    """What is not the same, or None"""
    lines = text.splitlines()
    names, said = lines[0].split("\t"), [line.split("\t") for line in lines[1:]]
    if not question["rows"] or len(said) != len(question["rows"]):
        return "%d rows, not %d" % (len(said), len(question["rows"]))
    for known, row in zip(question["rows"], said):
        if len(row) != len(known) or not all(map(is_same, known, row, names)):
            return "%s, not %s" % (row, known)
    return None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        questions = json.load(file)["questions"]
    texts = (list(map(ask, questions)) if sys.argv[2:] == ["--ask"] else
             ["".join(part.splitlines(True)[1:]) for part in sys.stdin.read().split("== ")[1:]])
    for number, question in enumerate(questions, 1):
        what = wrong(question, texts[number - 1]) if number <= len(texts) else "no answer"
        print("%s %d %s %s" % ("not ok" if what else "ok", number, question["query"],
                                 " ".join(sorted(set(question["values"]) - {"from", "until"}))))
        if what:
            print("# %s" % what)
    print("1..%d" % len(questions))


main()
