# SPDX-License-Identifier: GPL-2.0
"""Names of a page: each one once, and none of a length that matters."""

import json

# Characters of a name that are kept, most first: fewer where there are many long names
LENGTHS = (1000, 200, 50, 20)


def cut(name, length=LENGTHS[0]):
    return name if len(name) <= length else name[:length] + "…"


class Names:
    """Numbers of names, in the order in which they came"""

    def __init__(self):
        self.list = []
        self.numbers = {}

    def number(self, name):
        name = cut(name)
        if name not in self.numbers:
            self.numbers[name] = len(self.list)
            self.list.append(name)
        return self.numbers[name]


def fit(names, limit):
    """These names, each cut to the largest length with which all have at most `limit` bytes of JSON.
    With the smallest one it is what it is."""
    for length in LENGTHS:
        short = [cut(name, length) for name in names]
        if len(json.dumps(short)) <= limit:
            break
    return short
