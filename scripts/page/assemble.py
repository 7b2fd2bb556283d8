# SPDX-License-Identifier: GPL-2.0
"""One HTML file of a template, its styles and programs, the libraries and the data.

What is inlined cannot end its element early: `<` is escaped in the data, and a program that
has an end tag in it is refused. The page allows itself (Content-Security-Policy) the programs
that are in it, by their hashes, and nothing from elsewhere.
"""

import base64
import hashlib
import json
import os
import re

HERE = os.path.dirname(os.path.realpath(__file__))
# Of the page, in the order in which they are run
PROGRAMS = ("shared.js", "bars.js", "timeline.js", "flame.js", "check.js", "page.js")
# Of the libraries, see scripts/page.sh
LIBRARIES = (("d3", "d3.min.js"), ("d3-flame-graph", "d3-flamegraph.umd.min.js"))
MOST_BYTES = 10000000


class PageError(Exception):
    """A sentence for whoever has called"""


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as err:
        raise PageError("%s: %s" % (path, err.strerror)) from err


def as_json(data):
    """JSON that is text of an HTML element, whatever names are in it"""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def comment(text):
    """Text as an HTML comment"""
    return "<!--\n%s\n-->" % text.strip().replace("--", "- -").replace(">", "&gt;")


def script(text, name):
    if re.search(r"</script|<!--", text, re.IGNORECASE):
        raise PageError("%s has what ends a script in HTML" % name)
    return text


def policy(programs):
    hashes = ["'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
              for text in programs]
    return "default-src 'none'; style-src 'unsafe-inline'; script-src " + " ".join(hashes)


def assemble(data, lib):
    """The page. lib: the directory with the libraries and their licences"""
    libraries, licences = [], []
    for name, file in LIBRARIES:
        libraries.append(script(read(os.path.join(lib, file)), file))
        licences.append(comment("%s\n\n%s" % (name, read(os.path.join(lib, name + ".LICENSE")))))
    own = [script(read(os.path.join(HERE, name)), name) for name in PROGRAMS]
    programs = libraries + ["\n".join(own)]
    parts = {
        "POLICY": policy(programs),
        "LICENCES": "\n".join(licences),
        "STYLE": read(os.path.join(HERE, "page.css")),
        "DATA": as_json(data),
        "PROGRAMS": "\n".join("<script>%s</script>" % text for text in programs),
    }
    # In one pass: what is put in is not looked at again.
    page = re.sub(r"@@([A-Z]+)@@", lambda found: parts[found[1]], read(os.path.join(HERE, "page.html")))
    if len(page.encode()) >= MOST_BYTES:
        raise PageError("the page would have %d bytes: choose VMs (--vm)" % len(page.encode()))
    return page
