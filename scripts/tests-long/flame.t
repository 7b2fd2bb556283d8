#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A flame graph of a host and its guest, from main() on, and what viewers make of it: the scenario
# flame, speedscope in a browser, and pprof.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

PERF=$MAIN_TREE/perf/perf

lab_runs flame
cd "$LAB_OUT/flame" || { done_testing; }

reads=(-f -i perf.data -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root")
exports()
{
	"$PERF" kvm unified export "${reads[@]}" -o stacks.folded
}
ok "stacks are exported" exports
"$PERF" kvm unified report "${reads[@]}" --format json >"$TMP/json" 2>/dev/null
ok "the report has the same time" "$TESTS/folded-sums.py" stacks.folded "$TMP/json"

# Of both processes, of the system's library and of two others
below_main=$(awk '{ ns = $NF; sub(/ [0-9]+$/, "") }
	/^guest1;vCPU 0;shor-[0-9]+;/ { all += ns }
	/^guest1;vCPU 0;shor-[0-9]+;_start;.*;main;.*quantum_/ { below += ns }
	END { print 100 * below / all }' stacks.folded)
at_least 95 "libquantum is below main(), which is below its process and its VM, % of the processes' time" \
	"$below_main"
grep -o '^guest1;vCPU 0;shor-[0-9]*' stacks.folded | sort -u | cut -d- -f2 >"$TMP/pids"
while read -r pid; do
	ok "process $pid: main() to OpenMP's function" grep -qE \
		"^guest1;vCPU 0;shor-$pid;_start;.*;main;quantum_exp_mod_n;.*;quantum_toffoli;GOMP_parallel;quantum_toffoli\._omp_fn\.0 " \
		stacks.folded
done <"$TMP/pids"

ok "pprof's format" "$PERF" kvm unified export "${reads[@]}" --format pprof -o profile.pb.gz
ok "pprof: the report has the same time" "$TESTS/pprof.py" profile.pb.gz sums "$TMP/json"
"$TOP/scripts/deps.sh" go >&2
# ms with all that is called, of a function of the guest
top_of()
{
	go tool pprof -top -cum -unit ms -nodefraction 0 -tagfocus level=vcpu profile.pb.gz 2>/dev/null |
		awk -v name="$1" '$NF == name { print $4 + 0 }'
}
exported_of()
{
	awk -v name="$1" '{ ns = $NF; sub(/ [0-9]+$/, ";") }
		/^guest1;/ && index($0, ";" name ";") { all += ns }
		END { print sprintf("%.2f", all / 1e6) + 0 }' stacks.folded
}
for function in main quantum_exp_mod_n quantum_toffoli; do
	ok "pprof: $function, ms" test "$(top_of $function)" = "$(exported_of $function)"
done
ok "speedscope: a table" "$TOP/scripts/speedscope.sh" table stacks.folded "$TMP/table.html"
# Its rows: time with all that is called, own time, and name, as far as they are on the page
sed 's/<[^>]*>/\n/g' "$TMP/table.html" | grep -v '^ *$' |
	sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' |
	awk '/^Symbol Name$/ { on = 1; next }
		on && /^[0-9,]+ \([0-9.<]+%\)$/ { gsub(/,/, "", $1); ns[n++] = $1; next }
		on && n == 2 { print ns[0], ns[1], $0; n = 0 }' | sort >"$TMP/shown"
awk '{ ns = $NF; sub(/ [0-9]+$/, ""); n = split($0, frames, ";"); own[frames[n]] += ns
	# A function that calls itself is in a stack several times.
	for (i = 1; i <= n; i++) {
		if (seen[frames[i]] != NR)
			all[frames[i]] += ns
		seen[frames[i]] = NR
	} }
	END { for (name in all) printf "%.0f %.0f %s\n", all[name], own[name], name }' stacks.folded |
	sort >"$TMP/wanted"
at_least 20 "speedscope: functions in its table" "$(wc -l <"$TMP/shown")"
ok "speedscope: with the times that were exported, to the ns" test -z "$(comm -23 "$TMP/shown" "$TMP/wanted")"
# Its own format has the same of each vCPU, in the order of time. Times have units there.
"$PERF" kvm unified export "${reads[@]}" --vm guest1 --level vcpu -o vcpu.folded 2>/dev/null
ok "speedscope's format" "$PERF" kvm unified export "${reads[@]}" --vm guest1 --format speedscope -o vcpu.json
ok "speedscope's format: a table" "$TOP/scripts/speedscope.sh" table vcpu.json "$TMP/own.html"
sed 's/<[^>]*>/\n/g' "$TMP/own.html" | grep -v '^ *$' |
	awk '/^Symbol Name$/ { on = 1; next }
		on && /^[0-9.]+(s|ms|µs|ns) \(/ { time[n++] = $1; next }
		on && n == 2 { print time[0], time[1], $0; n = 0 }' | sort >"$TMP/shown"
awk '{ ns = $NF; sub(/ [0-9]+$/, ""); n = split($0, frames, ";"); own[frames[n]] += ns
	# Without the VM and the vCPU
	for (i = 3; i <= n; i++) {
		if (seen[frames[i]] != NR)
			all[frames[i]] += ns
		seen[frames[i]] = NR
	} }
	function unit(ns) {
		if (ns >= 1e9)
			return sprintf("%.2fs", ns / 1e9)
		if (ns >= 1e6)
			return sprintf("%.2fms", ns / 1e6)
		return ns >= 1e3 ? sprintf("%.2fµs", ns / 1e3) : sprintf("%.2fns", ns)
	}
	END { for (name in all) print unit(all[name]), unit(own[name]), name }' vcpu.folded | sort >"$TMP/wanted"
at_least 20 "speedscope's format: functions in its table" "$(wc -l <"$TMP/shown")"
ok "speedscope's format: with the times of the stacks" test -z "$(comm -23 "$TMP/shown" "$TMP/wanted" | grep -v '^[^ ]* [^ ]* (\|\[steal\]')"
# README's
"$PERF" kvm unified export "${reads[@]}" --vm guest1 --level vcpu -o guest1.folded 2>/dev/null
ok "speedscope: a picture" "$TOP/scripts/speedscope.sh" picture guest1.folded picture.png
done_testing
