#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Hosts with kernels as Debian has them, without the series: the scenarios stock-bpf and
# stock-bpf-6.1.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
# shellcheck source=scripts/tests/schedstat.sh
. "$TESTS/schedstat.sh"
# shellcheck source=scripts/tests/current-tasks.sh
. "$TESTS/current-tasks.sh"
# shellcheck source=scripts/tests/names.sh
. "$TESTS/names.sh"
# shellcheck source=scripts/tests/overhead.sh
. "$TESTS/overhead.sh"

PERF=$MAIN_TREE/perf/perf

# report NAME OPTION...: of NAME.data
report()
{
	"$PERF" kvm unified report -f -i "$1.data" --guest-root "$MAIN_TREE/guest/root" "${@:2}"
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
# vcpu_time VM COLUMN: percent of the time between the brackets that the thread of its vCPU has had a
# CPU (5), or waited for one (6), by the scheduler: see lab/bracket.py
vcpu_time()
{
	awk -v vm="$1" -v column="$2" '
		$1 != vm || $3 == "-" { next }
		FILENAME ~ /before$/ { from = $4; had = $column; next }
		{ printf "%.3f", 100 * ($column - had) / ($4 - from) }' \
		all-vms-threads.before all-vms-threads.after
}

# An instruction takes so long on the scenario's virtual clock: 2^CLOCK_SHIFT.
INSTRUCTION_NS=4
# instructions NAME: of a run of the program on samples
instructions()
{
	awk -v name="$1" -v ns=$INSTRUCTION_NS '$1 == name { print $2 ? $3 / $2 / ns : "" }' cost.txt
}

BRIEF=$MAIN_TREE/guest/unstripped/brief
export HOME=$TMP/home
mkdir -p "$HOME"
"$PERF" buildid-cache --add "$BRIEF" </dev/null >&2

lab_runs same-guest
cd "$LAB_OUT/same-guest" || { done_testing; }
report steady --format json >"$TMP/same.json"
while read -r -u 3 scenario release; do
	lab_runs "$scenario"
	cd "$LAB_OUT/$scenario" || { done_testing; }
	cat record.err >&2
	ok "$scenario: the kernel is Debian's" grep -qE "^${release/./\\.}\..*-amd64\$" release
	ok "$scenario: record has chosen BPF" grep -q \
		'^This kernel has no PERF_SAMPLE_VCPU: a BPF program tells the vCPU and CR3' record.err
	report perf --format json >"$TMP/perf.json"
	report perf --format table --percent-limit 0 >"$TMP/table" 2>/dev/null
	ok "$scenario: all time is there once" "$TESTS/report-sums.py" "$TMP/perf.json"
	ok "$scenario: JSON says how" test "$(value 'measurement()["kernel_mode"]' perf)" = bpf
	ok "$scenario: nothing is lost" test "$(value 'measurement()["lost"]' perf)" = 0
	ok "$scenario: so does the report" grep -q '^# a BPF program has told the vCPUs' "$TMP/table"
	ok "$scenario: quantum_toffoli in libquantum, under two guest pids" \
		test "$(toffoli_pids)" -eq 2
	at_least 8000 "$scenario: user samples of the guest" "$(value 'guest("guest1")["user_samples"]' perf)"
	at_least 99 "$scenario: ... whose process is named, %" "$(value \
		'100 * guest("guest1")["user_samples_named"] / guest("guest1")["user_samples"]' perf)"
	check_tasks "$scenario: current tasks" perf.data 99 own
	names_of storm
	ok "$scenario: storm: at least 50 processes a second" is storm rate 50
	ok "$scenario: storm: there are samples enough" is storm busy 2000
	ok "$scenario: storm: none has a wrong name" is storm wrong 0 0
	ok "$scenario: storm: or that of another process of the program" is storm strangers 0 0
	at_most 0.1 "$scenario: storm: samples that have the name, and a stand-in for the pid, %" "$(awk \
		'{ n[$1] = $2 } END { print n["busy"] ? 100 * n["standin"] / n["busy"] : "" }' "$TMP/storm.names")"
	at_least 99 "$scenario: storm: user samples that have a process, %" "$(
		report storm --format json >"$TMP/storm.json"
		value '100 * guest("guest1")["user_samples_named"] / guest("guest1")["user_samples"]' storm)"
	at_most 2000 "$scenario: a sample of the guest: instructions of the program" "$(instructions guest)"
	at_most 2000 "$scenario: ... with the guest's current task" "$(instructions guest-tasks)"
	at_most 100 "$scenario: a sample while no guest runs: instructions of it" "$(instructions host)"
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
	ok "$scenario: no BTF: refused" refused no-btf \
		'^No --kernel-mode bpf here: this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)'
	ok "$scenario: ... and if BPF was not asked for" refused no-btf-auto \
		'^Nor can a BPF program: this kernel does not describe its types'
	ok "$scenario: no BPF: refused" refused no-bpf \
		'^No --kernel-mode bpf here: .*CONFIG_BPF_SYSCALL'
	ok "$scenario: ... and if BPF was not asked for" refused no-bpf-auto \
		'^Nor can a BPF program: .*CONFIG_BPF_SYSCALL'
	# perf's own filter needs bpf_cast_to_kern_ctx(), which is of 6.2.
	[ "$release" = 6.1 ] ||
		ok "$scenario: an event with a filter: refused" refused filter \
			'^Event cpu-clock has a BPF program already, as with --filter: no --bpf-vcpu then'
	ok "$scenario: a task's event: refused" refused task '^--bpf-vcpu wants whole CPUs'
	ok "$scenario: nobody: refused" refused nobody '^No permission to profile the whole host'
	ok "$scenario: in lockdown: refused" refused locked \
		'^No --kernel-mode bpf here: the kernel is locked down (confidentiality)'
	ok "$scenario: --kernel-mode plain records" grep -qx 'exit code 0' plain.out
	ok "$scenario: a program while it records" test "$(<programs.during)" -gt "$(<programs.before)"
	report all --format json >"$TMP/all.json"
	ok "$scenario: states: all time is there once" "$TESTS/report-sums.py" "$TMP/all.json"
	ok "$scenario: states: in timeline mode" \
		test "$(value 'measurement()["mode"]' all)" = timeline
	ok "$scenario: states: no event is lost" test "$(value 'measurement()["timeline_lost"]' all)" = 0
	for vm in one two idler; do
		within 1 "$scenario: $vm: steal, and what its thread waited on a runqueue, %" \
			"$(waited all "$vm")" "$(vcpu_time "$vm" 6)"
	done
	at_least 20 "$scenario: one: time that VM two had its CPU, %" \
		"$(value "rows('one', '[steal] (on VM two:')" all)"
	within 1 "$scenario: idler: halted, and what its thread neither had a CPU nor waited for one, %" \
		"$(value "share('idler', 'IDLE') + share('idler', 'halt-poll')" all)" \
		"$(awk -v ran="$(vcpu_time idler 5)" -v waited="$(vcpu_time idler 6)" \
			'BEGIN { print 100 - ran - waited }')"
	report steady --format json >"$TMP/steady.json"
	"$TESTS/same-shares.py" "$TMP/steady.json" "$TMP/same.json" guest1 >"$TMP/shares"
	sed 's/^/# /' "$TMP/shares"
	at_least 5 "$scenario: functions of the guest" "$(wc -l <"$TMP/shares")"
	at_most 1 "$scenario: points that one is away from that of the same guest on a host with the series" \
		"$(head -n 1 "$TMP/shares" | cut -d' ' -f1)"
	ok "$scenario: none after it was killed" test "$(<programs.after)" -eq "$(<programs.before)"
done 3<<-END
	stock-bpf 6.12
	stock-bpf-6.1 6.1
END

# What a new user sees
ok "KERNEL_MODE=bpf make demo" env KERNEL_MODE=bpf "$TOP/scripts/demo.sh"
cp "$LAB_OUT/stock-demo/report.txt" "$TMP/table"
ok "demo: quantum_toffoli in libquantum, under two guest pids" test "$(toffoli_pids)" -eq 2
no_collector()
{
	! cpio -it --quiet <"$MAIN_TREE/guest/initrd-bare" | grep -x usr/bin/perf
}
ok "demo: there is no perf in its guest" no_collector

# What it costs a guest, on a host with the series, which is made to do without
lab_runs overhead-bpf
cd "$LAB_OUT/overhead-bpf" || { done_testing; }
PERIOD=$(period)
# Percent of a CPU that looks at a guest may take: guest-memory.c. This host has one CPU.
LOOKS=0.5

for way in unified bpf with_tasks; do
	note "overhead, $way: $(overhead "$way-$PERIOD") %"
	ok "$way: nothing was lost" test "$(records "$PERF" PERF_RECORD_LOST "$way-$PERIOD.data")" -eq 0
done
for way in bpf with_tasks; do
	at_least 5000 "$way: samples with a vCPU" "$(records "$PERF" "vCPU by BPF" "$way-$PERIOD.data")"
done
at_most 1 "bpf: overhead, %" "$(overhead "bpf-$PERIOD")"
at_most 1 "with_tasks: overhead, without what looks at the guest may take, %" \
	"$(awk -v all="$(overhead "with_tasks-$PERIOD")" -v looks=$LOOKS 'BEGIN { print all - looks }')"
done_testing
