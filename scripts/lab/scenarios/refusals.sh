# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: what perf kvm unified refuses, and what it makes the best of

GUESTS="guest2"
guest2_VCPUS=1
guest2_MEM=512
# A small number: nothing here depends on what the workload does.
guest2_ARGS="0,253,8"
guest2_CMDLINE=cryptomgr.notests
guest2_TIMEOUT=600

# It is of messages and of what there is, not of times. They are 300 s of a machine with two slow CPUs.
LIMIT=1200

record()
{
	perf kvm unified record "$@"
}

collector()
{
	printf 'GUEST_EXEC_TIMEOUT=%s guest-exec.py %s %s' "$MAP_TIMEOUT" "$(guest_socket guest2)" "$COLLECTOR"
}

prepare()
{
	gcc -shared -fPIC -O2 -Wall -Wextra -Werror -o mediated-pmu.so "$LAB/mediated-pmu.c"
}

# record_mediated refuses|takes OPTION...: see mediated-pmu.c
record_mediated()
{
	local mode=$1
	shift

	MEDIATED_PMU=$mode LD_PRELOAD=$OUT/mediated-pmu.so perf kvm unified record "$@"
}

# KVM turns the parameter off where there is no PMU.
with_mediated_pmu()
{
	echo Y >/run/parameter
	mount --bind /run/parameter /sys/module/kvm_amd/parameters/enable_mediated_pmu
	try mediated-refuses record_mediated refuses -o mediated-refuses.data -- sleep 0.5
	try mediated-takes record_mediated takes -o mediated-takes.data -- sleep 0.5
	try mediated-cpu-clock record_mediated refuses -e cpu-clock -o mediated-cpu-clock.data -- sleep 0.5
	try mediated-asked record_mediated refuses -e cycles -o mediated-asked.data -- sleep 0.5
	umount /sys/module/kvm_amd/parameters/enable_mediated_pmu
	try mediated-off record_mediated takes -o mediated-off.data -- sleep 0.5
}

# stream NAME OPTION...: the profile through standard output, to NAME.stream, with what is
# said in NAME.out
stream()
{
	local name=$1 rc=0
	shift

	record -o - "$@" 2>"$name.out" >"/run/$name.stream" || rc=$?
	echo "exit code $rc" >>"$name.out"
	cp "/run/$name.stream" .
}

piped()
{
	record -o - -- sleep 1 | perf kvm unified report --format json >piped.json
}

# Ctrl-C is for both ends of the pipe: the recording ends by it, and the report is made.
interrupted_pipe()
{
	setsid sh -c 'trap : INT
		perf kvm unified record -o - -- sh -c "touch piping; sleep 100" |
			perf kvm unified report --format json >interrupted-pipe.json' &
	wait_until test -e piping
	sleep 0.5
	kill -INT -- "-$!"
	wait "$!"
}

cut_pipe()
{
	record -o - -- sleep 0.5 | head -c 20000 >cut.stream
	echo "exit codes ${PIPESTATUS[*]}"
}

streams()
{
	stream to-stdout -- sh -c 'echo of the command; sleep 1; exit 7'
	try piped piped
	try cut-pipe cut_pipe
	try interrupted-pipe interrupted_pipe
}

# The recorder does not come to its end, or to none that is its own.
cut_short()
{
	# Small buffers are written soon: there are samples in the file then, however slow this machine is.
	# shellcheck disable=SC2016 # for the command's shell
	try killed-hard record -m 16 -o killed-hard.data -- sh -c 'begin=$(stat -c %s killed-hard.data/data)
		until [ "$(stat -c %s killed-hard.data/data)" -ge $((begin + 200000)) ]; do sleep 0.1; done
		kill -KILL $PPID'
	# shellcheck disable=SC2016 # for the command's shell
	try hung-up record -o hung-up.data --guest-cmd "guest2=$(collector)" -- \
		sh -c 'sleep 1; kill -HUP $PPID; exec sleep 100'
	try unread sh -c '{ perf kvm unified record -o unread.data -- sleep 0.5; echo $? >unread.code; } 2>&1 |
		true'
	mkdir /run/small
	mount -t tmpfs -o size=512k tmpfs /run/small
	try full-disk record -m 16 -c 250000 -o /run/small/full.data --guest-cmd "guest2=$(collector)" -- sleep 600
	cp -r /run/small/full.data full-disk.data
	umount /run/small
}

# as_user CAPABILITY,... COMMAND...: as one who is not root, and has these
as_user()
{
	local caps=$1
	shift

	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" "$@"
}

# What a user, or a container, does not see
little_seen()
{
	mkdir -m 777 /run/user
	try closed-guest as_user +perfmon perf kvm unified record -o /run/user/refused.data \
		--guest-cmd "guest2=true" -- true
	try closed as_user +perfmon perf kvm unified record -o /run/user/closed.data -- sleep 0.2
	try open as_user +perfmon,+sys_ptrace,+dac_read_search perf kvm unified record \
		-o /run/user/open.data --vm guest2 -- sleep 0.2
	try hidepid unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+perfmon --ambient-caps=+perfmon \
			perf kvm unified record -o /run/user/refused.data --vm guest2 -- true'
	try pid-namespace unshare --pid --fork --mount-proc perf kvm unified record -o /run/refused.data -- true
	try no-tracefs unshare -m sh -c 'umount -l /sys/kernel/tracing /sys/kernel/debug
		setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin \
			perf kvm unified record -o /run/no-tracefs.data -- sleep 0.2'
	try no-debugfs unshare -m sh -c 'umount -l /sys/kernel/debug
		perf kvm unified record -o no-debugfs.data -- sleep 0.5'
}

without_vm()
{
	try no-vm record -o no-vm.data -- sleep 0.2
	try no-vm-report perf kvm unified report -f -i no-vm.data
	rm /dev/kvm
	try no-kvm record -o refused.data -- true
}

measure()
{
	in_memory refusals
}

# has_vm PID: its process may open and close other files meanwhile.
has_vm()
{
	find "/proc/$1/fd" -lname anon_inode:kvm-vm 2>/dev/null | grep . >/dev/null
}

refusals()
{
	local vmm stream starter

	# The guest's kernel is Debian's: it has none of the patches.
	try unpatched in_guest guest2 "perf kvm unified record -o /tmp/x -- true 2>&1; echo exit code \$?"
	try unpatched-record in_guest guest2 "perf record --sample-vcpu -e cpu-clock -o /tmp/x -- true 2>&1; echo exit code \$?"

	# With what perf had before, and a VM running: for the comparison with a
	# perf that does not know of the new bit.
	perf record -a -g -e cpu-clock -c 1000000 -o plain.data -- sleep 1
	# The serial port makes work for the host: there are call chains to be shown.
	try chains record -g -e cpu-clock/period=1000000/ -o chains.data -- \
		guest-exec.py "$(guest_socket guest2)" "head -c 1000 /proc/kallsyms >/dev/ttyS0"

	# What PERF_SAMPLE_VCPU says to an event that excludes the guest, and to one
	# that does not; and two software events, of which one needs more.
	# As long as a loop in the guest takes: the slower the machine, the more samples of it.
	perf record -a --sample-vcpu -e cpu-clock -c 1000000 -o context.data -- \
		guest-exec.py "$(guest_socket guest2)" "i=0; while [ \$i -lt 20000 ]; do i=\$((i + 1)); done"
	# The serial port makes exits: a busy guest leaves next to nothing to the host.
	perf record -a --sample-vcpu -e cpu-clock:H -c 1000000 -o host-only.data -- \
		guest-exec.py "$(guest_socket guest2)" "head -c 1000 /proc/kallsyms >/dev/ttyS0"
	perf record -c 1 -e page-faults/call-graph=no/,page-faults/call-graph=fp/ \
		-o two-events.data -- true

	perf record -a -T --sample-cpu -e page-faults -c 1 -o faults.data -- true
	try faults-report perf kvm unified report -f -i faults.data

	try no-root setpriv --reuid=65534 --clear-groups perf kvm unified record -o /tmp/x -- true
	try no-such-guest record -o refused.data --guest-cmd "guest9=true" -- true
	try bad-guest-cmd record -o refused.data --guest-cmd "guest2" -- true
	try map-to-stdout record -o - --guest-cmd "guest2=true" -- true
	try follow-to-stdout record -o - --guest-follow "guest2=true" -- true
	try map-fails record -o map-fails.data --guest-cmd "guest2=exit 3" -- sleep 0.2
	try map-truncated record -o map-truncated.data \
		--guest-cmd "guest2=$(collector) | head -c 100000" -- sleep 0.2
	try map-hangs record -o map-hangs.data --guest-timeout 1 \
		--guest-cmd "guest2=sleep 100" -- sleep 0.2
	try quiet record -q -o quiet.data --guest-cmd "guest2=exit 3" -- sleep 0.2
	try no-stderr sh -c 'exec 2>&-; exec perf kvm unified record -o no-stderr.data -- sleep 0.2'
	try moved record -o /run/moved.data -- \
		sh -c 'mv /run/moved.data /run/away.data && mkdir /run/moved.data'
	ls /run/moved.data >moved.ls
	try quiet-error record -q -o /run/quiet-error.data -- \
		sh -c 'cd /run/quiet-error.data && rm vms && mkdir vms'
	try map-fails-report perf kvm unified report -f -i map-fails.data
	try follow-twice record -o refused.data --guest-cmd "guest2=true" --guest-follow "guest2=true" -- true
	try bad-follow record -o refused.data --guest-follow "guest2=" -- true
	try follow-fails record -o /run/follow-fails.data --guest-follow "guest2=exit 3" -- sleep 0.2
	try follow-silent record -o /run/follow-silent.data --guest-follow "guest2=true" -- sleep 0.2
	try follow-hangs record -o /run/follow-hangs.data --guest-timeout 1 \
		--guest-follow "guest2=sleep 1234" -- sleep 0.2
	# It begins, and ends in the middle, or never.
	try follow-ends record -o /run/follow-ends.data --guest-follow "guest2=$(collector) | head -c 100000" -- sleep 0.2
	# As when a guest is booted again: the first one ends early, the next one may do its work.
	try follow-again record -o /run/follow-again.data \
		--guest-follow "guest2=[ -e /run/asked ] || { touch /run/asked; $(collector) | head -c 100000; exit 1; }; $(collector)" -- sleep 0.2
	ls /run/follow-again.data >>follow-again.out
	rm -r /run/follow-again.data
	try follow-stays record -o /run/follow-stays.data --guest-timeout 2 \
		--guest-follow "guest2=echo; exec sleep 1234" -- sleep 0.2
	pgrep -f "sleep 1234" >left-behind.out || :
	ls -d /run/follow-*.data/guest_map__* >left-files.out 2>&1 || :
	try exit-code record -o exit-code.data -- sh -c "exit 7"

	cut_short
	little_seen
	with_mediated_pmu
	streams

	# What comes to nothing leaves the profile before it where it is.
	record -o /run/kept.data -- true
	cp /run/kept.data/data kept-old
	record -o /run/kept.data -- true
	cp /run/kept.data/data kept
	try no-such-event record -o /run/kept.data -e no-such-event -- true
	try no-such-event-again record -o /run/kept.data -e no-such-event -- true
	try interrupted timeout -s INT 2 perf kvm unified record -o /run/kept.data \
		--guest-follow "guest2=sleep 1234" -- true
	ls -d /run/kept.data* >kept.out 2>&1 || :
	cmp kept /run/kept.data/data >>kept.out 2>&1 || :
	cmp kept-old /run/kept.data.old/data >>kept.out 2>&1 || :

	# One that ends early is a profile, and the one before the last goes.
	for _ in 1 2; do
		record -o /run/killed.data -- true
	done
	cp /run/killed.data/data killed
	# shellcheck disable=SC2016 # for the command's shell
	try killed record -o /run/killed.data -- sh -c 'kill $PPID; exec sleep 100'
	ls -d /run/killed.data* >killed.ls 2>&1 || :
	cmp killed /run/killed.data.old/data >>killed.ls 2>&1 || :
	# Of one that was killed before it began, nothing is kept; of the one before the last, what is
	# not a profile's.
	mkdir /run/left.data
	touch /run/left.data/data /run/left.data/guest_map__1.tmp
	try left record -o /run/left.data -- true
	ls -d /run/left.data* >left.ls 2>&1 || :
	touch /run/killed.data.old/notes
	try more record -q -o /run/killed.data -- true
	ls /run/killed.data.old.*/notes >more.ls 2>&1 || :

	# For perf kvm unified report outside, of this guest and of the other.
	record -o perf.data --guest-cmd "guest2=$(collector)" -- sleep 1

	# One that is started meanwhile, when the measurement has begun, and goes on with its boot
	guest3_MEM=256
	{
		wait_until test -e measuring
		sleep 0.2
		start_guest guest3
		# Until its VMM has a VM, on a machine that is busy, too
		wait_until has_vm "$(guest_pid guest3)"
		sleep 1
		touch started
	} &
	starter=$!
	export -f wait_until say
	stream vm-starts-too -- bash -c 'PATIENCE=300 wait_until test -e measured' &
	stream=$!
	try vm-starts record -o vm-starts.data -- \
		bash -c 'touch measuring; PATIENCE=300 wait_until test -e started'
	touch measured
	wait "$stream"
	wait "$starter"
	# A boot that the emulator spoils ends it, too: that is to be told from a fault of what is tested.
	GUESTS="guest2 guest3"
	kill "$(guest_pid guest3)"
	GUESTS=guest2

	# Not if it has ended by itself: that is the emulator's fault, see check_guests in host/run.
	vmm=$(guest_pid guest2)
	grep -q qemu "/proc/$vmm/comm"
	try vm-dies record -o vm-dies.data --guest-cmd "guest2=$(collector)" -- \
		sh -c "sleep 0.5; kill -STOP $vmm; sleep 4; kill -9 $vmm; sleep 4"
	GUESTS=
	without_vm
}
