#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh: time and memory of the report, beside those of perf report, on profiles of many
# samples, vCPUs, tasks and events. They are made of the demo's, one after the other. Prints a
# table, and what should hold and does or does not; ends with 1 if something does not. What it has
# found becomes a section of Documentation/evaluation.md.
#
# BENCH_SAMPLES: sizes, in millions of samples (0.1 1 4 16 64). BENCH_SHAPES: what there is more
# of (2-vcpus 64-vcpus 20000-tasks port-io 200-vms 2-cpus 64-cpus 256-cpus). BENCH_TIMES: runs of
# each (3). With one of them, or BASE=6.12: no document, what was found is in build/bench/
# (build/bench-6.12/) alone.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	print_help
	exit 0
	;;
esac

BENCH=$TOP/scripts/bench
PROFILE=$LAB_OUT/libquantum/perf.data
# With 24 VMs
FLEET=$LAB_OUT/fleet/fleet.data
# Of one CPU, with many events of its vCPUs
BUSY=$LAB_OUT/tiny-vmm/perf.data
DIR=$TREE/bench
OUT=$TOP/build/bench
[ "$BASE" = "$MAINLINE" ] || OUT+=-$BASE
EVALUATION=$TOP/Documentation/evaluation

WHAT=() QUICK=()
[ -z "${BENCH_SAMPLES+set}" ] || WHAT+=(--samples "$BENCH_SAMPLES")
[ -z "${BENCH_SHAPES+set}" ] || WHAT+=(--shapes "$BENCH_SHAPES")
[ -z "${BENCH_TIMES+set}" ] || WHAT+=(--times "$BENCH_TIMES")
[ "${#WHAT[@]}" -eq 0 ] || QUICK=(--quick)

# What was run, and on what, a line each
versions()
{
	echo "this project $(code_version)"
	sed -n 's/^model name\t*: //p' /proc/cpuinfo | sort | uniq -c | sed 's/^ *\([0-9]*\)/\1 CPUs,/'
	awk '/^MemTotal:/ { printf "%.0f GiB of memory\n", $2 / 1024 / 1024 }' /proc/meminfo
	echo "Linux $(uname -r)"
}

lock_cache
mb=$("$BENCH/run.py" "${WHAT[@]}" --space) || { KVMU_SAID_WHY=1; exit 1; }
need_space "$TREE" "$mb"
"$TOP/scripts/deps.sh" bench
[ -d "$PROFILE" ] || "$TOP/scripts/lab.sh" libquantum
[[ " ${BENCH_SHAPES-200-vms} " != *" 200-vms "* ]] || [ -d "$FLEET" ] || "$TOP/scripts/lab.sh" fleet
[[ " ${BENCH_SHAPES-2-cpus} " != *-cpus* ]] || [ -d "$BUSY" ] || "$TOP/scripts/lab.sh" tiny-vmm
"$TOP/scripts/build-perf.sh"
trap 'rm -rf "$DIR"; on_exit' EXIT
mkdir -p "$DIR" "$OUT"
KVMU_SAID_WHY=1
"$BENCH/run.py" "${WHAT[@]}" --profile "$PROFILE" --fleet "$FLEET" --busy "$BUSY" --work "$DIR" \
	--tree "$MAIN_TREE" --vmlinux "$TREE/host/vmlinux" --output "$OUT/rows.json" | tee "$OUT/bench.txt"
"$BENCH/find.py" "$OUT/rows.json" "${QUICK[@]}" --versions "$(versions)" --output "$OUT/bench.json"
if [ "${#QUICK[@]}" -eq 0 ] && [ "$BASE" = "$MAINLINE" ]; then
	"$TOP/scripts/evaluation/document.py" "$EVALUATION/figures.json" "$EVALUATION.md" \
		"$OUT/bench.json"
	say "written: Documentation/evaluation.md"
fi
"$TOP/scripts/evaluation/evaluate.py" properties --output "$OUT/bench.json"
