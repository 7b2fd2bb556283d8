#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Guests of several kinds in one report: three kernels, with and without page table
# isolation, the same programs with different work: the scenario guests.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/current-tasks.sh
. "$TESTS/current-tasks.sh"

PERF=$MAIN_TREE/perf/perf

lab_runs guests
cd "$LAB_OUT/guests" || { done_testing; }

no_map_is_missing()
{
	not grep 'No map of' host-console.log
}
ok "each guest's map has come" no_map_is_missing

export HOME=$TMP/home
mkdir -p "$HOME"
"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" \
	--percent-limit 0 --format json >"$TMP/report.json" 2>"$TMP/report.err"

# json EXPRESSION: see report-value.py
json()
{
	"$TESTS/report-value.py" "$1" "$TMP/report.json"
}

ok "guest1 runs 6.1, guest3 runs 6.12" \
	test "$(cut -d. -f1,2 guest1-release guest3-release | paste -sd' ')" = "6.1 6.12"
if [ -f "$MAIN_TREE/guest/vmlinuz-5.10" ]; then
	ok "guest2 runs 5.10" test "$(cut -d. -f1,2 guest2-release)" = 5.10
else
	skip "guest2 runs 5.10" "Debian 11's kernel could not be downloaded: it runs 6.1"
fi
ok "guest1 isolates page tables, guest2 does not" \
	test "$(cat guest1-pti guest2-pti | paste -sd' ')" = "yes no"

# What each runs, and nobody else
declare -A programs=([guest1]="shares-alpha shares-bravo" [guest2]="shares-charlie cxx"
	[guest3]="shares-delta shares-alpha")

for guest in guest1 guest2 guest3; do
	at_least 99 "$guest: percent of its user samples that are named" \
		"$(json "100 * guest('$guest')['user_samples_named'] / guest('$guest')['user_samples']")"
	at_least 2000 "$guest: user samples" "$(json "guest('$guest')['user_samples']")"
	read -r -a own <<<"${programs[$guest]}"
	for program in "${own[@]}"; do
		at_least 15 "$guest: percent of user time in $program" \
			"$(json "user('$guest', lambda x: x['comm'] == '$program')")"
	done
	ok "$guest: of workloads, only these" test "$(json "' '.join(sorted(set(x['comm'] for x in vm_rows('$guest') if x['class'] == 'USER' and (x['comm'].startswith('shares-') or x['comm'] == 'cxx'))))")" \
		= "$(printf '%s\n' "${own[@]}" | sort | paste -sd' ')"
	ok "$guest: each of them is in its own function" \
		test "$(json "sum(x['samples'] for x in vm_rows('$guest') if x['function'].startswith('shares_') and x['function'].replace('_', '-') != x['comm'])")" = 0
	ok "$guest: its kernel's functions are named" \
		test "$(json "0 < sum(x['samples'] for x in vm_rows('$guest') if x['class'] == 'OS') >= 20 * sum(x['samples'] for x in vm_rows('$guest') if x['class'] == 'OS' and x['function'] == '[unknown]')")" = True

	# What the guest itself says of the user time of those that worked alone
	mkdir -p "$TMP/$guest"
	cp "shares/$guest"-cpu.* "$TMP/$guest"
	pids=$(sed 's/^cpu pid=\([0-9]*\) .*/\1/' "$TMP/$guest/$guest-cpu.after" | paste -sd,)
	while read -r pid percent _; do
		within 1 "$guest: percent of user time in process $pid, by the guest and by the report" \
			"$percent" "$(json "user('$guest', lambda x: x.get('pid') == $pid, lambda x: x.get('pid') in [$pids])")"
	done < <("$TOP/scripts/lab/cpu-shares" "$TMP/$guest" user)
done

# What another guest has
of_another()
{
	"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --vm guest1 --comms "$1" >"$TMP/out" 2>"$TMP/err"
	cat "$TMP/err"
	grep -qx -e "$2" "$TMP/err"
}
ok "--vm and --comms: a process of another guest" of_another cxx \
	"--comms: process 'cxx' is not in what the other options ask for"
ok "--vm by a pattern: these guests" test guest1,guest3 = "$("$PERF" kvm unified report -f -i perf.data \
	--vm 'guest[13]' --format csv 2>/dev/null | awk -F , '$1 == "vm" { gsub(/"/, "", $2); print $2 }' | sort -u | paste -sd,)"

short_for_several()
{
	not "$PERF" kvm unified report -f -i perf.data --vm guest >"$TMP/out" 2>"$TMP/err"
	cat "$TMP/err"
	grep -qxF -e "--vm: 'guest' is short for several VMs: guest1, guest2, guest3. 'guest*' is all of them." "$TMP/err"
}
ok "--vm by what several begin with: which these are" short_for_several

# Files that are others, in a directory that all guests have: said once
mkdir -p "$TMP/other/usr/bin"
for program in shares-alpha shares-bravo shares-charlie shares-delta; do
	cp "$MAIN_TREE/guest/unstripped/jit" "$TMP/other/usr/bin/$program"
done
"$PERF" kvm unified report -f -i perf.data --guest-root "$TMP/other" --summary >"$TMP/out" 2>"$TMP/other.err"
cat "$TMP/other.err" >&2
ok "files of several guests that are others: one warning" test "$(grep -c 'another build-id' "$TMP/other.err")" = 1
ok "... that names the guests" \
	grep -qx 'Guests guest1, guest2, guest3: [0-9]* mapped files below their --guest-root have another build-id, not used (-v: which)' "$TMP/other.err"

# --- a map that is of another boot takes no other guest's names --------------------

# rows_of GUEST FILE
rows_of()
{
	"$TESTS/report-value.py" "'\n'.join(sorted(repr(x) for x in level('$1')['rows']))" "$2"
}
cp -r perf.data "$TMP/boot"
first=$(json "guest('guest1')['pid']")
"$TESTS/other-boot.py" "perf.data/guest_map__$first" 64 1 "$TMP/boot/guest_map__$first"
"$PERF" kvm unified report -f -i "$TMP/boot" -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" \
	--percent-limit 0 --format json >"$TMP/boot.json" 2>"$TMP/boot.err"
ok "guest1's map of another boot: there is a report" test $? -eq 0
ok "... which is said of guest1" grep -q '^Guest guest1: its map is of another guest, or of another boot' "$TMP/boot.err"
ok "... and of no other" not grep '^Guest guest[23]' "$TMP/boot.err"
costs_a_part()
{
	awk '/^only .* So [0-9.]+ % of the samples/ { sub(/.* So /, ""); n = $1 } END { exit !(n > 20 && n < 50) }' "$TMP/boot.err"
}
ok "... and that it costs the names of its samples" costs_a_part
for guest in guest2 guest3; do
	ok "... $guest has all of its names" diff <(rows_of $guest "$TMP/report.json") <(rows_of $guest "$TMP/boot.json")
done
"$PERF" kvm unified report -f -i "$TMP/boot" -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" \
	--percent-limit 0 --format json --no-guest-maps=guest1 >"$TMP/without.json" 2>"$TMP/without.err"
ok "--no-guest-maps=guest1: the same" diff "$TMP/boot.json" "$TMP/without.json"
ok "... without a word" not grep '^Guest guest1' "$TMP/without.err"

# Both halves of a page table are seen in the guest that has them, and one name.
"$PERF" script -f -i perf.data -F misc,machine_pid,vcpu,comm,pid,ip,vcpu_ctx 2>/dev/null |
	sed -nE 's/^VM: *([0-9]+) VCPU:[0-9]+ +(shares-[a-z]+) .* guest cr3 0x([0-9a-f]+).*/\1 \2 \3/p' |
	sort | uniq -c >"$TMP/cr3s"
cat "$TMP/cr3s" >&2
halves()
{
	awk -v vm="$(json "guest('$1')['pid']")" -v comm="$2" '
		$2 == vm && $3 == comm { n[(index("13579bdf", substr($4, length($4) - 3, 1)) > 0)]++ }
		END { print (n[0] > 0) + (n[1] > 0) }' "$TMP/cr3s"
}
ok "guest1: shares-alpha is seen with both of its page tables" test "$(halves guest1 shares-alpha)" = 2
ok "guest2: shares-charlie has one" test "$(halves guest2 shares-charlie)" = 1

# --- annotate: each guest's program has a table of its own --------------------------

"$PERF" kvm unified annotate -f -i perf.data --guest-root "$MAIN_TREE/guest/root" --stdio -d shares-alpha \
	shares_alpha </dev/null >"$TMP/annotated" 2>"$TMP/annotated.err"
samples_of_tables()
{
	sed -nE 's/.*Disassembly of shares-alpha for .* \(([0-9]+) samples, .*/\1/p' "$TMP/annotated" |
		awk '{ n += $1 } END { print NR, n + 0 }'
}
ok "annotate: guest1's shares-alpha, and guest3's" test "$(samples_of_tables)" = "2 $(
	"$PERF" kvm unified script -f -i perf.data --guest-root "$MAIN_TREE/guest/root" -F ip,sym -S shares_alpha \
		2>/dev/null </dev/null | grep -c shares_alpha)"

# --- processes by what guests have in their memory as the current task ------------

ok "--guest-tasks: recorded" grep -qx 'exit code 0' tasks.out
check_tasks "--guest-tasks" tasks.data 99
"$PERF" kvm unified report -f -i tasks.data -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" \
	--percent-limit 0 --format json >"$TMP/report.json" 2>"$TMP/tasks.err"
at_least 100 "--guest-tasks: samples of processes that nobody has looked at" \
	"$(json "guest('guest2')['user_samples_told']")"
at_least 99 "--guest-tasks: percent of guest2's user samples that are named" \
	"$(json "100 * guest('guest2')['user_samples_named'] / guest('guest2')['user_samples']")"
at_least 100 "--guest-tasks: of them, in reuse-odd" "$(json \
	"sum(x['samples'] for x in vm_rows('guest2') if x['class'] == 'USER' and x['comm'] == 'reuse-odd')")"

# kernel_comms: whom guest2's kernel worked for, as the report has it
kernel_comms()
{
	json "'\\n'.join({x['comm'] or 'nobody' for x in vm_rows('guest2') if x['class'] == 'OS'})" | sort
}
# kernel_by_script: ... and as perf script has it, with the number of samples
kernel_by_script()
{
	"$PERF" kvm unified script -f -i tasks.data --guest-root "$MAIN_TREE/guest/root" -F comm,ip,sym,dso 2>/dev/null |
		awk -v "pid=$(json "guest('guest2')['pid']")" 'index($0, "([guest.kernel.kallsyms." pid "])") { print $1 }' |
		sort | uniq -c
}
kernel_comms >"$TMP/comms"
kernel_by_script >"$TMP/by-script"
note "guest2's kernel worked for: $(sort -rn "$TMP/by-script" | head -n 4 | paste -sd, -)"
at_least 3 "--guest-tasks: its kernel worked for several processes" "$(wc -l <"$TMP/comms")"
# The report has rows of time: a sample that the next event cuts off may have none.
ok "--guest-tasks: all processes that perf script has for its kernel" test -z "$(comm -23 \
	<(awk '$1 >= 10 { print $2 }' "$TMP/by-script" | sort) "$TMP/comms" | tee /dev/stderr)"
ok "--guest-tasks: ... and no others" test -z "$(comm -13 \
	<(awk '{ print $2 }' "$TMP/by-script" | sort) "$TMP/comms" | tee /dev/stderr)"

# --- cgroups of processes: guest1's by its collector, the others' out of their memory -------

# cgroups_of GUEST: those of processes that work in one
cgroups_of()
{
	json "'\n'.join(sorted({x.get('cgroup', '-') for x in vm_rows('$1') if x['class'] == 'USER' and
		(x['comm'].startswith('shares-') or x['comm'] == 'cxx')}))"
}
for guest in guest1 guest2 guest3; do
	ok "$guest: its programs are in a cgroup" test "$(cgroups_of $guest)" = "/pods/$guest"
done
"$PERF" kvm unified report -f -i tasks.data --stdio -q --vm guest3 -s cgroup --percent-limit 0 \
	>"$TMP/by-cgroup" 2>/dev/null
cat "$TMP/by-cgroup" >&2
ok "--sort cgroup: a row of all of them" test "$(grep -cE '^ +[0-9.]+% +/pods/guest3 *$' "$TMP/by-cgroup")" = 1
"$PERF" kvm unified report -f -i tasks.data --format csv --vm guest3 -s cgroup --percent-limit 0 \
	>"$TMP/cgroups.csv" 2>/dev/null
ok "... in CSV, too" grep -qE '^vm,"guest3",,USER,.*,"/pods/guest3"$' "$TMP/cgroups.csv"
cgroups_in_pprof()
{
	"$PERF" kvm unified export -f -i tasks.data --format pprof --vm guest3 --level vm -o "$TMP/pprof" 2>/dev/null &&
		"$TESTS/pprof.py" "$TMP/pprof" cgroups | grep -qx /pods/guest3
}
ok "... as a label of pprof's" cgroups_in_pprof
ok "diff knows no such key" not "$PERF" kvm unified diff -f --sort cgroup tasks.data tasks.data

done_testing
