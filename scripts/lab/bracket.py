#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Have perf measure for as long as a command runs, between two brackets.

usage: bracket.py [--ask COMMAND] [--ready COMMAND] [--in-guest] [--guest NAME PID SOCKET]...
               [--vm NAME PID]... [--perf FIFO]... PREFIX COMMAND...

The brackets are what others say of the vCPUs' time, as close to the measurement
as can be, in PREFIX-*.before and PREFIX-*.after:

  NAME-stat       the guest's /proc/stat, or what the guest says to --ask
  NAME-schedstat  a line for each vCPU: its number, the thread, and the thread's
                  /proc/PID/task/TID/schedstat: ns on a CPU, ns on a runqueue
  NAME-threads    a line for each thread of the VMM: the thread, and its schedstat
  vms-threads     of each --vm, whoever its VMM is, a line for each thread of the VMM: the VM, the
                  thread, the vCPU that it runs or -, CLOCK_MONOTONIC in ns, its schedstat, and
                  its time in user mode, in the kernel, and in guests, in ticks of /proc
  host-stat       the host's /proc/stat
  host-clock      the host's CLOCK_MONOTONIC in ns

The command of --ready runs before the brackets, when each perf is ready to begin.
With --in-guest, COMMAND is one for the (first) guest, and its output goes to PREFIX-answer.

Each perf was started with --delay=-1 --control=fifo:FIFO.ctl,FIFO.ack and waits
to be told when to begin, so that none of its own start and end is measured. PID
is the VMM's, SOCKET that of the guest's agent, as for guest-exec.
"""

import argparse
import glob
import os
import select
import subprocess
import sys
import time

from agent import Agent, AgentError

# In /proc/PID/task/TID/stat, counted behind the name: utime, stime, guest_time
STAT_FIELDS = (11, 12, 40)
# Seconds. Far more than it takes: on a virtual clock that runs ahead while the
# host waits for its files, much can go by before a program has started.
TIMEOUT = 3600


class Perf:
    """A perf that listens to a pair of fifos."""

    def __init__(self, fifo):
        # For both directions, so that none waits for the other to open it.
        self.ctl = os.open(fifo + ".ctl", os.O_RDWR)
        self.ack = os.open(fifo + ".ack", os.O_RDWR)

    def tell(self, command):
        os.write(self.ctl, command.encode() + b"\n")
        reply = b""
        while b"\n" not in reply:
            if not select.select([self.ack], [], [], TIMEOUT)[0]:
                sys.exit("bracket.py: perf does not answer to '%s'" % command)
            reply += os.read(self.ack, 64)


class VM:
    def __init__(self, name, pid):
        self.name = name
        self.pid = pid

    def vcpus(self):
        """Which vCPU a thread runs"""
        return {read(path).strip(): path.split("/")[-2][len("vcpu"):]
                for path in glob.glob("/sys/kernel/debug/kvm/%s-*/vcpu*/pid" % self.pid)}

    def all_threads(self):
        lines, vcpus = [], self.vcpus()
        for path in sorted(glob.glob("/proc/%s/task/*" % self.pid)):
            tid = path.split("/")[-1]
            schedstat, now = read(path + "/schedstat").strip(), time.monotonic_ns()
            stat = read(path + "/stat").rpartition(") ")[2].split()
            lines.append("%s %s %s %d %s %s\n" % (
                self.name, tid, vcpus.get(tid, "-"), now, schedstat,
                " ".join(stat[i] for i in STAT_FIELDS)))
        return "".join(lines)


class Guest(VM):
    """One with an agent"""

    def __init__(self, name, pid, path):
        super().__init__(name, pid)
        self.agent = Agent(path, TIMEOUT)

    def schedstat(self):
        return "".join(sorted(
            "%s %s %s" % (vcpu, tid, read("/proc/%s/task/%s/schedstat" % (self.pid, tid)))
            for tid, vcpu in self.vcpus().items()))

    def threads(self):
        return "".join("%s %s" % (path.split("/")[-2], read(path))
                       for path in sorted(glob.glob("/proc/%s/task/*/schedstat" % self.pid)))

    def answer(self):
        output = []
        if self.agent.answer(output.append):
            raise AgentError("%s: the command failed" % self.name)
        return b"".join(output).decode()

    def call(self, command, path):
        """What subprocess.call() is on the host."""
        self.agent.ask(command)
        with open(path, "wb") as file:
            return self.agent.answer(file.write)


def read(path):
    with open(path) as file:
        return file.read()


def ask_guests(guests, command):
    """All of them at once, so that none's answer is later for the others'."""
    for guest in guests:
        guest.agent.ask(command)
    return {guest.name + "-stat": guest.answer() for guest in guests}


def ask_host(guests, vms):
    texts = {"vms-threads": "".join(vm.all_threads() for vm in vms)} if vms else {}
    texts.update({guest.name + "-schedstat": guest.schedstat() for guest in guests})
    texts.update({guest.name + "-threads": guest.threads() for guest in guests})
    texts["host-stat"] = read("/proc/stat")
    texts["host-clock"] = "%d\n" % time.monotonic_ns()
    return texts


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ask", default="cat /proc/stat")
    parser.add_argument("--ready", default="")
    parser.add_argument("--in-guest", action="store_true")
    parser.add_argument("prefix")
    parser.add_argument("--guest", nargs=3, action="append", default=[])
    parser.add_argument("--vm", nargs=2, action="append", default=[])
    parser.add_argument("--perf", action="append", default=[])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main():
    args = arguments()
    guests = [Guest(*guest) for guest in args.guest]
    vms = [VM(*vm) for vm in args.vm]
    perfs = [Perf(fifo) for fifo in args.perf]
    # Until all are there and listen, and the way to the answers is a known one. A perf that
    # begins takes the CPU from the guests, which are to answer at once.
    for perf in perfs:
        perf.tell("ping")
    ask_guests(guests, args.ask)
    if args.ready:
        subprocess.check_call(args.ready, shell=True)

    before = ask_guests(guests, args.ask)
    before.update(ask_host(guests, vms))
    for perf in perfs:
        perf.tell("enable")
    if args.in_guest:
        code = guests[0].call(" ".join(args.command), args.prefix + "-answer")
    else:
        code = subprocess.call(args.command)
    for perf in reversed(perfs):
        perf.tell("disable")
    after = ask_host(guests, vms)
    after.update(ask_guests(guests, args.ask))

    for guest in guests:
        guest.agent.close()
    for perf in perfs:
        perf.tell("stop")
    for when, texts in (("before", before), ("after", after)):
        for what, text in texts.items():
            with open("%s-%s.%s" % (args.prefix, what, when), "w") as file:
                file.write(text)
    sys.exit(code)


try:
    main()
except AgentError as error:
    sys.exit("bracket.py: %s" % error)
