#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a profile in which a VM is halted from the middle on, and there are no looks that say so.

usage: silence.py PERF.DATA OUT-DIR PID

PID: of the VMM
"""

import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../bench"))
from perf_data import (GUEST_VM, HEADER, PIPE_HEADER, Profile, stream, u32,  # noqa: E402
                       VM, VM_PID_AT, VM_VCPU)

# Of a vCPU: there before and after, halted after
HALTED_AT_END = 1 << 0 | 1 << 1 | 1 << 3


def halt(vms, pid):
    """The table of VMs, in which the VM's vCPUs are halted at the end"""
    vms, at = bytearray(vms), PIPE_HEADER
    for kind, record in stream(bytes(vms)):
        if kind == GUEST_VM and u32(record, VM_PID_AT) == pid:
            for vcpu in range(at + VM.size, at + len(record), VM_VCPU.size):
                number, tid, _, reserved = VM_VCPU.unpack_from(vms, vcpu)
                VM_VCPU.pack_into(vms, vcpu, number, tid, HALTED_AT_END, reserved)
        at += HEADER.unpack_from(record)[2]
    return bytes(vms)


def main():
    source, out, pid = sys.argv[1], sys.argv[2], int(sys.argv[3])
    profile = Profile(source)
    times = [record.time for record in profile.samples()]
    middle = (min(times) + max(times)) // 2
    profile.records = [record for record in profile.records if not record.event or
                       record.time < middle or record.task[0] != pid]
    profile.vms = halt(profile.vms, pid)
    profile.write(out, 1, 0)
    os.remove(os.path.join(out, "vcpu_looks"))


try:
    main()
except (OSError, ValueError, struct.error) as error:
    sys.exit("silence.py: %s" % error)
