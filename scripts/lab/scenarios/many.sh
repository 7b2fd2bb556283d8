# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: commands for all guests at once, of three guests and of a dozen VMs of tiny-vmm

# shellcheck source=scripts/lab/scenarios/guests.sh
. "$(dirname "${BASH_SOURCE[0]}")/guests.sh"

# many NAME OPTION...: a recording: what it says, to NAME.err, and the files that it leaves, to
# NAME.files
many()
{
	local name=$1 rc=0
	shift

	perf kvm unified record -c 997000 -o "/run/$name.data" "$@" 2>"$name.err" || rc=$?
	echo "exit code $rc" >>"$name.err"
	ls "/run/$name.data" >"$name.files" 2>/dev/null || :
	rm -rf "/run/$name.data"
	say "recorded $name"
}

# What guests are asked by: asked takes a second, and says to many-jobs when it begins and ends;
# followed begins with the head of a map, and sends the rest at the end of its input.
write_commands()
{
	printf '#!/bin/sh\n%s\n' 'echo 1 >>many-jobs; sleep 1; cat /run/tiny.map; echo -1 >>many-jobs' >/run/asked
	printf '#!/bin/sh\n%s\n' 'head -c 16 /run/tiny.map; cat; tail -c +17 /run/tiny.map' >/run/followed
	chmod +x /run/asked /run/followed
}

start_idle_vm()
{
	start_tiny_vm "$1" --cr3 2000 --user-us 500 --kernel-us 500 --idle-us 500000
}

# Ctrl-C while guests are asked
interrupted_many()
{
	many many-interrupted --vm 'web-*' --guest-cmd '*=sleep 1234' -- sleep 0.2 &
	wait_until grep -q Asking many-interrupted.err
	sleep 0.5
	pkill -INT -x perf
	wait $!
	pgrep -f "sleep 1234" >many-left-behind || :
}

# Names anybody may give: none of them may be run.
many_vms()
{
	local name

	"$GUEST_DIR/tiny-vmm" --symbols >tiny.kallsyms
	"$LAB/vmm/tiny-map.py" tiny.kallsyms 10:left:2000 >/run/tiny.map
	# shellcheck disable=SC2016 # not this shell's to expand
	for name in web-{1..8} db-1 'x;touch${IFS}injected' '$(touch${IFS}injected)'; do
		start_idle_vm "$name"
	done
	write_commands
	sleep 1
	tiny_vms_run
	export -f start_idle_vm start_tiny_vm
	export GUEST_DIR

	many many-asked --guest-jobs 3 --guest-cmd 'db-1=exit 3' --guest-cmd '*=/run/asked %n' -- sleep 0.2
	many many-followed --guest-follow 'web-*=/run/followed' --guest-cmd '*=cat /run/tiny.map # %p' -- \
		bash -c "start_idle_vm late; sleep 1"
	many many-late --guest-follow '*=/run/followed' -- bash -c "start_idle_vm later; sleep 1"
	many many-deadline --vm 'web-*' --guest-jobs 2 --guest-deadline 6 --guest-cmd '*=sleep 1234' -- sleep 0.2
	many many-timeout --vm 'web-[1-3],db-?' --guest-timeout 1 --guest-cmd '*=sleep 1234' -- sleep 0.2
	many many-no-such --vm 'web-9' --guest-cmd '*=true' -- true
	interrupted_many
}

measure()
{
	go_first
	# shellcheck disable=SC2016 # the command's to expand
	many many-real --guest-cmd '*=socat -t 60 - VSOCK-CONNECT:$(cat /run/%n.cid):5000' -- sleep 0.2
	many_vms
}
