#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# evaluation.sh [--quick] [EXPERIMENT...]: have the lab run what the experiments of
# scripts/evaluation want, find what they find, and write Documentation/evaluation.md with its
# plots. --quick, or only some experiments: no document, the figures alone, which are in
# build/evaluation/ in any case.
#
# Ends with 1 if a property does not hold that should. EVALUATION_KEEP=1: with the results that
# the lab has left before, where there are any.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

OUT=$TOP/build/evaluation
QUICK=()
if [ "${1:-}" = --quick ]; then
	QUICK=(--quick)
	shift
fi
FIGURES=$OUT/figures${QUICK:+-quick}.json

lock_cache
"$TOP/scripts/setup.sh"
mkdir -p "$OUT"
mapfile -t scenarios < <("$TOP/scripts/evaluation/evaluate" scenarios "${QUICK[@]}" "$@")
for scenario in "${scenarios[@]}"; do
	if [ "${EVALUATION_KEEP:-0}" -eq 0 ] || [ ! -f "$TOP/build/lab/$scenario/exit-code" ]; then
		"$TOP/scripts/lab.sh" "$scenario"
	fi
done
"$TOP/scripts/evaluation/evaluate" find "${QUICK[@]}" "$@" --results "$TOP/build/lab" \
	--tree "$TREE" --output "$FIGURES"
if [ "${#QUICK[@]}" -eq 0 ] && [ $# -eq 0 ]; then
	# Of another machine, or of the code before a change
	before=$TOP/Documentation/evaluation/figures.json
	[ ! -f "$before" ] || say "compared with those in Documentation:" \
		"$("$TOP/scripts/evaluation/evaluate" compare --output "$FIGURES" "$before" | tail -n 1)"
	"$TOP/scripts/evaluation/document" "$FIGURES" "$TOP/Documentation/evaluation.md"
	say "written: Documentation/evaluation.md"
fi
KVMU_SAID_WHY=1
"$TOP/scripts/evaluation/evaluate" properties --output "$FIGURES"
