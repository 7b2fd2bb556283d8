#!/bin/bash
# perf record and report of a KVM host and its guest
# SPDX-License-Identifier: GPL-2.0

# The guest is a boot sector that spins, in real mode: samples of it have an address and no
# CR3 that means anything, and the time line has to have it on a CPU for most of the time.

set -e

# jmp . at the place where a BIOS loads a boot sector
LOOP=0x7c00

dir=$(mktemp -d /tmp/__perf_test.kvm_unified.XXXXX)
vmm=

cleanup()
{
	[ -z "$vmm" ] || kill "$vmm" 2>/dev/null || :
	rm -rf "$dir"
	trap - EXIT TERM INT
}
trap 'cleanup; exit 1' TERM INT
trap cleanup EXIT

skip()
{
	echo "perf kvm unified: $1 [Skip]"
	exit 2
}

fail()
{
	echo "perf kvm unified: $1 [Failed]"
	[ ! -s "$dir/err" ] || tail -n 5 "$dir/err"
	exit 1
}

[ "$(uname -m)" = x86_64 ] || skip "the guest is x86"
if [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
	skip "no access to /dev/kvm"
fi
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
command -v python3 >/dev/null || skip "no python3"
perf record --sample-vcpu -a -e cpu-clock -o "$dir/try.data" -- true 2>"$dir/err" ||
	skip "no PERF_SAMPLE_VCPU, or not allowed"

printf '\353\376' >"$dir/boot.img"
truncate -s 510 "$dir/boot.img"
printf '\125\252' >>"$dir/boot.img"
truncate -s 1M "$dir/boot.img"
qemu-system-x86_64 -accel kvm -m 64 -nodefaults -no-user-config -display none -name spinner \
	-drive "file=$dir/boot.img,format=raw,if=ide" 2>"$dir/vmm.err" &
vmm=$!

# Until the guest has come as far as its loop
record()
{
	local try

	for ((try = 0; try < 10; try++)); do
		perf kvm unified record -e cpu-clock/period=1000000/ \
			-o "$dir/perf.data" -- sleep 1 2>"$dir/err" || fail "record"
		perf script -i "$dir/perf.data" --guestmount "$dir" -F ip \
			2>/dev/null >"$dir/ips" || :
		! grep -qx " *${LOOP#0x}" "$dir/ips" || return 0
		kill -0 "$vmm" 2>/dev/null ||
			skip "the guest does not start: $(tail -n 1 "$dir/vmm.err")"
	done
	fail "no samples of the guest's loop"
}
record

perf kvm unified report -i "$dir/perf.data" >"$dir/table" 2>"$dir/err" || fail "report"
grep -q '\[spinner\]' "$dir/table" || fail "report: no row of the VM"

perf kvm unified report -i "$dir/perf.data" --format json >"$dir/json" 2>"$dir/err" ||
	fail "report --format json"
python3 -m json.tool "$dir/json" >/dev/null 2>"$dir/err" || fail "report: no JSON"
python3 - "$dir/json" 2>"$dir/err" <<-EOF || fail "report: JSON"
	import json, sys
	report = json.load(open(sys.argv[1]))
	assert report["schema"] == "perf-kvm-unified-report", report["schema"]
	assert report["measurement"]["guest_samples"] > 0
	assert [guest["name"] for guest in report["guests"]] == ["spinner"]
	levels = {level["level"]: level for level in report["levels"]}
	assert sorted(levels) == ["host", "vm"], levels.keys()
	for level in levels.values():
	    for key in ("time_ns", "samples", "classes_ns", "rows"):
	        assert key in level, key
	    spent = sum(row["time_ns"] for row in level["rows"]) + level["hidden_ns"]
	    assert abs(spent - level["time_ns"]) <= 1000, (spent, level["time_ns"])
EOF

# A file that is no profile is refused.
perf kvm unified report -i "$dir/json" >"$dir/out" 2>"$dir/err" && fail "a file that is no profile"
[ -s "$dir/err" ] || fail "a file that is no profile: not a word"

echo "perf kvm unified [Success]"
