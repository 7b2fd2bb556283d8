#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Guests of several kinds in one report: two kernels, with and without page table
# isolation, the same programs with different work: the scenario guests.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PERF=$TREE/perf/perf

lab_runs guests
cd "$TOP/build/lab/guests" || { done_testing; }

no_map_is_missing()
{
	not grep 'functions will have no names' host-console.log
}
ok "each guest's map has come" no_map_is_missing

export HOME=$TMP/home
mkdir -p "$HOME"
"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --guest-root "$TREE/guest/root" \
	--percent-limit 0 --format json >"$TMP/report.json" 2>"$TMP/report.err"

# json EXPRESSION: guest(NAME), rows(NAME) are of that guest
json()
{
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
guest = lambda name: [g for g in r["guests"] if g["name"] == name][0]
rows = lambda name: [l for l in r["levels"] if l["level"] == "vm" and l["vm"] == name][0]["rows"]
def share(name, start):
    user = [x for x in rows(name) if x["class"] == "USER"]
    return 100 * sum(x["time_ns"] for x in user if x["comm"] == start) / sum(x["time_ns"] for x in user)
print(eval(sys.argv[2]))' "$TMP/report.json" "$1"
}

ok "guest1 and guest2 run 6.1, guest3 runs 6.12" \
	test "$(cut -d. -f1,2 guest1-release guest2-release guest3-release | paste -sd' ')" = "6.1 6.1 6.12"
ok "guest1 isolates page tables, guest2 does not" \
	test "$(cat guest1-pti guest2-pti | paste -sd' ')" = "yes no"

# What each runs, and nobody else
declare -A programs=([guest1]="shares-alpha shares-bravo" [guest2]="shares-charlie cxx"
	[guest3]="shares-delta shares-alpha")

for guest in guest1 guest2 guest3; do
	named=$(json "'%.3f' % (100 * guest('$guest')['user_samples_named'] / guest('$guest')['user_samples'])")
	printf '# %s: %s of user samples named, %s of the guest\n' "$guest" "$named %" \
		"$(json "guest('$guest')['user_samples']")"
	ok "$guest: $named % of its user samples are named, of 99" \
		awk -v n="$named" 'BEGIN { exit !(n >= 99) }'
	ok "$guest: there are samples enough" test "$(json "guest('$guest')['user_samples'] > 2000")" = True
	read -r -a own <<<"${programs[$guest]}"
	for program in "${own[@]}"; do
		ok "$guest: $program has a share" test "$(json "share('$guest', '$program') > 15")" = True
	done
	ok "$guest: of workloads, only these" test "$(json "' '.join(sorted(set(x['comm'] for x in rows('$guest') if x['class'] == 'USER' and (x['comm'].startswith('shares-') or x['comm'] == 'cxx'))))")" \
		= "$(printf '%s\n' "${own[@]}" | sort | paste -sd' ')"
	ok "$guest: each of them is in its own function" \
		test "$(json "sum(x['samples'] for x in rows('$guest') if x['function'].startswith('shares_') and x['function'].replace('_', '-') != x['comm'])")" = 0
	ok "$guest: its kernel's functions are named" \
		test "$(json "0 < sum(x['samples'] for x in rows('$guest') if x['class'] == 'OS') >= 20 * sum(x['samples'] for x in rows('$guest') if x['class'] == 'OS' and x['function'] == '[unknown]')")" = True

	# What the guest itself says of the user time of those that worked alone
	mkdir -p "$TMP/$guest"
	cp "shares/$guest"-cpu.* "$TMP/$guest"
	pids=$(sed 's/^cpu pid=\([0-9]*\) .*/\1/' "$TMP/$guest/$guest-cpu.after" | paste -sd,)
	while read -r pid percent _; do
		said=$(json "'%.3f' % (100 * sum(x['time_ns'] for x in rows('$guest') if x.get('pid') == $pid and x['class'] == 'USER') / sum(x['time_ns'] for x in rows('$guest') if x['class'] == 'USER' and x.get('pid') in [$pids]))")
		printf '# %s: process %s: guest %s %%, report %s %%\n' "$guest" "$pid" "$percent" "$said"
		ok "$guest: process $pid has its share, within 1 point" \
			awk -v a="$percent" -v b="$said" 'BEGIN { d = a - b; exit !(b != "" && d <= 1 && d >= -1) }'
	done < <("$TOP/scripts/lab/cpu-shares" "$TMP/$guest" user)
done

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

done_testing
