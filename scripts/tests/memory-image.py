#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boots a guest under emulation and keeps its memory, with what it says of itself.

usage: memory-image.py KERNEL INITRD OUT [-m MIB] [-a APPEND] [-c CPU] [-n PROCESSES]

INITRD is what guest-image.sh packs; KERNEL any that it has modules for. OUT, a directory, gets

	ram		the guest's physical memory, as a file
	cr3		a line for each vCPU's CR3, from different moments, in hex
	kallsyms	/proc/kallsyms of the guest
	maps		"== PID COMM" and then /proc/PID/maps, of each process
	map		what perf kvm unified guest-map says there

Only the first two are what a host would know.
"""

import argparse
import gzip
import io
import json
import os
import re
import socket
import subprocess
import tarfile
import time

INIT = """#!/bin/sh
export PATH=/bin:/usr/bin
/bin/busybox mkdir -p /bin /proc /sys /dev /run /tmp
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
cd /
modules=/lib/modules/$(uname -r)
for list in order vsock; do
	while read -r module; do insmod "$modules/$module"; done <"$modules/$list"
done
export OMP_NUM_THREADS=1
shor 0 1397 8 </dev/null >/dev/null 2>&1 &
contained </dev/null >/dev/null 2>&1 &
jit </dev/null >/dev/null 2>&1 &
cxx </dev/null >/dev/null 2>&1 &
spin </dev/null >/dev/null 2>&1 &
mapped memfd </dev/null >/dev/null 2>&1 &
mapped program </dev/null >/dev/null 2>&1 &
crowd $PROCESSES </dev/null >/dev/null 2>&1 &
for comm in contained jit cxx mapped crowd shor; do
	until cat /proc/[0-9]*/comm | grep -qx $comm; do usleep 100000; done
done
sleep 3
# From here on nothing changes.
kill -STOP -1
mkdir /run/truth
perf kvm unified guest-map -o /run/truth/map
cat /proc/kallsyms >/run/truth/kallsyms
for p in /proc/[0-9]*; do
	echo "== ${p#/proc/} $(cat $p/comm)"
	cat $p/maps
done >/run/truth/maps 2>/dev/null
stty raw </dev/ttyS1
tar -C /run/truth -cf - . | gzip -1 >/dev/ttyS1
rm -rf /run/truth
echo look-now
while :; do sleep 1000; done
"""

# On a busy machine
BOOT_SECONDS = 600


def cpio(name, mode, data):
    """One file as an initrd of its own, to be appended to another"""
    def entry(name, mode, data):
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = ("070701" + "".join("%08X" % f for f in fields)).encode() + name.encode() + b"\0"
        return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)
    return entry(name, mode, data) + entry("TRAILER!!!", 0, b"")


class Qmp:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        for _ in range(100):
            try:
                self.sock.connect(path)
                break
            except OSError:
                time.sleep(0.1)
        self.file = self.sock.makefile("rw")
        self.file.readline()
        self.do("qmp_capabilities")

    def do(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            if "return" in answer or "error" in answer:
                return answer.get("return")

    def cr3s(self):
        return re.findall(r"CR3=([0-9a-f]+)", self.do("human-monitor-command", **{
            "command-line": "info registers -a"}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernel")
    parser.add_argument("initrd")
    parser.add_argument("out")
    parser.add_argument("-m", type=int, default=512)
    parser.add_argument("-a", default="")
    parser.add_argument("-c", default="max")
    parser.add_argument("-n", type=int, default=5)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)

    def out(name):
        return os.path.join(args.out, name)

    init = INIT.replace("$PROCESSES", str(args.n)).encode()
    with open(out("initrd"), "wb") as f, open(args.initrd, "rb") as initrd:
        data = initrd.read()
        f.write(data + b"\0" * (-len(data) % 512) + cpio("look-init", 0o100755, init))
    qemu = subprocess.Popen([
        "qemu-system-x86_64", "-accel", "tcg", "-cpu", args.c, "-nodefaults", "-no-user-config",
        "-display", "none", "-no-reboot", "-machine", "pc,memory-backend=ram", "-m", str(args.m),
        "-object", "memory-backend-file,id=ram,size=%dM,mem-path=%s,share=on" %
        (args.m, out("ram")),
        "-serial", "file:" + out("console"), "-serial", "file:" + out("truth"),
        "-qmp", "unix:%s,server=on,wait=off" % out("qmp"),
        "-kernel", args.kernel, "-initrd", out("initrd"),
        "-append", "console=ttyS0 quiet panic=-1 rdinit=/look-init " + args.a])
    try:
        qmp = Qmp(out("qmp"))
        for _ in range(BOOT_SECONDS * 10):
            time.sleep(0.1)
            if qemu.poll() is not None:
                raise SystemExit("the guest has ended")
            with open(out("console"), errors="replace") as f:
                if "look-now" in f.read():
                    break
        else:
            raise SystemExit("the guest has not come so far in %d s" % BOOT_SECONDS)
        cr3s = []
        for _ in range(10):
            time.sleep(0.05)
            cr3s += qmp.cr3s()
        qmp.do("stop")
        cr3s += qmp.cr3s()
        qmp.do("quit")
    finally:
        qemu.kill()
        qemu.wait()
    with open(out("cr3"), "w") as f:
        f.writelines("%s\n" % c for c in dict.fromkeys(reversed(cr3s)))
    with open(out("truth"), "rb") as f:
        tarfile.open(fileobj=io.BytesIO(gzip.decompress(f.read()))).extractall(args.out)
    for name in ("truth", "initrd", "qmp"):
        if os.path.exists(out(name)):
            os.remove(out(name))


main()
