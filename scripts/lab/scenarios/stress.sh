# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: VMs, events and KVM's modules come and go, on a kernel with sanitizers

# For STRESS_SECONDS, and up to twice that until there was enough of everything: the inside gets
# to know by the command line of its kernel.
STRESS_SECONDS=${STRESS_SECONDS:-60}
STRESS_SEED=${STRESS_SEED:-1}
HOST_VARIANT=sanitized
HOST_PROGRAMS="attr-fuzz migrate"
HOST_CPUS=2
# With the default machine, the sanitized kernel takes longer than ACPI allows for working out
# the interrupts: a loop there, a table here.
QEMU_ARGS="-machine q35"
# Not a thread for each CPU: one of them met a breakpoint then that the kernel, which was patching
# a branch there, had taken back, "Oops: int3", and that is the emulator's.
QEMU_ACCEL=tcg,thread=single
NMIS_PER_SECOND=20
# The sanitized kernel takes three minutes to boot on a busy machine.
LIMIT=$((STRESS_SECONDS * 2 + 720))
# Its guests look at no clock. While identify_cpu() clears what the CPU can, KASAN takes 5-level
# addresses for wild ones: a fault of this kernel, without the series, too.
HOST_CMDLINE="no5lvl kvmu.clock=any kvmu.seconds=$STRESS_SECONDS kvmu.seed=$STRESS_SEED"

PARTS="vms recordings fuzz modules"
# What there must be at least if ten minutes are asked for. A slow and busy machine may take twice
# as long for it; if it is not there then, all went wrong.
AT_LEAST="vms=30 recordings=2 modules=5"
FUZZ_AT_LEAST="opened=600 in-guest=10 timeline=10"

param()
{
	sed -n "s/.*\bkvmu\.$1=\([0-9]*\).*/\1/p" /proc/cmdline
}

# Programs of the build machine take long to start here, busybox and bash's own do not.
nap()
{
	read -r -t "$1" <>/run/nothing || :
}

goes_on()
{
	[ ! -e /run/over ]
}

load_kvm()
{
	busybox insmod "$BUILD_DIR/virt/lib/irqbypass.ko" 2>/dev/null || :
	busybox insmod "$BUILD_DIR/arch/x86/kvm/kvm.ko" &&
		busybox insmod "$BUILD_DIR/arch/x86/kvm/kvm-amd.ko"
}

# As vms() has them: to look for them in /proc costs a slow kernel more than they do.
vm_pids()
{
	cat /run/vm-pids
}

vcpu_threads()
{
	local pid tid

	for pid in $(vm_pids); do
		for tid in "/proc/$pid/task"/*; do
			# The VM may have ended.
			[ ! -e "$tid" ] || echo "${tid##*/}"
		done
	done
}

# Create, run, destroy: some end by themselves, some are killed at any point of their lives.
# Mostly halted, or little else would get on.
vms()
{
	local n=0 running

	while goes_on; do
		jobs -pr >/run/vm-pids
		mapfile -t running </run/vm-pids
		if [ -e /run/no-vms ] || [ "${#running[@]}" -ge 3 ]; then
			nap 0.3
			continue
		fi
		"$GUEST_DIR/tiny-vmm" --id "vm$n" --vcpus $((n % 3 + 1)) --seconds $((n % 4 + 1)) \
			--cr3 2000 --cr3 6000 --user-us 400 --kernel-us 200 --idle-us 20000 2>>vms.log &
		if [ $((n % 3)) -eq 0 ]; then
			nap "0.$((RANDOM % 9))"
			kill -9 $! 2>/dev/null || :
		fi
		n=$((n + 1))
		echo "$n" >vms.count
	done
}

# The tool, as its users would; every other time with callchains of the guests
recordings()
{
	local n=0 chains=()

	while goes_on; do
		if [ -e /run/no-vms ]; then
			nap 0.3
			continue
		fi
		touch /run/recording
		# First of all, as the modules are not unloaded before it has ended.
		nice -n -10 perf kvm unified record -q "${chains[@]}" -c 4000000 -o /run/unified.data -- \
			sleep 0.5 2>>recordings.log && n=$((n + 1))
		[ ${#chains[@]} -gt 0 ] && chains=() || chains=(--call-graph dwarf)
		rm -rf /run/unified.data /run/recording
		echo "$n" >recordings.count
		nap 3
	done
}

fuzz()
{
	local seed

	seed=$(param seed)
	while goes_on; do
		# shellcheck disable=SC2046 # a list
		attr-fuzz fuzz "$seed" 10 $(vcpu_threads) >>fuzz.log || touch fuzz.failed
		seed=$((seed + 1))
	done
}

# An open event of a tracepoint in a module holds the module: try until none is. Those
# with PERF_SAMPLE_VCPU do not, and stay (attr-fuzz keep).
unload_kvm()
{
	until busybox rmmod kvm_amd 2>/dev/null || ! goes_on; do
		nap 1
	done
	until busybox rmmod kvm 2>/dev/null || ! goes_on; do
		nap 1
	done
}

modules()
{
	local n=0 turn=0

	while goes_on; do
		nap $((RANDOM % 10 + 10))
		turn=$((turn + 1))
		# perf takes long to start here, and is refused a tracepoint that goes meanwhile:
		# every other time, a recording may end.
		while [ $((turn % 2)) -eq 0 ] && [ -e /run/recording ] && goes_on; do
			nap 0.3
		done
		touch /run/no-vms
		# shellcheck disable=SC2046 # a list
		kill -9 $(vm_pids) 2>/dev/null || :
		unload_kvm
		grep -q '^kvm ' /proc/modules || n=$((n + 1))
		load_kvm 2>>modules.log || :
		rm -f /run/no-vms
		echo "$n" >modules.count
	done
}

measure()
{
	local seconds part pids=()

	# Each half minute a sign of life, for whoever reads the console.
	seconds=$(param seconds)
	rm -f /run/no-vms /run/over
	: >/run/vm-pids
	mkfifo /run/nothing
	load_kvm
	say "KVM is loaded"
	attr-fuzz bits >fuzz.log || touch fuzz.failed
	say "each bit with each kind of event"
	SECONDS=0
	attr-fuzz keep $((2 * seconds)) >keep.log &
	pids+=($!)
	migrate tiny-vmm $((2 * seconds)) >migrate.log &
	pids+=($!)
	for part in $PARTS; do
		$part &
		pids+=($!)
	done
	until [ "$SECONDS" -ge $((2 * seconds)) ] ||
			{ [ "$SECONDS" -ge "$seconds" ] && is_enough >/dev/null; }; do
		nap 30
		say "$(counts)"
	done
	touch /run/over
	kill -TERM "${pids[@]:0:2}" 2>/dev/null || :
	say "after $SECONDS s"
	wait "${pids[@]}" || :
}

counts()
{
	local part

	for part in $PARTS; do
		[ ! -s "$part.count" ] || printf '%s %s ' "$part" "$(cat "$part.count")"
	done
}

# sum_of FILE WORD: of the numbers behind the word
sum_of()
{
	awk -v word="$2" '{ for (i = 1; i < NF; i++) if ($i == word) n += $(i + 1) } END { print n + 0 }' "$1"
}

# enough WHAT NUMBER LEAST
enough()
{
	say "$1: $2, at least $3"
	[ "$2" -ge "$3" ]
}

# at_least NUMBER: of what there must be in ten minutes, in the time that there was asked for
at_least()
{
	echo $(($1 * seconds / 600))
}

# What can be said while it goes on
is_enough()
{
	local least part seconds fuzz_at_least=$FUZZ_AT_LEAST rc=0

	seconds=$(param seconds)
	# The series for the LTS kernel has none.
	[[ $(uname -r) == 6.12.* ]] || fuzz_at_least+=" callchains=10"
	for least in $AT_LEAST; do
		part=${least%=*}
		enough "$part" "$(cat "$part.count" 2>/dev/null || echo 0)" \
			"$(at_least "${least#*=}")" || rc=1
	done
	for least in $fuzz_at_least; do
		part=${least%=*}
		enough "fuzz: $part" "$(sum_of <(grep '^attr-fuzz fuzz:' fuzz.log) "$part")" \
			"$(at_least "${least#*=}")" || rc=1
	done
	return "$rc"
}

check()
{
	local seconds rc=0

	seconds=$(param seconds)
	cat keep.log migrate.log
	# What KCSAN has done, on the kernel that has it
	cat /sys/kernel/debug/kcsan >kcsan.log 2>/dev/null || :
	grep WRONG fuzz.log | head -n 20 || :
	[ ! -e fuzz.failed ] || rc=1
	[ "$(sum_of keep.log wrong)" -eq 0 ] || rc=1
	is_enough || rc=1
	enough "samples of guests, the event that was open all the time" \
		"$(sum_of keep.log in-guest)" "$(at_least 600)" || rc=1
	enough "vCPU threads moved" "$(sum_of migrate.log moved)" "$(at_least 300)" || rc=1
	enough NMIs "$(awk '/NMI:/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' \
		/proc/interrupts)" "$(at_least 600)" || rc=1
	# Lockdep, once it has something to say, is off.
	[ "$(awk '/debug_locks:/ { print $2 }' /proc/lockdep_stats)" -eq 1 ] || rc=1
	return "$rc"
}
