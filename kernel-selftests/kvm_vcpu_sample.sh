#!/bin/bash
# perf record of a KVM guest with PERF_SAMPLE_VCPU
# SPDX-License-Identifier: GPL-2.0

# The guest is a boot sector that turns paging on with a CR3 of its own choice and
# spins: each sample of its loop has to have that CR3.

set -e

CR3=0x9008
LOOP=7c28
WANTED=100

dir=$(mktemp -d /tmp/__perf_test.kvm_vcpu_sample.XXXXX)
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
	echo "KVM vCPU samples: $1 [Skip]"
	exit 2
}

fail()
{
	echo "KVM vCPU samples: $1 [Failed]"
	exit 1
}

[ "$(uname -m)" = x86_64 ] || skip "the guest is x86"
if [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
	skip "no access to /dev/kvm"
fi
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
perf record --sample-vcpu -e cpu-clock -o "$dir/try.data" -- true 2>"$dir/try.err" ||
	skip "no PERF_SAMPLE_VCPU, or not allowed"

make_boot_sector()
{
	{
		# cli; xor %ax,%ax; mov %ax,%ds
		printf '\372\061\300\216\330'
		# movl $0x83,0x9000: 4 MB at 0, present, writable
		printf '\146\307\006\000\220\203\000\000\000'
		# mov %cr4,%eax; or $0x10,%al (PSE); mov %eax,%cr4
		printf '\017\040\340\014\020\017\042\340'
		# mov $0x9008,%eax; mov %eax,%cr3
		printf '\146\270\010\220\000\000\017\042\330'
		# mov $0x80000011,%eax (PG, ET, PE); mov %eax,%cr0
		printf '\146\270\021\000\000\200\017\042\300'
		# 0x7c28: jmp .
		printf '\353\376'
	} >"$dir/boot.img"
	truncate -s 510 "$dir/boot.img"
	printf '\125\252' >>"$dir/boot.img"
	truncate -s 1M "$dir/boot.img"
}

# record TIMES: until the guest has come as far as its loop
record()
{
	local try in_loop

	for ((try = 0; try < 10; try++)); do
		# While the VMM starts, its threads come and go under perf's hands.
		perf record --sample-vcpu -e cpu-clock -c 1000000 -p "$vmm" \
			-o "$dir/perf.data" -- sleep 1 2>"$dir/record.err" || continue
		# Without an option that speaks of guests, perf script leaves them out.
		perf script -i "$dir/perf.data" --guestmount "$dir" -F ip,vcpu_ctx \
			>"$dir/samples" 2>"$dir/script.err" || fail "perf script"
		in_loop=$(awk -v at="$LOOP" '$1 == at' "$dir/samples" | wc -l)
		[ "$in_loop" -lt "$WANTED" ] || return 0
		kill -0 "$vmm" 2>/dev/null ||
			skip "the guest does not start: $(tail -n 1 "$dir/vmm.err")"
	done
	[ -s "$dir/samples" ] || fail "perf record: $(tail -n 1 "$dir/record.err")"
	# What there is instead
	awk '{ $6 = ""; print }' "$dir/samples" | sort | uniq -c | sort -rn | head -n 20
	fail "no samples of the guest's loop"
}

make_boot_sector
qemu-system-x86_64 -accel kvm -m 64 -nodefaults -no-user-config -display none \
	-drive "file=$dir/boot.img,format=raw,if=ide" 2>"$dir/vmm.err" &
vmm=$!
record

# address, vCPU, guest or host, cr3, its value, ...
awk -v at="$LOOP" -v cr3="$CR3" '
	$1 == at && $3 == "guest" {
		in_loop++
		if ($2 != 0 || $4 != "cr3" || $5 != cr3)
			wrong++
	}
	/ host / { host++ }
	/ host .*cr3/ { host_cr3++ }
	END {
		printf "%d samples of the loop, %d of them wrong; ", in_loop, wrong
		printf "%d of the host, %d of them with a CR3\n", host, host_cr3
		exit !(in_loop >= '"$WANTED"' && !wrong && !host_cr3)
	}' "$dir/samples" || fail "samples of the loop without its CR3, or of the host with one"
echo "KVM vCPU samples [Success]"
