# SPDX-License-Identifier: GPL-2.0
"""Stacks of a page, out of perf kvm unified export --format folded: of all the time, and of windows.

They are one tree, and each window has the ns of its nodes. Where it has too many nodes, those with
least time become one node below what has called them: the sums stay.
"""

import json

from names import Names, fit

SMALLER = "(smaller)"
# Bytes of JSON: of all, and of its names
LIMIT = 2500000
NAMES_LIMIT = 800000
MOST_NODES = 40000
# Of a stack: what is called by the last one is part of it. The kernel records 127, if nobody wants more.
MOST_FRAMES = 1000


def parse(line):
    """frames and ns"""
    stack, _, ns = line.rstrip("\n").rpartition(" ")
    if not stack or not (ns.isascii() and ns.isdigit()):
        raise ValueError("not a stack and its time: %.80r" % line)
    return stack.split(";"), int(ns)


class Stacks:
    """nodes: (parent, name), parents first. Number 0 is the root. times: {node: own ns}, by window"""

    def __init__(self):
        self.names = Names()
        self.nodes = [(0, self.names.number("all"))]
        self.numbers = {}
        self.times = []

    def read(self, lines):
        """Of a window, or of all the time"""
        times = {}
        for line in lines:
            if not line.strip():
                continue
            frames, ns = parse(line)
            node = 0
            for frame in frames[:MOST_FRAMES]:
                node = self.child(node, self.names.number(frame))
            times[node] = times.get(node, 0) + ns
        self.times.append(times)

    def child(self, parent, name):
        key = (parent, name)
        if key not in self.numbers:
            self.numbers[key] = len(self.nodes)
            self.nodes.append(key)
        return self.numbers[key]

    def totals(self):
        """Of each node, in the first window, which is all the time"""
        totals = [0] * len(self.nodes)
        for times in self.times:
            for node, ns in times.items():
                totals[node] += ns
        for node in range(len(self.nodes) - 1, 0, -1):
            totals[self.nodes[node][0]] += totals[node]
        return totals

    def reduced(self, most):
        """The same with at most so many nodes of its own, and those of the smaller"""
        if len(self.nodes) <= most:
            return self
        totals = self.totals()
        # Who calls has at least the time of those that he calls, and comes first.
        order = sorted(range(len(self.nodes)), key=lambda node: (-totals[node], node))
        kept = set(order[:most]) | {0}
        fewer = Stacks()
        moved = [0] * len(self.nodes)
        rest = fewer.names.number(SMALLER)
        for node, (parent, name) in enumerate(self.nodes[1:], 1):
            if node in kept:
                moved[node] = fewer.child(moved[parent], fewer.names.number(self.names.list[name]))
            elif parent in kept:
                moved[node] = fewer.child(moved[parent], rest)
            else:
                moved[node] = moved[parent]
        for times in self.times:
            found = {}
            for node, ns in times.items():
                found[moved[node]] = found.get(moved[node], 0) + ns
            fewer.times.append(found)
        return fewer

    def fitted(self, limit=LIMIT):
        """What the page has of it: not more than `limit` bytes of JSON"""
        most = min(MOST_NODES, len(self.nodes))
        while True:
            data = self.reduced(most).data()
            if len(json.dumps(data, separators=(",", ":"))) <= limit or most <= 1:
                data["smaller"] = len(self.nodes) - most
                return data
            most //= 2

    def data(self):
        return {"names": fit(self.names.list, NAMES_LIMIT),
                "nodes": [number for node in self.nodes for number in node],
                "times": [[number for pair in times.items() for number in pair]
                          for times in self.times]}
