#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What make evaluation measures, in small: it holds, and is what the document says.

# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

evaluate=$TOP/scripts/evaluation/evaluate.py
"$TOP/scripts/evaluation.sh" --quick >"$TMP/evaluation.out"
ok "scripts/evaluation.sh --quick gets to its end" \
	grep -q ' properties do not hold$' "$TMP/evaluation.out"
hand_on_properties "$TMP/evaluation.out"
ok "there are properties" test "$(grep -cE "^(holds|FAILS)" "$TMP/evaluation.out")" -eq 15

# Of another machine, or of this one with older code: the times are the same, or what the document
# says is not so any more, and make evaluation has to write it again.
document=Documentation/evaluation/figures.json
"$evaluate" compare --output "$TOP/build/evaluation/figures-quick.json" "$TOP/$document" \
	>"$TMP/compared"
same=$?
sed 's/^/# /' "$TMP/compared"
ok "four times are in $document" grep -q '^4 times of the virtual clock' "$TMP/compared"
if other=$(grep '^of other programs: ' "$TMP/compared"); then
	skip "times of the virtual clock as in $document" "${other//$'\n'/; }"
else
	ok "times of the virtual clock as in $document" test "$same" -eq 0
fi
done_testing
