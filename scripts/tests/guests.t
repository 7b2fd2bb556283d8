#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Guests of several kinds in one report: three kernels, with and without page table
# isolation, the same programs with different work: the scenario guests.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

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

# json EXPRESSION: see report-value
json()
{
	"$TESTS/report-value" "$1" "$TMP/report.json"
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

# --- a map that is of another boot takes no other guest's names --------------------

# rows_of GUEST FILE
rows_of()
{
	"$TESTS/report-value" "'\n'.join(sorted(repr(x) for x in level('$1')['rows']))" "$2"
}
cp -r perf.data "$TMP/boot"
first=$(json "guest('guest1')['pid']")
"$TESTS/other-boot" "perf.data/guest_map__$first" 64 1 "$TMP/boot/guest_map__$first"
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

# --- commands for all guests at once -----------------------------------------------

# says NAME TEXT: that recording has said so, as a whole line.
says()
{
	cat "many-$1.err"
	grep -qxF -e "$2" "many-$1.err"
}
# leaves NAME NUMBER: so many maps, and nothing half done
leaves()
{
	cat "many-$1.files"
	[ "$(grep -c '^guest_map__[0-9]*$' "many-$1.files")" -eq "$2" ] && ! grep tmp "many-$1.files"
}
done_is()
{
	echo "[ perf kvm unified: $1 ]"
}
ok "one command for three guests, by %n" says real "$(done_is 'Maps of 3 of 3 guests')"
ok "... their maps are there" leaves real 3

# shellcheck disable=SC2016 # not to expand
NAMES='x;touch${IFS}injected, $(touch${IFS}injected)'
ok "many: those that have sent a map, and those that have not" says asked \
	"$(done_is "Maps of 11 of 14 guests; missing: db-1, $NAMES")"
ok "... and no other file" leaves asked 11
ok "... a guest's own command comes first, and fails" says asked "No map of guest db-1: 'exit 3' failed with 3."
ok "... names that a shell could take for more are not put into a command" grep -qF "No map of 2 guests, $NAMES: a name" many-asked.err
ok "... and no shell has" not test -e injected
at_once()
{
	awk '{ n += $1; if (n > most) most = n } END { print most + 0, n + 0 }' many-jobs
}
ok "--guest-jobs: so many at once, and no more" test "$(at_once)" = "3 0"
ok "followed, asked, and asked as it came later, by %p" says followed "$(done_is 'Maps of 15 of 15 guests')"
ok "... their maps are there" leaves followed 15
ok "too late to be followed" says late "No map of guest later: started meanwhile, and no --guest-cmd is for it."
ok "... which does not harm the others" leaves late 15
ok "--guest-deadline: who was asked" says deadline \
	"No map of 2 guests, web-1, web-2: no answer in the 6 s for all guests (--guest-deadline)."
ok "--guest-deadline: and who was not, with --vm only of these" says deadline \
	"No map of 6 guests, web-3, web-4, web-5, web-6, ... 2 more: not asked in the 6 s for all guests (--guest-deadline)."
ok "... and how far it was meanwhile" says deadline \
	"$(done_is '0 of 8 guests have sent their maps, 2 asked now, 6 waiting')"
ok "--guest-timeout, and a pattern of --vm" says timeout \
	"No map of 4 guests, web-1, web-2, web-3, db-1: no answer in 1 s (--guest-timeout)."
ok "--vm: there is no such VM" says no-such "--vm: no VM that runs is called 'web-9'. Like it: web-1, web-2, web-3, web-4"
ok "Ctrl-C" grep -q '^No map of 8 guests, .*: interrupted.$' many-interrupted.err
ok "... nothing is left running" test -e many-left-behind -a ! -s many-left-behind
ok "... and the profile is whole" grep -qx vms many-interrupted.files
for name in deadline timeout interrupted; do
	ok "$name: no map, and nothing of one" leaves $name 0
	ok "$name: the recording is one" grep -qx 'exit code 0' many-$name.err
done

done_testing
