#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page of a profile in a browser: it tries itself by events, and its figures are perf's; names that try
# to be more than text; ten minutes of 64 vCPUs.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

PERF=$MAIN_TREE/perf/perf
WINDOWS=12

lab_runs libquantum
"$TOP/scripts/deps.sh" browser >&2
cd "$LAB_OUT/libquantum" || { done_testing; }

# browse PAGE HASH SIZE ARGS: with what stands behind the # of its address
browse()
{
	local sandbox=()

	[ "$(id -u)" -ne 0 ] || sandbox=(--no-sandbox)
	timeout 300 chromium --headless=new "${sandbox[@]}" --user-data-dir="$TMP/browser" \
		--use-angle=swiftshader --enable-unsafe-swiftshader --hide-scrollbars \
		--window-size="$3" "${@:4}" "file://$1#$2" 2>"$TMP/browser.err"
}

# tries NAME PAGE SIZE: the page's own checks. Time of the browser is virtual, so that none is waited for.
tries()
{
	browse "$2" check "$3" --virtual-time-budget=60000 --dump-dom >"$TMP/dom.html"
	"$TESTS/page-figures.py" "$TMP/dom.html" >"$TMP/page.tap" 2>"$TMP/page.err"
	hand_on "$TMP/page.tap" "$TMP/page.err" "$1: "
}

# page_of KIND: by the perf that stands in
page_of()
{
	printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$TESTS/made-perf.py" "$1" >"$TMP/perf"
	chmod +x "$TMP/perf"
	"$TOP/scripts/page.sh" --perf "$TMP/perf" -o "$TMP/$1.html"
}

# --- a profile --------------------------------------------------------------------------------

reads=(-f -i perf.data -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root")
ok "the page is made" "$TOP/scripts/page.sh" "${reads[@]}" --windows $WINDOWS -o page.html
"$PERF" kvm unified report "${reads[@]}" --format json >"$TMP/report" 2>/dev/null
"$PERF" kvm unified export "${reads[@]}" --format trace -o "$TMP/trace" 2>/dev/null
"$PERF" kvm unified export "${reads[@]}" -o "$TMP/folded" 2>/dev/null
start=$("$TESTS/report-value.py" 'measurement()["start_ns"]' "$TMP/report")
end=$("$TESTS/report-value.py" 'measurement()["end_ns"]' "$TMP/report")
windows=()
seconds()
{
	printf '%d.%09d' $(($1 / 1000000000)) $(($1 % 1000000000))
}
for ((i = 0; i < WINDOWS; i++)); do
	from=$((start + (end - start) * i / WINDOWS)) to=$((start + (end - start) * (i + 1) / WINDOWS))
	"$PERF" kvm unified export "${reads[@]}" --time "$(seconds $from),$(seconds $to)" -o "$TMP/window$i" 2>/dev/null
	windows+=("$TMP/window$i")
done
tries "a profile" "$PWD/page.html" 1200,900
ok "... its figures are those of report and export, to the ns" \
	"$TESTS/page-figures.py" "$TMP/dom.html" "$TMP/report" "$TMP/trace" "$TMP/folded" "${windows[@]}"
ok "... steal is found" not grep -q '^"no steal"' "$TMP/dom.html"
tries "a narrow window" "$PWD/page.html" 500,900
for theme in light dark; do
	browse "$PWD/page.html" "theme=$theme&from=1&to=3" 1200,1700 --virtual-time-budget=5000 \
		--screenshot="$PWD/page-$theme.png" >/dev/null
done
ok "there are pictures, and a dark one is another one" test -s page-light.png -a -s page-dark.png -a \
	"$(cksum <page-light.png)" != "$(cksum <page-dark.png)"

# --- stacks with callers, and more than one slice of each ---------------------------------------

ok "made up: the page is made" page_of small
small()
{
	"$TMP/perf" kvm unified "$@"
}
small report --format json >"$TMP/report"
small export --format trace >"$TMP/trace"
small export --format folded >"$TMP/folded"
small export --format folded --time=1,2 >"$TMP/window"
tries "made up" "$TMP/small.html" 1200,900
windows=()
for ((i = 0; i < WINDOWS; i++)); do
	windows+=("$TMP/window")
done
ok "... its figures" "$TESTS/page-figures.py" "$TMP/dom.html" "$TMP/report" "$TMP/trace" "$TMP/folded" "${windows[@]}"

# --- names ------------------------------------------------------------------------------------

ok "hostile names: the page is made" page_of hostile
at_most 2000000 "... its bytes" "$(stat -c %s "$TMP/hostile.html")"
tries "hostile names" "$TMP/hostile.html" 1200,900
ok "... what is invisible is an escape" grep -q '\\u202egnp.exe\\u2066\\u200b' "$TMP/dom.html"

# --- a long one ---------------------------------------------------------------------------------

ok "10 minutes of 64 vCPUs: the page is made" page_of big
at_most 9999999 "... its bytes" "$(stat -c %s "$TMP/big.html")"
tries "10 minutes of 64 vCPUs" "$TMP/big.html" 1200,900
opened()
{
	browse "$TMP/big.html" "" 1200,900 --dump-dom | grep -o 'data-opened-ms="[0-9]*"' | tr -dc 0-9
}
note "10 minutes of 64 vCPUs: ms until the page was drawn: $(opened) $(opened) $(opened)"
done_testing
