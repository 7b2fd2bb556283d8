#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Half an hour of a recording without an end, with VMs that come and go: the scenario continuous.
# targets.t has a short one.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
# shellcheck source=scripts/tests/segments.sh
. "$TESTS/segments.sh"

PERF=$MAIN_TREE/perf/perf
# % of the recorder's own memory by which the end may differ from the middle
MOST_GROWTH=5

lab_runs continuous
cd "$LAB_OUT/continuous" || { done_testing; }

profiles=(kept/*.data)
at_least 30 "profiles of half an hour" "${#profiles[@]}"
ok "none is left half" test -z "$(find kept -name '*.part')"
ok "Ctrl-C ends it, as perf record" test "$(cat kept-code)" -eq 130
ok "each begins where the last one has ended" tile kept
own_times kept >"$TMP/own"
ok "each report is of its part, to the ns" not grep False "$TMP/own"
# tile_or_one DIRECTORY: as tile, or there is one that has no window
tile_or_one()
{
	if [ "$(find "$1" -name '*.data' | wc -l)" -eq 1 ]; then
		test ! -e "$1"/*.data/data.window
	else
		tile "$1"
	fi
}
# lost_inside: % of the host's time that is lost or not known, without the first and the last profile
lost_inside()
{
	grep '^host' "$TMP/own" | sed '1d; $d' | awk '{ time += $3; lost += $4 } END { print 100 * lost / time }'
}
at_most 0 "% of the host's time that is lost or not known, between the first profile and the last one" "$(lost_inside)"

# --- VMs come and go ---------------------------------------------------------------------------

# vms: those in any of the profiles
vms()
{
	local dir

	for dir in "${profiles[@]}"; do
		"$TESTS/vms-table.py" "$dir" 2>/dev/null | awk '{ print $1 }'
	done | sort -u
}
ok "each VM that came is in a profile" test "$(vms | grep -c '^visitor')" -eq "$(cat visits)"
ok "... and is in none that begins later than it has ended" not grep -q visitor1 "${profiles[-1]}/vms"

# --- what profiles share -----------------------------------------------------------------------

ok "the symbols of one kernel are kept" test "$(find kept/kernels -type f | wc -l)" -eq 1
ok "... once, for each profile" test "$(<kept.links)" -eq $((${#profiles[@]} + 1))
# map_kib: of the largest map
map_kib()
{
	stat -c %s kept/*.data/guest_map__* | sort -n | tail -n 1 | awk '{ print int($1 / 1024) }'
}
at_most 512 "KiB of the largest map, without them" "$(map_kib)"
kernel_names()
{
	"$PERF" kvm unified report -f -i "$1" -k "$TREE/host/vmlinux" --format csv "${@:2}" 2>"$TMP/err" |
		grep guest1 | grep -c OS
}
at_least 2 "functions of guest1's kernel, last profile" "$(kernel_names "${profiles[-2]}")"
cp -r "${profiles[-2]}" "$TMP/away.data"
ok "... of a copy elsewhere" diff <(kernel_names "$TMP/away.data") <(kernel_names "${profiles[-2]}")

# --- what it takes -----------------------------------------------------------------------------

middle=$(sed -n "$((($(wc -l <kept.kib) + 1) / 2))p" kept.kib)
within "$(awk -v kib="$middle" -v part=$MOST_GROWTH 'BEGIN { print kib * part / 100 }')" \
	"KiB of the recorder's own, at the end and in the middle" "$(tail -n 1 kept.kib)" "$middle"
note "bytes on the disk of a profile, on the average: $(($(<kept.bytes) / ${#profiles[@]}))"

# --- that ends where one profile ends and the next one begins -----------------------------------

for nr in 1 2 3; do
	ok "ends at a seam, $nr: each begins where the last one has ended" tile_or_one "seam$nr"
	own_times "seam$nr" >"$TMP/own"
	ok "... each report is of its part, to the ns" not grep False "$TMP/own"
	# Of the first one, the time before its first sample is not known.
	ok "... nothing is lost or not known after that" test -z "$(grep '^host' "$TMP/own" | sed 1d | grep -v ' 0$')"
done
ok "a process that is not there: an exit code" grep -q '^exit code [1-9]' no-process.out
ok "... and no directory" test ! -e none
ok "refused: --delay" grep -q -- '--delay is of one measurement' delayed.out

# --- one that is killed ------------------------------------------------------------------------

ok "a recorder that is killed leaves what it has" grep '\.part$' killed-left
ok "... it is a profile when the next one begins" not grep -v -e '\.data$' -e '^kernels$' killed-again
ok "... which tells so" grep -q '^What a recorder that was killed has left is kept: [12] profiles\?$' again.err
own_times killed >"$TMP/own"
ok "-k mono: the report is of the profile's own part" test -s "$TMP/own"
ok "... to the ns" not grep False "$TMP/own"
ok "--max-size: the last profile stays alone" test "$(grep -c '\.data$' killed-again)" -eq 1
ok "... and why the others went" grep -q 'by --max-size' again.err
done_testing
