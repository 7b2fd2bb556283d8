#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# lab.sh SCENARIO: boot the patched kernel as a KVM host under emulation, run
# the scenario's guests in it, and leave the results in build/lab/SCENARIO/. With BASE=6.12 the
# host has that kernel, the perf is mainline's, and the results are in build/lab-6.12/SCENARIO/.
#
# A scenario may set HOST_CPUS, HOST_MEM (MiB), HOST_CMDLINE, LIMIT (seconds of
# wall time, or up to four times as many where others wait for the CPUs),
# SELFTESTS (series, base: the programs of scripts/build-selftests.sh are in
# $SELFTESTS_DIR), HOST_PROGRAMS (of scripts/lab/programs, to be found in the
# PATH), and define the function prepare, which puts what the inside needs
# into the directory of the results, before the boot; scripts/lab/host/run says
# what it defines for the inside. EMULATOR is qemu, whose host has AMD's SVM, or
# bochs: Intel's VMX, and no more files and programs than lab/bochs.sh gives it;
# HOST_QEMU=1: QEMU and Linux as its guest are among them. For QEMU as the
# emulator there are QEMU_ACCEL, QEMU_CPU, QEMU_ARGS, NMIS_PER_SECOND,
# HOST_VARIANT (of the kernel, see build-kernel.sh), HOST_DEBIAN (a kernel of
# Debian's instead, see lab/host-debian.sh), KCSAN_ASKED_FOR (functions whose
# races count, a pattern; all) and CLOCK. CLOCK=virtual: the host's time is that
# of the instructions that it and its guests execute, 2^CLOCK_SHIFT ns for each
# (by default 4), so that a build machine that is slow, or has other work, does
# not show.
#
# LAB_CLOCK=virtual: scenarios with ANY_CLOCK=1, which otherwise are on this machine's clock to be
# looked at, are on a virtual one to be tested: there, what they measure is the
# same on a busy machine. Their CPUs take turns (see two-cpus.sh).
#
# SCENARIO is the name of a file in scripts/lab/scenarios, or the path of such a
# file elsewhere. For development LAB_KERNEL and LAB_PERF name a bzImage and a
# perf to use instead of the ones from the series.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

LAB=$TOP/scripts/lab
SPLAT='WARNING:|\bBUG\b|Oops|Kernel panic|rcu.*(stall|detected)|soft lockup|hung task|general protection|KASAN|UBSAN|possible .*deadlock|unchecked MSR'
# In the words of lockdep, SLUB, list and reference count checks, and the sanitizers that need
# another build.
SPLAT+='|INFO: (task|lockdep|trying|rcu|possible)|turning off the locking|DEADLOCK|KCSAN|KMSAN|list_(add|del).* corruption|refcount_t:|stack is corrupted|double fault|nobody cared'

# What watch-emulator.py needs, before the time is over: twice a second to look, and for an NMI
WATCH_SECONDS=30

list_scenarios()
{
	local file

	for file in "$LAB"/scenarios/*.sh; do
		printf '  %-16s %s\n' "$(basename "$file" .sh)" "$(sed -n 's/^# about: //p' "$file")"
	done
}

usage()
{
	printf '%s\nScenarios:\n%s\n' "$1" "$(list_scenarios)" >&2
	exit 2
}

scenario_file()
{
	case $1 in
	*/*)	[ -f "$1" ] && realpath "$1" ;;
	*)	[ -f "$LAB/scenarios/$1.sh" ] && echo "$LAB/scenarios/$1.sh" ;;
	esac
}

# One value out of the scenario, for what has to be known outside.
scenario_value()
{
	# shellcheck disable=SC2016 # for the inner shell
	bash -c '. "$1" >/dev/null; printf %s "${!2:-$3}"' scenario "$FILE" "$1" "$2"
}

# scenario_values NAME: what its guests have for NAME, each once.
scenario_values()
{
	# shellcheck disable=SC2016 # for the inner shell
	bash -c '. "$1" >/dev/null; for guest in $GUESTS; do name=${guest}_$2; printf "%s\n" ${!name-}; done' \
		scenario "$FILE" "$1" | sort -u
}

share()
{
	printf 'local,path=%s,mount_tag=%s,security_model=none,multidevs=remap%s' "$1" "$2" "$3"
}

# beside_emulator COMMAND ARGUMENT: once its socket is there. Ends with the emulator.
beside_emulator()
{
	while [ ! -S "$SOCKETS/qmp" ] || [ ! -f "$OUT/host-console.log" ]; do
		sleep 0.2
	done
	"$LAB/$1" "$SOCKETS/qmp" "$OUT/host-console.log" "$2" || :
}

# preload NAME: into the emulator, see there
preload()
{
	gcc -shared -fPIC -O2 -Wall -Wextra -Werror -o "$SOCKETS/$1.so" "$LAB/$1.c" || return
	PRELOADED+=" $SOCKETS/$1.so"
}

boot_qemu()
{
	local perf_dir nmis args tsc_khz clock beside='' rc=0 accel=tcg,thread=multi cpu=max

	clock=$(scenario_value CLOCK '')
	if [ "${LAB_CLOCK:-}" = virtual ] && [ "$(scenario_value ANY_CLOCK 0)" -eq 1 ]; then
		clock=virtual cpu=max,-hypervisor
	fi
	perf_dir=$(dirname "$PERF")
	nmis=$(scenario_value NMIS_PER_SECOND 0)
	rm -f "$SOCKETS/qmp"
	# That has one client at a time.
	if [ "$nmis" -gt 0 ]; then
		beside_emulator inject-nmi.py "$nmis" &
		beside=$!
	elif [ "$LIMIT" -gt "$WATCH_SECONDS" ]; then
		beside_emulator watch-emulator.py $((LIMIT - WATCH_SECONDS)) >"$OUT/emulator.log" &
		beside=$!
	fi
	read -r -a args < <(scenario_value QEMU_ARGS '' && echo)
	[ -z "$SELFTESTS" ] ||
		args+=(-virtfs "$(share "$SELFTESTS" selftests ,readonly=on)")
	PRELOADED=
	preload emulator-fix || return
	gcc -O2 -Wall -Wextra -Werror -o "$SOCKETS/tsc-khz" "$LAB/tsc-khz.c"
	tsc_khz=$("$SOCKETS/tsc-khz")
	# With a virtual clock, the counter counts its ns. An idle host's clock goes on in real time.
	if [ "$clock" = virtual ]; then
		tsc_khz=1000000 accel=tcg,thread=single
		args+=(-icount "shift=$(scenario_value CLOCK_SHIFT 2),sleep=on")
		preload emulator-clock || return
	fi
	# The other machine's ACPI tables have a method for interrupts that takes a tenth of a second
	# for each device.
	# Without HPET and PM timer there is nothing that the counter's frequency could be measured
	# against anew, which goes wrong where the emulator does not get a CPU meanwhile; the same
	# with the first timer, which the kernel waits for: without it, it panics.
	timeout --foreground -k 5 "$LIMIT" \
		env LD_PRELOAD="$PRELOADED" EMULATOR_CPUS="$(scenario_value HOST_CPUS 2)" \
		qemu-system-x86_64 -machine q35 \
		-accel "$(scenario_value QEMU_ACCEL $accel)" \
		-cpu "$(scenario_value QEMU_CPU $cpu)" \
		-smp "$(scenario_value HOST_CPUS 2)" -m "$(scenario_value HOST_MEM 3072)" \
		-nodefaults -no-user-config -display none -no-reboot \
		-serial "file:$OUT/host-console.log" \
		-qmp "unix:$SOCKETS/qmp,server=on,wait=off" \
		-kernel "$KERNEL" ${INITRD:+-initrd "$INITRD"} \
		-virtfs "$(share / root ,readonly=on)" \
		-virtfs "$(share "$TOP" top ,readonly=on)" \
		-virtfs "$(share "$MAIN_TREE/guest" guest ,readonly=on)" \
		-virtfs "$(share "$perf_dir" perf ,readonly=on)" \
		-virtfs "$(share "$(dirname "$FILE")" scenario ,readonly=on)" \
		-virtfs "$(share "$SRC" src ,readonly=on)" \
		-virtfs "$(share "$BUILD" build ,readonly=on)" \
		-virtfs "$(share "$OUT" out '')" "${args[@]}" \
		-append "console=ttyS0 root=root rootfstype=9p rootflags=trans=virtio,version=9p2000.L,msize=262144,cache=loose ro init=$LAB/host/init hpet=disable pmtmr=0 no_timer_check tsc=reliable tsc_early_khz=$tsc_khz panic=-1 loglevel=5 kvmu.scenario=$(basename "$FILE") kvmu.perf=$(basename "$PERF") $(scenario_value HOST_CMDLINE '')" || rc=$?
	# It may wait for an emulator that has not come up.
	[ -z "$beside" ] || kill "$beside" 2>/dev/null || :
	return "$rc"
}

# With the series' uapi header, which the build machine has no copy of. NAME.bpf.c is the BPF part of one.
build_programs()
{
	local name libbpf=$MAIN_TREE/perf/libbpf libs

	mkdir -p "$OUT/bin"
	for name in $(scenario_value HOST_PROGRAMS ''); do
		libs=()
		if [ -f "$LAB/programs/$name.bpf.c" ]; then
			# perf's own
			libs=(-I"$libbpf/include" "$libbpf/libbpf.a" -lelf -lz)
			clang -target bpf -O2 -g -Wall -Wextra -Werror -I"$libbpf/include" \
				-I"/usr/include/$(gcc -dumpmachine)" \
				-c -o "$OUT/bin/$name.bpf.o" "$LAB/programs/$name.bpf.c" || return
		fi
		gcc -O2 -g -Wall -Wextra -Werror -static -pthread \
			-include "$TREE/src/include/uapi/linux/perf_event.h" \
			-o "$OUT/bin/$name" "$LAB/programs/$name.c" "${libs[@]}" || return
	done
}

# A CPU that takes no NMI: the kernel has found it, or there is none that could
emulator_hangs()
{
	grep -q "CPUS still haven't responded to the NMI" "$OUT/host-console.log" ||
		grep -qs '^no CPU of the emulator takes an NMI' "$OUT/emulator.log"
}

# skewed: perf was ended by an instruction that is none of it. The host's kernel has the place in the
# file; there, a trap that the compiler has made would be ud2 (0f 0b).
skewed()
{
	local place bytes

	place=$(sed -n 's/.*traps: perf\[[0-9]*\] trap invalid opcode .* in perf\[\([0-9a-f]*\),.*/\1/p' \
		"$OUT/host-dmesg.log" 2>/dev/null | head -n 1)
	[ -n "$place" ] || return
	bytes=$(od -An -tx1 -j $((16#$place)) -N 2 "$PERF") && [ "$bytes" != ' 0f 0b' ]
}

# What the emulator has done wrong is done again, and said: the host's init answers
# 75 if its clock came out wrong, and host/run 76 if a guest has ended or hangs, which
# happens in emulation only (see emulator-fix.c; not all of it is understood). A VM of tiny-vmm
# is such a guest, too.
#
# So is a boot in which a CPU hangs that takes no NMI: VMRUN sets GIF, so that there is
# nothing that a host's kernel could do to have a CPU stay in a guest for it. And so is one that
# ends with a reset (seen once, cause not known): a kernel that panics says so before. And so is one
# in which perf went on in the middle of an instruction (seen once, cause not known). Each is said in
# the test's output.
boot_in_time()
{
	local try rc before file

	before=" $(cd "$OUT" && printf '%s ' *)"
	for try in 1 2 3; do
		# What the boot before has left, and nothing that was there by then
		for file in "$OUT"/*; do
			[[ $before == *" ${file##*/} "* ]] || rm -rf "$file"
		done
		rc=0
		"boot_$EMULATOR" || rc=$?
		if [ "$rc" -eq 124 ] && emulator_hangs; then
			cat "$OUT/emulator.log" 2>/dev/null || :
			echo "boot $try: a CPU of the emulator takes no NMI any more"
			continue
		fi
		[ "$rc" -eq 0 ] || return "$rc"
		if [ ! -f "$OUT/exit-code" ] && ! grep -qE "$SPLAT" "$OUT/host-console.log"; then
			echo "boot $try: the emulated host was reset, with no word on its console"
			continue
		fi
		case $(cat "$OUT/exit-code" 2>/dev/null) in
		75)	echo "boot $try: the emulated clock was measured wrong, this machine is busy" ;;
		76)	echo "boot $try: $(grep -h 'has ended by itself\|does not answer' "$OUT/host-console.log")" ;;
		*)
			skewed || return 0
			echo "boot $try: the emulator has gone on in the middle of an instruction: $(grep -h -m 1 \
				'trap invalid opcode' "$OUT/host-dmesg.log")"
			;;
		esac
	done
}

# As the scenario's own functions have it inside.
prepare()
{
	# shellcheck disable=SC2016 # for the inner shell
	OUT=$OUT LAB=$LAB GUEST_DIR=$MAIN_TREE/guest bash -euc '. "$1"
		cd "$OUT"
		! declare -F prepare >/dev/null || prepare' scenario "$FILE"
}

# waiting_for_cpu: how many tasks there are for each CPU of this machine, 1 to 4: an emulator that
# has to share may take so many times as long, and does not hang.
waiting_for_cpu()
{
	awk -v cpus="$(nproc)" '{
		tasks = int($1 / cpus + 0.5)
		print (tasks < 1 ? 1 : tasks > 4 ? 4 : tasks)
	}' /proc/loadavg
}

# What the host's kernel has complained of. Of races, which it has more of than those of the
# series, only those that a scenario with KCSAN asks for.
complaints()
{
	grep -hE "$SPLAT" "$OUT/host-console.log" "$OUT/host-dmesg.log" |
		awk -v asked="$(scenario_value KCSAN_ASKED_FOR .)" \
			'/kcsan: .*use CONFIG_KCSAN_STRICT=y/ { next }	# its greeting
			!/BUG: KCSAN:/ || $0 ~ asked' |
		grep .
}

run()
{
	local rc=0 code

	prepare || return
	build_programs || return
	boot_in_time || rc=$?
	echo "--- the host's console ---"
	cat "$OUT/host-console.log" || :
	if [ "$rc" -eq 124 ]; then
		cat "$OUT/emulator.log" 2>/dev/null || :
		echo "the lab's host did not power off in $LIMIT s"
		grep '^lab: ' "$OUT/host-console.log" | tail -n 3
	fi
	[ "$rc" -eq 0 ] || return "$rc"
	if complaints; then
		echo "the lab's host kernel complained (above)"
		return 1
	fi
	code=$(cat "$OUT/exit-code" 2>/dev/null) || {
		echo "the lab's host ended without an exit code"
		return 1
	}
	if [ "$code" -ne 0 ]; then
		# What a guest that did not come up had to say.
		tail -n 20 "$OUT"/*-console.log "$OUT"/*-qemu.log "$OUT/host-stderr.log" 2>/dev/null || :
		echo "the scenario's exit code is $code"
	fi
	return "$code"
}

[ $# -eq 1 ] || usage "usage: lab.sh SCENARIO (make lab SCENARIO=name)"
FILE=$(scenario_file "$1") || usage "There is no scenario '$1'."
NAME=$(basename "$FILE" .sh)
OUT=$LAB_OUT/$NAME
EMULATOR=$(scenario_value EMULATOR qemu)
case $EMULATOR in
qemu)	;;
bochs)
	# shellcheck source=scripts/lab/bochs.sh
	. "$LAB/bochs.sh"
	;;
*)	die "$FILE: there is no emulator '$EMULATOR' (qemu bochs)" ;;
esac

lock_cache
GUEST_KERNELS=$(scenario_values KERNEL)
KERNEL_VARIANT=$(scenario_value HOST_VARIANT '')
export GUEST_KERNELS KERNEL_VARIANT
INITRD=
DEBIAN=$(scenario_value HOST_DEBIAN '')
if [ -n "$DEBIAN" ]; then
	# So that none is built
	export LAB_KERNEL=$MAIN_TREE/host-debian-$DEBIAN/vmlinuz
	INITRD=$MAIN_TREE/host-debian-$DEBIAN/initrd
fi
EXTRA=$(scenario_values EXTRA)
if [ "$EXTRA" = bare ]; then
	"$TOP/scripts/setup.sh" bare
else
	"$TOP/scripts/setup.sh"
fi
# After the source, which is unpacked into a new directory
[ -z "$DEBIAN" ] || "$LAB/host-debian.sh" "$DEBIAN"
[ "$EMULATOR" != bochs ] || "$TOP/scripts/deps.sh" bochs
# shellcheck disable=SC2086 # a list
"$LAB/guest-extra.sh" $EXTRA
SELFTESTS=$(scenario_value SELFTESTS '')
case $SELFTESTS in
series)	"$TOP/scripts/build-selftests.sh"; SELFTESTS=$TREE/selftests ;;
base)	"$TOP/scripts/build-selftests.sh" base; SELFTESTS=$TREE/selftests-base/obj ;;
esac
BUILD=$TREE/host${KERNEL_VARIANT:+-$KERNEL_VARIANT}
KERNEL=${LAB_KERNEL:-$BUILD/arch/x86/boot/bzImage}
PERF=${LAB_PERF:-$MAIN_TREE/perf/perf}
# Nothing of the tree is needed where kernel and perf were brought along.
SRC=$MAIN_TREE/src
[ -d "$SRC" ] || SRC=$MAIN_TREE/guest/root
[ -d "$BUILD" ] || BUILD=$MAIN_TREE/guest/root
case $TOP$TREE$PERF in
*[\ ,]*)	die "the lab cannot live with a space or a comma in a path: $TOP, $TREE, $PERF" ;;
esac
LIMIT=$((${LAB_LIMIT:-$(scenario_value LIMIT 600)} * $(waiting_for_cpu)))
rm -rf "$OUT"
mkdir -p "$OUT"
# For who writes figures down
code_version >"$OUT/code"
# A socket's path has room for 107 characters, a checkout's may have more.
SOCKETS=$(mktemp -d)
trap 'rm -rf "$SOCKETS"; on_exit' EXIT
step "lab: $NAME" "$OUT/lab.log" run
say "    results: ${OUT#"$TOP"/}/"
