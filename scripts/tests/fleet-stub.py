#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A server that knows no window, takes some INSERTs and then says no.

usage: fleet-stub.py INSERTS TAKEN

Prints its address. TAKEN gets the rows that it took.
"""

import http.server
import sys

left, path = int(sys.argv[1]), sys.argv[2]


class Handler(http.server.BaseHTTPRequestHandler):
    """One request of load"""

    def do_POST(self):  # pylint: disable=invalid-name
        global left  # pylint: disable=global-statement
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = 200
        if body.startswith(b"INSERT"):
            left -= 1
            code = 200 if left >= 0 else 500
            if code == 200:
                with open(path, "ab") as file:
                    file.write(body.partition(b"\n")[2])
        self.send_response(code)
        self.end_headers()
        self.wfile.write(b"" if code == 200 else b"Code: 243, the disk is full")

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
