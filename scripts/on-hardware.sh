#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# on-hardware.sh: what only hardware can show of the kernel's part, as one file of results.
#
#	on-hardware.sh -k KIT.tar.xz
#
# makes a kit of this script and of the programs, which are static, where the project is
# built. On a machine that runs a kernel with the series, where the kit was unpacked, as root:
#
#	on-hardware/on-hardware.sh [-o FILE] [-p PERF] [-n NMIS] [-r TIMES] [-u DIR]
#
#	-o FILE   the results (default: on-hardware-CPU-KERNEL-TIME.tar.xz in this directory)
#	-p PERF   a perf that was built from the series, for samples of the PMU and for the
#		  benchmark's cycles (default: the one in the PATH)
#	-n NMIS   for the NMI test (default: 100000); 0 leaves it out
#	-r TIMES  how many times the benchmark is run (default: 20)
#	-u DIR    KVM-unit-tests that are built, to be run, too. They are to be had at
#		  https://gitlab.com/kvm-unit-tests/kvm-unit-tests.git (./configure && make)
#
# It runs the KVM selftests of the series, the NMI test, samples of the PMU if there is one,
# and the benchmark. It takes 10 minutes without KVM-unit-tests, and changes nothing on the
# machine. For a machine to test with: nobody has asked for the NMIs that the NMI test sends.
# On a kernel without the series it gives the figures to compare with.
#
# The results tell of the kernel, the CPU, the microcode, KVM's parameters and the kernel's
# messages meanwhile, and of no names or addresses of the machine. No file is overwritten.

set -euo pipefail
export LC_ALL=C

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
NAME=on-hardware
TESTS=(perf_vcpu_sample_test perf_vcpu_timeline_test pmi_in_guest_test guest_callchain_test
	guest_callchain_record_test)
NMI_TEST=perf_vcpu_nmi_test
BENCHMARK=kvm-cost
# What it measures, each with what is open meanwhile: first what it is compared with
COSTS=(exit:none exit:timeline run:none run:timeline guest-sample:plain guest-sample:vcpu
	host-sample:plain host-sample:vcpu)
# For one test, in seconds; the NMI test ends by itself, a while before
LIMIT=900
# What perf counts of the benchmark
CYCLES=cycles,instructions,cycles:G,instructions:G
# Of the PMU's event: odd, so that it does not go with a loop
PMU_PERIOD=1000003
# What a selftest ends with that cannot be run here
SKIPPED=4

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf 'error: %s\n' "$*" >&2
	exit 1
}

usage()
{
	sed -n '3,/^$/ { s/^# \?//; p }' "${BASH_SOURCE[0]}"
}

new_file()
{
	[ ! -e "$1" ] || die "$1 exists: it is not overwritten"
	[ -d "$(dirname "$1")" ] || die "there is no directory $(dirname "$1")"
}

need_number()
{
	[[ $2 =~ ^[0-9]+$ ]] || die "-$1 $2: a number is wanted"
}

# pack FILE NAME: the directory $WORK/NAME, to a file that is not there yet
pack()
{
	tar -C "$WORK" --owner=0 --group=0 --numeric-owner -cJf "$WORK/packed" "$2"
	new_file "$1"
	cp --no-clobber "$WORK/packed" "$1"
	cmp -s "$WORK/packed" "$1" || die "$1 was written by somebody else meanwhile"
}

# --- the kit -----------------------------------------------------------------------

make_kit()
{
	local dir=$WORK/$NAME test

	[ -f "$HERE/common.sh" ] || die "a kit is made in a checkout of the project"
	# shellcheck source=scripts/common.sh
	. "$HERE/common.sh"
	trap clean_up EXIT
	"$HERE/build-selftests.sh"
	mkdir -p "$dir/programs"
	for test in "${TESTS[@]}" "$NMI_TEST"; do
		[ -x "$TREE/selftests/$test" ] || die "linux-$BASE has no selftest $test"
		strip -o "$dir/programs/$test" "$TREE/selftests/$test"
	done
	gcc -O2 -Wall -Wextra -Werror -static -pthread \
		-include "$TREE/src/include/uapi/linux/perf_event.h" \
		-o "$dir/programs/$BENCHMARK" "$HERE/lab/programs/$BENCHMARK.c"
	install "${BASH_SOURCE[0]}" "$dir/$NAME.sh"
	pack "$1" "$NAME"
	say "$1: unpack it on the machine, and run $NAME/$NAME.sh there, as root"
}

# --- the machine -------------------------------------------------------------------

# cpu_value NAME: of the first CPU
cpu_value()
{
	sed -n "/^$1[[:space:]]*: /{s///p;q}" /proc/cpuinfo
}

kernel_config()
{
	if [ -r /proc/config.gz ]; then
		zcat /proc/config.gz
	elif [ -r "/boot/config-$(uname -r)" ]; then
		cat "/boot/config-$(uname -r)"
	fi
}

# files GLOB...: those that can be read, as lines "name: value"
files()
{
	local file

	for file in "$@"; do
		[ ! -f "$file" ] || [ ! -r "$file" ] || printf '%s: %s\n' "$file" "$(tr '\n' ' ' <"$file")"
	done
}

describe()
{
	local value

	say "kernel: $(uname -r) $(uname -v)"
	for value in vendor_id 'cpu family' model 'model name' stepping microcode; do
		say "$value: $(cpu_value "$value")"
	done
	say "CPUs: $(getconf _NPROCESSORS_ONLN)"
	say "flags: $(cpu_value flags)"
	say "vmx flags: $(cpu_value 'vmx flags')"
	files /sys/module/kvm/parameters/* /sys/module/kvm_{intel,amd}/parameters/* \
		/sys/devices/system/cpu/vulnerabilities/* /sys/devices/system/cpu/smt/active \
		/sys/devices/system/clocksource/clocksource0/current_clocksource \
		/sys/devices/system/cpu/cpu0/cpufreq/scaling_{driver,governor} \
		/sys/bus/event_source/devices/cpu*/caps/* \
		/proc/sys/kernel/{perf_event_paranoid,perf_event_max_sample_rate,nmi_watchdog,tainted}
	kernel_config | grep -E '^CONFIG_(KVM|PREEMPT|HZ|JUMP_LABEL|STRICT_DEVMEM|X86_X2APIC|X86_FRED|LOCKDEP|PROVE_LOCKING|KASAN|KCSAN|PERF_GUEST)[A-Z_0-9]*=' ||
		say "its configuration is not to be had"
}

# --- what is run -------------------------------------------------------------------

# run TEST ARGUMENT...: results to TEST.tap and TEST.err, and a line for the summary
run()
{
	local test=$1 rc=0
	shift

	say "$test ..."
	timeout -k 10 "$LIMIT" "$HERE/programs/$test" "$@" >"$RESULTS/$test.tap" 2>"$RESULTS/$test.err" || rc=$?
	case $rc in
	0)	summary "$test: passed" ;;
	"$SKIPPED") summary "$test: skipped: $(grep -m 1 -i skip "$RESULTS/$test.tap" || :)" ;;
	124)	summary "$test: FAILED: had no end after $LIMIT s" ;;
	*)	summary "$test: FAILED ($rc): $(grep -c '^not ok' "$RESULTS/$test.tap" || :) of its checks" ;;
	esac
}

summary()
{
	say "$*" | tee -a "$RESULTS/summary.txt"
}

# Does PERF count cycles? With a mediated vPMU in use it may not.
has_pmu()
{
	[ -n "$PERF" ] && "$PERF" stat -e cycles -- true >/dev/null 2>&1
}

# The PMU's own NMIs, on top of the guest of a selftest: each sample in the guest has its CR3.
sample_pmu()
{
	local data=$WORK/pmu.data

	if ! has_pmu; then
		summary "PMU: skipped: no perf, or it counts no cycles"
		return
	fi
	if ! "$PERF" record -o /dev/null --sample-vcpu -e cpu-clock -- true >/dev/null 2>&1; then
		summary "PMU: skipped: this perf or this kernel has no --sample-vcpu"
		return
	fi
	say "PMU ..."
	"$PERF" record -q -o "$data" -e cycles -c "$PMU_PERIOD" --sample-vcpu -- \
		"$HERE/programs/${TESTS[0]}" -c content >"$RESULTS/pmu.tap" 2>"$RESULTS/pmu.err" || :
	"$PERF" script -i "$data" -F vcpu_ctx 2>>"$RESULTS/pmu.err" |
		sed 's/^ *//' | sort | uniq -c | sort -rn >"$RESULTS/pmu.txt" || :
	summary "PMU: $(awk '
		{ n += $1 }
		/ guest/ { guest += $1 }
		/ guest.* cr3 0x/ { cr3 += $1 }
		END { printf "%d samples, %d in the guest, %d of these with CR3", n, guest, cr3 }' "$RESULTS/pmu.txt")"
}

# One run of each after the other, so that a machine that gets warm does it to all of them.
benchmark()
{
	local cost time cpu stat=()

	cpu=$(($(getconf _NPROCESSORS_ONLN) - 1))
	say "benchmark, $TIMES times on CPU $cpu ..."
	! has_pmu || stat=("$PERF" stat -x ',' -e "$CYCLES" --append
		-o "$RESULTS/cost-cycles.csv" --)
	for ((time = 0; time < TIMES; time++)); do
		for cost in "${COSTS[@]}"; do
			[ ${#stat[@]} -eq 0 ] || say "# $cost" >>"$RESULTS/cost-cycles.csv"
			printf '%s %s\n' "$cost" "$(taskset -c "$cpu" ${stat[@]+"${stat[@]}"} \
				"$HERE/programs/$BENCHMARK" "${cost%:*}" "${cost#*:}" 2>>"$RESULTS/cost.err" || echo -)"
		done
	done >"$RESULTS/cost.txt"
	summary "ticks of the TSC, medians of $TIMES runs: the least of a run, and what came most often"
	for cost in "${COSTS[@]}"; do
		summary "$cost: $(median "$cost" 3) $(median "$cost" 5)"
	done
}

# median COST COLUMN
median()
{
	awk -v cost="$1" -v column="$2" '$1 == cost && NF > 2 { print $column }' "$RESULTS/cost.txt" |
		sort -n | awk '{ v[NR] = $1 } END { print (NR ? v[int((NR + 1) / 2)] : "-") }'
}

unit_tests()
{
	say "KVM-unit-tests ..."
	(cd "$UNIT_TESTS" && ACCEL=kvm ./run_tests.sh) >"$RESULTS/kvm-unit-tests.txt" 2>&1 || :
	summary "KVM-unit-tests: $(sed 's/\x1b\[[0-9;]*m//g' "$RESULTS/kvm-unit-tests.txt" |
		awk '/^(PASS|FAIL|SKIP) / { n[$1]++ }
			END { printf "%d passed, %d failed, %d skipped", n["PASS"], n["FAIL"], n["SKIP"] }')"
}

check_machine()
{
	local program

	[ "$(uname -m)" = x86_64 ] || die "this is for x86-64, and the machine is $(uname -m)"
	[ "$(id -u)" -eq 0 ] || die "takes root: for events of all kinds, and for /dev/mem in the NMI test"
	[ -c /dev/kvm ] || die "there is no /dev/kvm: load kvm_intel or kvm_amd, and have virtualization on in the firmware"
	(: <>/dev/kvm) 2>/dev/null || die "/dev/kvm cannot be opened: is virtualization on in the firmware, and does 'modprobe kvm_intel' or 'kvm_amd' say why not?"
	for program in tar xz taskset timeout awk; do
		command -v "$program" >/dev/null || die "there is no program $program here"
	done
	for program in "${TESTS[@]}" "$NMI_TEST" "$BENCHMARK"; do
		[ -x "$HERE/programs/$program" ] ||
			die "there is no $HERE/programs/$program: run this where a kit was unpacked (-k makes one; -h)"
	done
	[ -z "$UNIT_TESTS" ] || [ -x "$UNIT_TESTS/run_tests.sh" ] || die "there is no $UNIT_TESTS/run_tests.sh"
	[ -z "$PERF" ] || "$PERF" --version >/dev/null 2>&1 || die "$PERF does not run"
}

measure()
{
	local mark="$NAME: begin $$" name cpu

	cpu=$(cpu_value vendor_id)-$(cpu_value 'cpu family')-$(cpu_value model)-$(cpu_value stepping)
	name=$NAME-$cpu-$(uname -r)-$(date -u +%Y%m%dT%H%M%S)
	: "${OUT:=$PWD/$name.tar.xz}"
	new_file "$OUT"
	check_machine
	RESULTS=$WORK/$name
	mkdir "$RESULTS"

	describe >"$RESULTS/machine.txt"
	echo "$mark" >/dev/kmsg
	for test in "${TESTS[@]}"; do
		run "$test"
	done
	sample_pmu
	benchmark
	if [ "$NMIS" -gt 0 ]; then
		run "$NMI_TEST" -n "$NMIS" -s $((LIMIT - 60))
	else
		summary "$NMI_TEST: left out"
	fi
	[ -z "$UNIT_TESTS" ] || unit_tests
	dmesg | sed "1,/$mark/d" >"$RESULTS/kernel.log" || :
	files /proc/sys/kernel/tainted >>"$RESULTS/machine.txt"
	summary "kernel: $(grep -cE 'WARNING:|BUG|Oops|KASAN|UBSAN|deadlock|unchecked MSR' "$RESULTS/kernel.log" || :) complaints in $(wc -l <"$RESULTS/kernel.log") lines of its log"
	pack "$OUT" "$name"
	say "$OUT"
}

clean_up()
{
	rm -rf "$WORK"
}

KIT=
OUT=
PERF=$(command -v perf || :)
NMIS=100000
TIMES=20
UNIT_TESTS=
case ${1:-} in
--help)
	usage
	exit 0
	;;
esac
while getopts k:o:p:n:r:u:h option; do
	case $option in
	k)	KIT=$OPTARG ;;
	o)	OUT=$OPTARG ;;
	p)	PERF=$OPTARG ;;
	n)	need_number n "$OPTARG"; NMIS=$OPTARG ;;
	r)	need_number r "$OPTARG"; TIMES=$OPTARG ;;
	u)	UNIT_TESTS=$OPTARG ;;
	h)	usage; exit 0 ;;
	*)	die "$0 -h says how it is called" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 0 ] || die "'$1' is no option: $0 -h says how it is called"

WORK=$(mktemp -d)
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
if [ -n "$KIT" ]; then
	new_file "$KIT"
	make_kit "$KIT"
else
	measure
fi
