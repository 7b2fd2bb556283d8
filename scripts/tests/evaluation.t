#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The short form of the evaluation: each property that it has is a check, so that what gets
# less accurate, or more expensive, fails here.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

# --- what becomes of figures, of literal ones ------------------------------------------------

cat >"$TMP/figures.json" <<'END'
{"schema": "perf-kvm-unified-evaluation", "version": 1, "quick": false, "versions": ["this 1", "that 2"], "experiments": [
 {"name": "one_thing", "title": "One thing", "paper": "Table 99", "about": "It is measured.",
  "virtual_ns": {"work": 1000000, "more": 1000000},
  "tables": [{"caption": "What it is", "columns": ["", "paper", "ours"],
              "rows": [["a | b", 1.5, 1.4567], ["nothing", null, 0], ["small", 0.0123, -0.0001]]}],
  "properties": [
   {"what": "it is small", "figure": 0.5, "limit": 1, "unit": "%", "relation": "at most", "holds": true},
   {"what": "it is large", "figure": 0.5, "limit": 2, "unit": "%", "relation": "at least", "holds": false}],
  "plots": [{"title": "One & two", "unit": "%", "log": false, "groups": ["x", "y"],
             "series": [{"name": "paper", "values": [1.5, null]}, {"name": "ours", "values": [3, 0]}]}],
  "remarks": ["Remarkable."]}]}
END
evaluate=$TOP/scripts/evaluation/evaluate.py

document()
{
	"$TOP/scripts/evaluation/document.py" "$TMP/figures.json" "$TMP/document.md"
}
has_line()
{
	cat "$TMP/document.md"
	grep -qxF -- "$1" "$TMP/document.md"
}
well_formed()
{
	python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$1"
}
bars()
{
	grep -o 'rect class="s[0-9]" x="[0-9.]*" y="[0-9.]*" width="[0-9.]*" height="[0-9.]*"' \
		"$TMP/document/one-thing-1.svg"
}
ok "a document is written" document
ok "it counts what holds" has_line "1 of 2 properties hold."
ok "a table has two digits, and a dash for what there is not" has_line "| a \\| b | 1.50 | 1.46 |"
ok "... and a dash" has_line "| nothing | – | 0 |"
ok "... and three where there is no more" has_line "| small | 0.012 | 0.000 |"
ok "what does not hold stands out" has_line "| it is large | 0.500 % | at least 2 | **no** |"
ok "the plot is shown" has_line "![One & two](document/one-thing-1.svg)"
ok "the plot is XML" well_formed "$TMP/document/one-thing-1.svg"
# Two of the legend, and of four values one is not there.
ok "the plot has a bar for each value" test "$(bars | wc -l)" -eq 5
# The largest is as high as the axis: 3 of 3, of 240.
ok "the highest bar is as high as it should be" grep -q 'height="240.0"' <<<"$(bars)"
ok "what does not hold is an error" not "$evaluate" properties --output "$TMP/figures.json"
ok "the figures are kept beside the plots" cmp "$TMP/figures.json" "$TMP/document/figures.json"
ok "from there the same is written" "$TOP/scripts/evaluation/document.py" \
	"$TMP/document/figures.json" "$TMP/document.md"
ok "... and they are still there" cmp "$TMP/figures.json" "$TMP/document/figures.json"
ok "a document says what does not hold" grep -qF "**Does not hold:** it is large. " "$TMP/document.md"
ok "... and of which versions it is" has_line "Versions: this 1; that 2."

# What make bench has found is a section of its own, which make evaluation keeps.
cat >"$TMP/bench.json" <<'END'
{"schema": "perf-kvm-unified-evaluation", "version": 1, "quick": false, "versions": ["a machine 1"], "experiments": [
 {"name": "large", "title": "Large ones", "paper": "a real clock", "about": "It is read.", "virtual_ns": {},
  "tables": [{"caption": "Times", "columns": ["", "s"], "rows": [["few", 1.0]]}],
  "properties": [
   {"what": "it is fast", "figure": 0.5, "limit": 0.7, "unit": "times", "relation": "at most", "holds": true}],
  "plots": [{"title": "Time", "unit": "s", "log": true, "groups": ["1"], "series": [{"name": "ours", "values": [3]}]}],
  "remarks": []}]}
END
ok "without a bench, nothing is said of one" not grep -q "make bench" "$TMP/document.md"
cp "$TMP/document.md" "$TMP/before.md"
document_bench()
{
	"$TOP/scripts/evaluation/document.py" "$TMP/figures.json" "$TMP/document.md" "$TMP/bench.json"
}
ok "a document with a bench is written" document_bench
ok "... that says whose it is" grep -q 'by .make bench.: .* a real clock, and of one machine' "$TMP/document.md"
ok "... counts what holds of both" has_line "2 of 3 properties hold."
ok "... has its section last" test "$(grep '^## ' "$TMP/document.md" | tail -n 1)" = \
	"## Large ones (a real clock)"
ok "... of what it is" has_line "Of: a machine 1."
ok "... with its table" has_line "| few | 1.00 |"
ok "... its plot" well_formed "$TMP/document/large-1.svg"
ok "... and what holds" has_line "| it is fast | 0.500 times | at most 0.700 | yes |"
ok "the sections before are what they were" \
	test -z "$(sed -n '/^## /,$p' "$TMP/before.md" | diff - <(sed -n '/^## /,$p' "$TMP/document.md") | grep '^<')"
ok "the bench is kept beside the plots" cmp "$TMP/bench.json" "$TMP/document/bench.json"
cp "$TMP/document.md" "$TMP/before.md"
ok "without a new one, the document is written again" document
ok "... and is the same" cmp "$TMP/before.md" "$TMP/document.md"
ok "... and so is the bench" cmp "$TMP/bench.json" "$TMP/document/bench.json"
ok "a bench that is not there is an error" not "$TOP/scripts/evaluation/document.py" \
	"$TMP/figures.json" "$TMP/document.md" "$TMP/no-bench.json"
ok "... and takes nothing away" cmp "$TMP/before.md" "$TMP/document.md"

ok "figures are as far apart as on another machine" \
	"$evaluate" compare --output "$TMP/figures.json" "$TMP/figures.json"
sed 's/"more": 1000000/"more": 1002000/' "$TMP/figures.json" >"$TMP/other.json"
ok "... or further" not "$evaluate" compare --output "$TMP/figures.json" "$TMP/other.json"
ok "... and of the same programs" not grep -q '^of other' \
	<<<"$("$evaluate" compare --output "$TMP/figures.json" "$TMP/other.json")"
sed 's/"that 2"/"that 3", "that 4", "more 5"/' "$TMP/figures.json" >"$TMP/other.json"
ok "... or of others" grep -qx 'of other programs: that 2, not 3 4' \
	<<<"$("$evaluate" compare --output "$TMP/figures.json" "$TMP/other.json")"
sed 's/"that 2"/"that 3", "that 2"/' "$TMP/figures.json" >"$TMP/other.json"
ok "... which there may be more of" not grep -q '^of other' \
	<<<"$("$evaluate" compare --output "$TMP/figures.json" "$TMP/other.json")"
ok "no experiment of that name" not "$evaluate" scenarios no_such_thing
without_results()
{
	! "$evaluate" find server --results "$TMP" --tree "$MAIN_TREE" \
		--vmlinux "$TREE/host/vmlinux" --output "$TMP/none.json" \
		>"$TMP/out" 2>&1 || return
	cat "$TMP/out"
	grep -q '^evaluation: server: nothing can be made of what server left: ' "$TMP/out" &&
		[ "$(wc -l <"$TMP/out")" -eq 1 ] && [ ! -e "$TMP/none.json" ]
}
ok "results that are not there" without_results
done_testing
