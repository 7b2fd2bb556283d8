# SPDX-License-Identifier: GPL-2.0
"""The host's side of the agent in a lab guest (scripts/lab/guest/agent)."""

import os
import socket
import time


# That there was none in time: host/run has the scenario booted again. Who has expected it takes the
# file away.
NO_ANSWER = "/run/no-answer"


class AgentError(Exception):
    """The guest did not answer, or not with all of it."""


class Agent:
    """A connection to a guest's agent, which has one client at a time."""

    def __init__(self, path, timeout):
        self.path = path
        self.timeout = timeout
        self.token = b""
        self.sock = self.connect(path, time.monotonic() + timeout)
        self.sock.settimeout(timeout)
        self.stream = self.sock.makefile("rb")

    @staticmethod
    def connect(path, deadline):
        """The socket appears when the VMM has started."""
        while True:
            try:
                sock = socket.socket(socket.AF_UNIX)
                sock.connect(path)
                return sock
            except OSError as error:
                if time.monotonic() > deadline:
                    raise AgentError("%s: %s" % (path, error.strerror))
                time.sleep(0.1)

    def ask(self, command):
        """Have the agent run a command; answer() has its output."""
        if "\n" in command:
            raise AgentError("a command is one line")
        self.token = ("%d.%d" % (os.getpid(), time.monotonic_ns())).encode()
        try:
            self.sock.sendall(self.token + b" " + command.encode() + b"\n")
        except OSError as error:
            raise AgentError(error.strerror)

    def answer(self, write):
        """Hand the output to write(), return the exit code."""
        try:
            code, left = self.read_header()
            while left:
                data = self.stream.read(min(left, 1 << 16))
                if not data:
                    raise AgentError("the answer was cut short: %d bytes are missing" % left)
                write(data)
                left -= len(data)
            return code
        except socket.timeout:
            with open(NO_ANSWER, "w", encoding="ascii") as file:
                print(self.path, file=file)
            raise AgentError("no answer from the guest in %g s" % self.timeout)
        except OSError as error:
            raise AgentError(error.strerror)

    def read_header(self):
        """Skips what an earlier, interrupted request may have left in the port."""
        marker = b"KVMU " + self.token + b" "
        for line in self.stream:
            at = line.find(marker)
            if at >= 0:
                code, size = line[at + len(marker):].split()
                return int(code), int(size)
        raise AgentError("the guest closed the port without an answer")

    def close(self):
        """Let another client have the agent."""
        self.stream.close()
        self.sock.close()
