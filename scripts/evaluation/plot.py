# SPDX-License-Identifier: GPL-2.0
"""Bars as SVG, legible on light and on dark paper: colours follow the reader's scheme."""

import math
from xml.sax.saxutils import escape

WIDTH = 760
MARGIN_LEFT = 60
MARGIN_TOP = 66
MARGIN_BOTTOM = 60
PLOT_HEIGHT = 240
MARGIN_RIGHT = 16
LEGEND_STEP = 20
LEGEND_SWATCH = 12
# Of a group's width, for its bars
BARS = 0.72
TICKS = 5
# About what a character of 12 px takes
CHAR_WIDTH = 6.6
LINE_HEIGHT = 15

STYLE = """
    .paper { fill: #ffffff }
    text { font: 12px sans-serif; fill: #24292f }
    .title { font-size: 14px; font-weight: bold }
    .grid { stroke: #d0d7de } .axis { stroke: #57606a }
    .s0 { fill: #0969da } .s1 { fill: #bc4c00 } .s2 { fill: #1a7f37 } .s3 { fill: #8250df }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117 }
      text { fill: #e6edf3 }
      .grid { stroke: #373e47 } .axis { stroke: #8b949e }
      .s0 { fill: #58a6ff } .s1 { fill: #f0883e } .s2 { fill: #3fb950 } .s3 { fill: #bc8cff }
    }
"""
MAX_SERIES = 4


def nice_step(top):
    """A step of 1, 2 or 5 times a power of ten, of which top has at most TICKS."""
    power = 1.0
    while power * 10 <= top / TICKS:
        power *= 10
    while power > top / TICKS:
        power /= 10
    for factor in (1, 2, 5, 10):
        if factor * power * TICKS >= top:
            return factor * power
    return 10 * power


def text(x, y, what, anchor="middle", kind=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (
        x, y, anchor, ' class="%s"' % kind if kind else "", escape(what))


def label(value, digits=3):
    return "%.*g" % (digits, value) if abs(value) < 10 ** digits else "%.0f" % value


def wrapped(x, y, what, width):
    """A text in lines of at most that width, if its words are short enough."""
    lines = [""]
    for word in what.split():
        if lines[-1] and CHAR_WIDTH * len(lines[-1] + " " + word) > width:
            lines.append("")
        lines[-1] = (lines[-1] + " " + word).strip()
    return [text(x, y + i * LINE_HEIGHT, line) for i, line in enumerate(lines)]


class Axis:
    """Where on the axis a figure is, from 0 at the bottom to 1, and at which there is a line."""

    def __init__(self, values, log):
        # There is no place for 0 on such an axis.
        self.log = log and min(values) > 0
        if self.log:
            self.low = math.floor(math.log10(min(values)))
            self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
            self.ticks = [10.0 ** power for power in range(self.low, self.high + 1)]
        else:
            top = max(max(values), 0)
            step = nice_step(top or 1)
            self.high = step * -(-top // step) or step
            self.ticks = [i * step for i in range(int(round(self.high / step)) + 1)]

    def at(self, value):
        if self.log:
            return (math.log10(value) - self.low) / (self.high - self.low)
        return max(value, 0) / self.high


def legend(series):
    """Beside each other, or below each other if there is no room for that. One of its own needs
    none."""
    if len(series) == 1:
        return []
    parts, x, y = [], MARGIN_LEFT, 38
    for i, one in enumerate(series):
        width = LEGEND_SWATCH + 6 + CHAR_WIDTH * len(one["name"]) + 18
        if x + width > WIDTH:
            x, y = MARGIN_LEFT, y + LEGEND_STEP
        parts.append('<rect class="s%d" x="%.1f" y="%.1f" width="%d" height="%d"/>' % (
            i, x, y - LEGEND_SWATCH + 2, LEGEND_SWATCH, LEGEND_SWATCH))
        parts.append(text(x + LEGEND_SWATCH + 6, y, one["name"], "start"))
        x += width
    return parts


def bars(plot):
    """The plot of an experiment (see experiment.py), as the text of an SVG file."""
    series, groups = plot["series"], plot["groups"]
    if len(series) > MAX_SERIES:
        raise ValueError("%s: more than %d series" % (plot["title"], MAX_SERIES))
    axis = Axis([value for one in series for value in one["values"] if value is not None],
                plot["log"])
    bottom = MARGIN_TOP + PLOT_HEIGHT
    height = bottom + MARGIN_BOTTOM

    def y_of(value):
        return bottom - PLOT_HEIGHT * axis.at(value)

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">'
             % (WIDTH, height),
             "<title>%s</title><style>%s</style>" % (escape(plot["title"]), STYLE),
             '<rect class="paper" width="%d" height="%d"/>' % (WIDTH, height),
             text(MARGIN_LEFT, 18, "%s, %s" % (plot["title"], plot["unit"]), "start", "title")]
    parts += legend(series)
    for i, tick in enumerate(axis.ticks):
        y = y_of(tick)
        parts.append('<line class="%s" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>' % (
            "grid" if i else "axis", MARGIN_LEFT, WIDTH - MARGIN_RIGHT, y, y))
        parts.append(text(MARGIN_LEFT - 8, y + 4, label(tick), "end"))

    group_width = (WIDTH - MARGIN_LEFT - MARGIN_RIGHT) / len(groups)
    width = group_width * BARS / len(series)
    for g, group in enumerate(groups):
        left = MARGIN_LEFT + g * group_width
        for i, one in enumerate(series):
            value = one["values"][g]
            if value is None:
                continue
            x = left + group_width * (1 - BARS) / 2 + i * width
            parts.append('<rect class="s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>' % (
                i, x, y_of(value), max(width - 2, 1), bottom - y_of(value)))
            parts.append(text(x + width / 2, y_of(value) - 4,
                              label(value, 2 if len(series) == MAX_SERIES else 3)))
        parts += wrapped(left + group_width / 2, bottom + 18, group, group_width - CHAR_WIDTH)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
