# SPDX-License-Identifier: GPL-2.0
"""Guest maps that lie: each module has some kinds of them, KINDS has all."""

import os
import types

from .records import END, FILE_HEADER, KINDS, Good
from . import counts, elfs, frames, names, orc, ranges, symbols, times, cgroups  # noqa: F401

__all__ = ["KINDS", "make"]


def make(name, good, path):
    """Kind @name, out of the map @good: path/map and the files in path/root"""
    out = types.SimpleNamespace(map=os.path.join(path, "map"), root=os.path.join(path, "root"))
    os.makedirs(out.root, exist_ok=True)
    good = Good(good)
    chunks = KINDS[name].make(good, out)
    if chunks is None:
        return
    with open(out.map, "wb") as f:
        f.write(FILE_HEADER + good.body)
        f.writelines(chunks)
        f.write(END)
