#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Guests that nothing runs in are named out of their memory: the scenario agentless, held against
# what the guests say of themselves.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

PERF=$MAIN_TREE/perf/perf

lab_runs agentless
cd "$LAB_OUT/agentless" || { done_testing; }
cat record.err >&2

# --- names -----------------------------------------------------------------------

ok "there is no perf in the guest" grep -q 'No such file' guest1-perf

# rows GUEST: of its table
rows()
{
	awk -v name="$1" '$1 == name && /Total samples:/ { on = 1; next } /^$/ { on = 0 }
		on && $1 ~ /^[0-9]+$/' report.txt
}
toffoli_pids()
{
	rows guest1 | awk '$3 ~ /^quantum_toffoli/ && $4 ~ /^libquantum/ { print $NF }' | sort -u | wc -l
}
ok "quantum_toffoli in libquantum, under two guest pids" test "$(toffoli_pids)" -eq 2
kernel_functions()
{
	rows guest1 | awk '$NF == "[k]" && $3 != "[unknown]"' | wc -l
}
at_least 10 "functions of the guest's kernel by name" "$(kernel_functions)"

# named GUEST: percent of its user samples
named()
{
	sed -n "s/^# guest $1: .* user samples (\([0-9.]*\) %).*/\1/p" report.txt
}
# The lab's way to talk to a guest has a process of it sleep for half a second, again and again, which
# looks at it do not all meet: half a percent here.
for guest in guest1 guest2; do
	at_least 98 "percent of $guest's user samples whose process is named" "$(named "$guest")"
done

# wrong GUEST: processes of the report that the guest does not say to have had
wrong()
{
	rows "$1" | grep -oE '[^ ]+ \([0-9]+\)$' | sort -u | tr -d '()' | while read -r comm pid; do
		awk -v pid="$pid" -v comm="$comm" '$1 == pid && $2 == comm { found = 1 }
			END { exit !found }' "$1.ps" || echo "$comm $pid"
	done
}
for guest in guest1 guest2; do
	ok "$guest: some of its processes are in the report" test "$(rows "$guest" | grep -c ')$')" -ge 2
	ok "$guest: no process has a name that it has not in the guest" test -z "$(wrong "$guest")"
done

# --- against the guest's own word ---------------------------------------------------

# kallsyms_of GUEST: what the recording has made of it
kallsyms_of()
{
	echo "perf.data/kcore_dir__$(sed -n "s/^# guest $1: pid \([0-9]*\),.*/\1/p" report.txt)/kallsyms"
}
# symbols FILE FIELDS: address, name and module, of the kernel's own (3) or of modules' (4)
symbols()
{
	awk -v fields="$2" 'NF == fields { print $1, $3, $4 }' "$1" | sort -u
}
for fields in 3 4; do
	symbols "$(kallsyms_of guest2)" "$fields" >"$TMP/ours"
	symbols guest2-kallsyms "$fields" >"$TMP/guests"
	at_least 100 "symbols of kernel (3) and modules (4), $fields" "$(wc -l <"$TMP/guests")"
	ok "guest2: those that its memory has are those that it says" diff "$TMP/guests" "$TMP/ours"
done

# mapped FILE: code of the workload's process: addresses, offsets, build-ids, names
mapped()
{
	"$PERF" script -f -i "$1" --show-mmap-events -F comm,pid 2>/dev/null |
		grep -oE 'PERF_RECORD_MMAP2 .*r-xp .*' | grep -F "$(pid_of_shor):" | sort -u
}
pid_of_shor()
{
	awk '$2 == "shor" { print $1 "/" $1; exit }' guest2.ps
}
mapped guest2.map >"$TMP/ours"
mapped guest2-collector.map >"$TMP/collectors"
at_least 5 "maps of shor by the collector" "$(wc -l <"$TMP/collectors")"
ok "the same out of its memory, with their build-ids" diff "$TMP/collectors" "$TMP/ours"

# --- what it costs, and what it leaves alone -----------------------------------------

note "$(grep 'out of its memory' record.err)"
cpu_ms()
{
	sed -n 's/.*: guest1, out of its memory.* looks and \([0-9]*\) ms of CPU time.*/\1/p' record.err
}
# By this machine's clock: ten times what it takes
at_most 17000 "CPU time of all looks at guest1, in emulation, ms" "$(cpu_ms)"
ok "of a VM that is stopped there is a map, too" grep -qx 'exit code 0' guest1-map.out
ok "KVM has counted for it" grep -qE '^exits:[1-9]' stopped.before
ok "a look makes no exit, and no page resident" diff stopped.before stopped.after

# --- what is refused -------------------------------------------------------------

refuses()
{
	cat "$1.out"
	grep -q -e "$2" "$1.out" && grep -qx 'exit code 1' "$1.out" && [ "$(wc -l <"$1.out")" -le 3 ]
}
ok "a guest that is no Linux: it is said" refuses tiny 'No map of tiny: .*Linux kernel'
ok "... and no map is left" not test -e tiny.map
ok "Ctrl-C before the measurement: it is said" grep -qx 'Interrupted before the measurement' interrupted.out
ok "... and is an error" grep -qx 'exit code 1' interrupted.out
ok "... and nothing is left" test ! -s interrupted.left
ok "-p: that guest is looked at" grep -q 'guest2, out of its memory' one.out
ok "... and no other one" test "$(grep -c '^guest_map' one.files)" -eq 1
ok "no such VM" refuses no-such "no VM that runs is called 'guest9'"
ok "no root" refuses no-root 'root'
ok "of the host and of the guest: one of them" refuses both '--host is for the host'
ok "--no-guest-memory: no map" not grep -q guest_map without.files
done_testing
