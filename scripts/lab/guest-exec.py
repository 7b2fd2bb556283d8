#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run a command in a lab guest, as ssh would.

usage: guest-exec.py SOCKET COMMAND...

SOCKET is the Unix socket of the guest's virtio-serial port. The command's
output goes to stdout, its exit code is handed on; a truncated answer is an
error (255), and so is none (GUEST_EXEC_TIMEOUT seconds, default 60): see agent.py.
"""

import os
import sys

from agent import Agent, AgentError


def main():
    try:
        if len(sys.argv) < 3:
            raise AgentError("usage: guest-exec.py SOCKET COMMAND...")
        agent = Agent(sys.argv[1], float(os.environ.get("GUEST_EXEC_TIMEOUT", "60")))
        agent.ask(" ".join(sys.argv[2:]))
        code = agent.answer(sys.stdout.buffer.write)
        sys.stdout.buffer.flush()
    except (AgentError, OSError) as error:
        print("guest-exec.py: %s" % error, file=sys.stderr)
        code = 255
    sys.exit(code)


main()
