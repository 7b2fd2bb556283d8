# SPDX-License-Identifier: GPL-2.0
"""A ClickHouse server by its HTTP port, as 18.16 and today's versions have it.

The environment names it, so that no password is in a list of processes: CLICKHOUSE_URL (default
http://127.0.0.1:8123), CLICKHOUSE_USER, CLICKHOUSE_PASSWORD.
"""

import os

# A server refuses the text of a longer query, 18.16 and today's. Data after it does not count.
MAX_QUERY_SIZE = 262144
ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0",
           "\b": "\\b", "\f": "\\f"}


class Refused(Exception):
    """What the server has said, or why there is none"""


def literal(text):
    """A string as SQL has it: nothing in it can end it."""
    return "'%s'" % text.translate(str.maketrans(ESCAPES))


def run(query, data=b"", **settings):
    """The bytes of the answer. data goes with an INSERT."""
    # To load these takes longer than all that is done without a server.
    import urllib.error  # pylint: disable=import-outside-toplevel
    import urllib.parse  # pylint: disable=import-outside-toplevel
    import urllib.request  # pylint: disable=import-outside-toplevel
    query = query.encode("utf-8")
    if len(query) >= MAX_QUERY_SIZE:
        settings["max_query_size"] = 2 * len(query)
    url = os.environ.get("CLICKHOUSE_URL", "http://127.0.0.1:8123")
    request = urllib.request.Request(
        "%s/?%s" % (url.rstrip("/"), urllib.parse.urlencode(settings)),
        query + b"\n" + data if data else query,
        {"X-ClickHouse-User": os.environ.get("CLICKHOUSE_USER", "default"),
         "X-ClickHouse-Key": os.environ.get("CLICKHOUSE_PASSWORD", "")})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        said = error.read(2000).decode("utf-8", "replace").strip()
        raise Refused(said or "HTTP %d" % error.code) from None
    except (OSError, ValueError) as error:
        raise Refused("no answer from the server at %s: %s" % (url, error)) from None
