# SPDX-License-Identifier: GPL-2.0
"""Bars as SVG, legible on light and on dark paper: colours follow the reader's scheme."""

from xml.sax.saxutils import escape

WIDTH = 760
MARGIN_LEFT = 60
MARGIN_TOP = 66
MARGIN_BOTTOM = 46
PLOT_HEIGHT = 240
MARGIN_RIGHT = 16
LEGEND_STEP = 20
LEGEND_SWATCH = 12
# Of a group's width, for its bars
BARS = 0.72
TICKS = 5
# About what a character of 12 px takes
CHAR_WIDTH = 6.6

STYLE = """
    text { font: 12px sans-serif; fill: #24292f }
    .title { font-size: 14px; font-weight: bold }
    .grid { stroke: #d0d7de } .axis { stroke: #57606a }
    .s0 { fill: #0969da } .s1 { fill: #bc4c00 } .s2 { fill: #1a7f37 } .s3 { fill: #8250df }
    @media (prefers-color-scheme: dark) {
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


def label(value):
    return "%.3g" % value


def legend(series):
    """Beside each other, or below each other if there is no room for that."""
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
    top = max(value for one in series for value in one["values"] if value is not None)
    step = nice_step(top or 1)
    top = step * -(-top // step) or step
    bottom = MARGIN_TOP + PLOT_HEIGHT
    height = bottom + MARGIN_BOTTOM

    def y_of(value):
        return bottom - PLOT_HEIGHT * value / top

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">'
             % (WIDTH, height),
             "<title>%s</title><style>%s</style>" % (escape(plot["title"]), STYLE),
             text(MARGIN_LEFT, 18, "%s, %s" % (plot["title"], plot["unit"]), "start", "title")]
    parts += legend(series)
    for i in range(int(round(top / step)) + 1):
        y = y_of(i * step)
        parts.append('<line class="%s" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>' % (
            "grid" if i else "axis", MARGIN_LEFT, WIDTH - MARGIN_RIGHT, y, y))
        parts.append(text(MARGIN_LEFT - 8, y + 4, label(i * step), "end"))

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
            parts.append(text(x + width / 2, y_of(value) - 4, label(value)))
        parts.append(text(left + group_width / 2, bottom + 18, group))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
