#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print what an expression says of reports in JSON.

usage: report-value.py EXPRESSION FILE...

In the expression, r is the list of reports (see scripts/lab/report.py), and these are of the
first one, or of r[i]:

  measurement(i)                what is known of the measurement
  level(name, vcpu, i)          the level "host", of a VM, or of a vCPU of it
  share(name, class, vcpu, i)   percent of a class in a level
  rows(name, start, vcpu, i)    percent of the rows whose function starts with that
  guest(name, i)                what is known of a guest (of the first)
  vm_rows(name, i)              the rows of a VM (of the first)
  user(name, of, among, i)      percent of a VM's time in user mode that is of rows that
                                of() says yes to, of those that among() does (all)
"""

import os
import sys

# Nothing is to be left in the checkout.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lab"))
from report import Report  # noqa: E402 # where it is, is said above


def measurement(i=0):
    return r[i].measurement


def level(name, vcpu=None, i=0):
    return r[i].level(name, vcpu)


def share(name, kind, vcpu=None, i=0):
    return r[i].share(name, kind, vcpu)


def rows(name, start, vcpu=None, i=0):
    return r[i].rows(name, start, vcpu)


def guest(name=None, i=0):
    return r[i].guest(name)


def vm_rows(name=None, i=0):
    return level(guest(name, i)["name"], i=i)["rows"]


def user(name, of, among=lambda row: True, i=0):
    return r[i].user(name, of, among)


r = [Report(file) for file in sys.argv[2:]]
value = eval(sys.argv[1])
# What awk makes of it is not the same everywhere.
if value != value:
    sys.exit("report-value.py: not a number: " + sys.argv[1])
print("%.3f" % value if isinstance(value, float) else value)
