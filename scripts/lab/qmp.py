# SPDX-License-Identifier: GPL-2.0
"""The emulator of the lab's host, by its machine protocol (QMP)."""

import json
import socket


class Emulator:
    """What answers at a socket. One at a time may be connected."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.stream = self.socket.makefile("rwb")
        self.stream.readline()
        self.command("qmp_capabilities")

    def command(self, name, **arguments):
        """What it returns, or None: it refuses, or has ended."""
        request = {"execute": name, "arguments": arguments}
        try:
            self.stream.write(json.dumps(request).encode() + b"\n")
            self.stream.flush()
            for line in self.stream:
                reply = json.loads(line)
                if "return" in reply or "error" in reply:
                    return reply.get("return")
        except OSError:
            pass
        return None

    def ends(self, seconds):
        """Whether it does so within that time."""
        self.socket.settimeout(seconds)
        try:
            # What it says unasked is of no interest.
            while self.socket.recv(4096):
                pass
        except socket.timeout:
            return False
        except OSError:
            pass
        finally:
            self.socket.settimeout(None)
        return True
