# SPDX-License-Identifier: GPL-2.0
"""The time line of a page, out of perf kvm unified export --format trace.

What is read may have any length, and what comes out has not: slices shorter than a bin are merged
with those beside them, into a bin that has the time of each state. The ns of each state of each
track stay what they were. A bin is as short as the limit allows, and 0 where nothing is merged.
"""

import decimal
import json
import re

from names import Names, fit

# A slice, as export writes it
SLICE = re.compile(r'\{"ph":"X","pid":(\d+),"tid":(\d+),"ts":(\d+)\.(\d{3}),"dur":(\d+)\.(\d{3}),'
                   r'"name":(.*)\}\s*,?\s*$', re.DOTALL)
VCPU = re.compile(r".* vCPU \d+$", re.DOTALL)
HOST_PID = 1
# Of a CPU's time without a task or a guest
HOST_STATES = {"swapper": "idle", "lost": "lost", "unknown": "unknown"}
# Of time that a track has no slice for
NONE = "none"
# Numbers in all tracks, above which bins get longer while the trace is read
MOST_NUMBERS = 2000000
# Of a bin: how many details it may have while it is filled
MOST_DETAILS = 64
# Bytes of JSON: of all, and of its names
LIMIT = 5500000
NAMES_LIMIT = 1000000


class Keys:
    """What goes on in a slice: (state, CPU or -1, number of a name or -1), each with a number"""

    def __init__(self):
        self.states = Names()
        self.names = Names()
        self.list = []
        self.numbers = {}
        self.by_text = {}

    def number(self, state, cpu=-1, name=-1):
        key = (state, cpu, name)
        if key not in self.numbers:
            self.numbers[key] = len(self.list)
            self.list.append(key)
        return self.numbers[key]

    def plain(self, number):
        """The state alone"""
        return self.number(self.list[number][0])

    def of_slice(self, is_host, text):
        """text: what stands behind the times of the slice"""
        known = self.by_text.get((is_host, text))
        if known is None:
            known = self.parse(is_host, json.loads('{"name":%s}' % text))
            if len(text) < 1000 and len(self.by_text) < 100000:
                self.by_text[is_host, text] = known
        return known

    def parse(self, is_host, event):
        name, args = str(event["name"]), event.get("args", {})
        if not is_host:
            by = self.names.number(str(args["by"])) if "by" in args else -1
            return self.number(self.states.number(name), int(args.get("cpu", -1)), by)
        state = HOST_STATES.get(name)
        if state:
            return self.number(self.states.number(state))
        state = "guest" if VCPU.match(name) else "task"
        return self.number(self.states.number(state), -1, self.names.number(name))


class Track:
    """items: [ns, key], or [ns, {key: ns}] where several were merged. Of two that follow each
    other, one is as long as a bin."""

    def __init__(self):
        self.items = []
        self.start = self.end = None

    def add(self, item, bin_ns, keys):
        """How many numbers there are more"""
        last = self.items[-1] if self.items else None
        if not last or item[0] >= bin_ns or last[0] >= bin_ns:
            more = self.close(keys)
            self.items.append(item)
            return more + 2
        if not isinstance(last[1], dict):
            last[1] = {last[1]: last[0]}
        before = len(last[1])
        last[0] += item[0]
        for key, ns in item[1].items() if isinstance(item[1], dict) else ((item[1], item[0]),):
            last[1][key] = last[1].get(key, 0) + ns
        if len(last[1]) > MOST_DETAILS:
            last[1] = without_details(last[1], keys)
        return 2 * (len(last[1]) - before)

    def close(self, keys):
        """The last item gets no more. How many numbers there are more"""
        if not self.items or not isinstance(self.items[-1][1], dict):
            return 0
        last = self.items[-1]
        before = len(last[1])
        last[1] = without_details(last[1], keys)
        return 2 * (len(last[1]) - before)

    def coarsen(self, bin_ns, keys):
        items, self.items = self.items, []
        for item in items:
            self.add(item, bin_ns, keys)

    def numbers(self):
        return sum(2 * len(item[1]) if isinstance(item[1], dict) else 2 for item in self.items)


def without_details(parts, keys):
    """{key: ns}: what is known of the largest, and of the largest of steal; of others the state alone"""
    known = [key for key in parts if keys.list[key][1:] != (-1, -1)]
    stolen = [key for key in known if keys.states.list[keys.list[key][0]] == "steal"]
    kept = {max(group, key=parts.get) for group in (known, stolen) if group}
    fewer = {}
    for key, ns in parts.items():
        key = key if key in kept else keys.plain(key)
        fewer[key] = fewer.get(key, 0) + ns
    return fewer


class Timeline:
    def __init__(self):
        self.keys = Keys()
        self.tracks = {}
        self.processes = {}
        self.threads = {}
        self.bin_ns = 0
        self.numbers = 0

    def read(self, lines):
        """Lines of the trace, each with an event or none"""
        for line in lines:
            found = SLICE.match(line)
            if found:
                pid, tid, start, start_ns, length, length_ns, text = found.groups()
                self.add(int(pid), int(tid), int(start + start_ns), int(length + length_ns), text)
            elif '"ph"' in line:
                self.add_other(json.loads(line.strip().rstrip(","), parse_float=decimal.Decimal))

    def add_other(self, event):
        pid, tid, args = event["pid"], event["tid"], event.get("args", {})
        if event["ph"] == "M" and event["name"] == "process_name":
            self.processes[pid] = args["name"]
        elif event["ph"] == "M" and event["name"] == "thread_name":
            self.threads[pid, tid] = args["name"]
        elif event["ph"] == "X":
            text = json.dumps(event["name"]) + ',"args":' + json.dumps(args)
            self.add(pid, tid, int(event["ts"] * 1000), int(event["dur"] * 1000), text)

    def add(self, pid, tid, start, length, text):
        track = self.tracks.get((pid, tid))
        if not track:
            track = self.tracks[pid, tid] = Track()
            track.start = track.end = start
        if start < track.end:
            raise ValueError("slices of a track overlap")
        if start > track.end:
            gap = self.keys.number(self.keys.states.number(NONE))
            self.numbers += track.add([start - track.end, gap], self.bin_ns, self.keys)
        key = self.keys.of_slice(pid == HOST_PID, text)
        self.numbers += track.add([length, key], self.bin_ns, self.keys)
        track.end = start + length
        if self.numbers > MOST_NUMBERS:
            self.coarsen(2)

    def span(self):
        """(start, end) in ns; (0, 0) without a slice"""
        tracks = self.tracks.values()
        return (min((track.start for track in tracks), default=0),
                max((track.end for track in tracks), default=0))

    def coarsen(self, factor):
        """Bins that are so many times as long"""
        items = sum(len(track.items) for track in self.tracks.values())
        total = sum(track.end - track.start for track in self.tracks.values())
        self.bin_ns = max(int(factor * self.bin_ns), total // max(items, 1) // 2, self.bin_ns + 1)
        for track in self.tracks.values():
            track.coarsen(self.bin_ns, self.keys)
        self.numbers = sum(track.numbers() for track in self.tracks.values())

    def fitted(self, limit=LIMIT):
        """What the page has of it: not more than `limit` bytes of JSON, as far as bins can do that"""
        while True:
            data = self.data()
            size = len(json.dumps(data, separators=(",", ":")))
            if size <= limit or all(len(track.items) <= 1 for track in self.tracks.values()):
                return data
            self.coarsen(max(1.1, size / limit))

    def data(self):
        start, end = self.span()
        used = Names()
        numbers = {}
        tracks = [self.track_data(pid, tid, start, numbers) for pid, tid in sorted(self.tracks)]
        keys = []
        for key in numbers:
            state, cpu, name = self.keys.list[key]
            keys.append([state, cpu, -1 if name < 0 else used.number(self.keys.names.list[name])])
        return {"start_ns": start, "end_ns": end, "bin_ns": self.bin_ns,
                "states": self.keys.states.list, "keys": keys, "tracks": tracks,
                "names": fit(used.list, NAMES_LIMIT)}

    def track_data(self, pid, tid, start, numbers):
        """numbers: {key: its number in the page}. The items one after the other: a key and its ns; or
        minus the number of states in a bin, and of each a key and its ns"""
        track = self.tracks[pid, tid]
        items = []
        for ns, what in track.items:
            parts = what
            if not isinstance(what, dict):
                parts = {what: ns}
            else:
                parts = without_details(what, self.keys)
                if len(parts) > 1:
                    items.append(-len(parts))
            for key, part_ns in parts.items():
                items += numbers.setdefault(key, len(numbers)), part_ns
        process = str(self.processes.get(pid, "process %d" % pid))
        thread = str(self.threads.get((pid, tid), "thread %d" % tid))
        return {"vm": "" if pid == HOST_PID else fit([process], 2000)[0],
                "host": pid == HOST_PID, "name": fit([thread], 2000)[0], "id": tid - 1,
                "offset_ns": track.start - start, "items": items}
