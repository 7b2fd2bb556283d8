#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Hosts with kernels as Debian has them, without the series: the scenarios stock-bpf and
# stock-bpf-6.1.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

PERF=$MAIN_TREE/perf/perf

# value EXPRESSION: see report-value
value()
{
	"$TESTS/report-value" "$1" "$TMP/json"
}
report()
{
	"$PERF" kvm unified report -f -i perf.data --guest-root "$MAIN_TREE/guest/root" "$@"
}
# cpu_share PID: percent of its user time in that of both workload processes, by the guest's word
cpu_share()
{
	"$TOP/scripts/lab/cpu-shares" recorded user | awk -v pid="$1" '$1 == pid { print $2 }'
}
# sample_share PID: the same by the report
sample_share()
{
	"$TOP/scripts/lab/report-shares" "$TMP/table" guest1 shor | awk -v pid="$1" '$1 == pid { print $2 }'
}
# toffoli_pids: how many processes have rows of that function
toffoli_pids()
{
	awk '$3 ~ /^quantum_toffoli/ && $4 ~ /^libquantum/ { print $NF }' "$TMP/table" | sort -u | wc -l
}
# refused NAME MESSAGE
refused()
{
	cat "$1.out"
	grep -q -- "$2" "$1.out" && grep -qE '^exit code [1-9]' "$1.out"
}

while read -r -u 3 scenario release; do
	lab_runs "$scenario"
	cd "$LAB_OUT/$scenario" || { done_testing; }
	cat record.err >&2
	ok "$scenario: the kernel is Debian's" grep -qE "^${release/./\\.}\..*-amd64\$" release
	ok "$scenario: record has chosen BPF" grep -q \
		'^This kernel has no PERF_SAMPLE_VCPU: a BPF program tells the vCPU and CR3' record.err
	report --format json >"$TMP/json"
	report --format table --percent-limit 0 >"$TMP/table" 2>/dev/null
	ok "$scenario: all time is there once" "$TESTS/report-sums" "$TMP/json"
	ok "$scenario: JSON says how" test "$(value 'measurement()["kernel_mode"]')" = bpf
	ok "$scenario: nothing is lost" test "$(value 'measurement()["lost"]')" = 0
	ok "$scenario: so does the report" grep -q '^# a BPF program has told the vCPUs' "$TMP/table"
	ok "$scenario: quantum_toffoli in libquantum, under two guest pids" \
		test "$(toffoli_pids)" -eq 2
	at_least 8000 "$scenario: user samples of the guest" "$(value 'guest("guest1")["user_samples"]')"
	at_least 99 "$scenario: ... whose process is named, %" "$(value \
		'100 * guest("guest1")["user_samples_named"] / guest("guest1")["user_samples"]')"
	pids=$(sed -n 's/^cpu pid=\([0-9]*\) .*/\1/p' recorded/guest1-cpu.after)
	ok "$scenario: two workload processes" test "$(wc -w <<<"$pids")" -eq 2
	for pid in $pids; do
		within 1 "$scenario: process $pid, of both, by the guest's word and by samples, %" \
			"$(cpu_share "$pid")" "$(sample_share "$pid")"
		ok "$scenario: process $pid: not just half" \
			test "$(sample_share "$pid" | cut -d. -f1)" -ne 50
	done
	ok "$scenario: --kernel-mode series is refused" refused series \
		'This kernel has no PERF_SAMPLE_VCPU'
	ok "$scenario: --kernel-mode plain records" grep -qx 'exit code 0' plain.out
	ok "$scenario: a program while it records" test "$(<programs.during)" -gt "$(<programs.before)"
	ok "$scenario: none after it was killed" test "$(<programs.after)" -eq "$(<programs.before)"
done 3<<-END
	stock-bpf 6.12
	stock-bpf-6.1 6.1
END
done_testing
