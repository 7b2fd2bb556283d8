#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# evaluation.sh [--quick] [EXPERIMENT...]: have the lab run what the experiments of
# scripts/evaluation want, find what they find, and write Documentation/evaluation.md with its
# plots. --quick, or only some experiments, or BASE=6.12: no document, the figures alone, which are
# in build/evaluation/ (build/evaluation-6.12/) in any case.
#
# Ends with 1 if a property does not hold that should. EVALUATION_KEEP=1: with the results that
# the lab has left before, of whatever state of the code, where there are any.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	print_help
	exit 0
	;;
esac

OUT=$TOP/build/evaluation
[ "$BASE" = "$MAINLINE" ] || OUT+=-$BASE
EVALUATE=$TOP/scripts/evaluation/evaluate.py
BEFORE=$TOP/Documentation/evaluation/figures.json
QUICK=()
if [ "${1:-}" = --quick ]; then
	QUICK=(--quick)
	shift
fi
FIGURES=$OUT/figures${QUICK:+-quick}
[ $# -eq 0 ] || FIGURES+=-some
FIGURES+=.json

# What was run for the scenarios, a line each. The mirror has what it has.
versions()
{
	local scenario

	for scenario in "$@"; do
		cat "$LAB_OUT/$scenario/code"
	done | sort -u | sed 's/^/this project /'
	for scenario in "$@"; do
		grep -c '^boot [0-9]*:' "$LAB_OUT/$scenario/lab.log"
	done | awk '{ n += $1 } END { print "boots that were repeated: " n + 0 }'
	echo "host's kernel $(cat "$TREE/host/include/config/kernel.release")"
	find "$MAIN_TREE/guest/kernels" -name 'vmlinuz-*' -printf "guest's kernel %f\n" |
		sed 's/vmlinuz-//' | sort
	dpkg-query -W -f '${Package} ${Version}\n' gcc qemu-system-x86 libquantum8 2>/dev/null
	[ ! -f "$MAIN_TREE/stamps/guest-extra-jvm" ] ||
		dpkg-query -W -f '${Package} ${Version}\n' openjdk-17-jre-headless
	sed -n 's/%3a/:/; s/^\(mariadb-server-core\|sysbench\)_\(.*\)_amd64.deb$/\1 \2/p' \
		"$MAIN_TREE/guest/packages-mariadb/names" 2>/dev/null || :
}

# has_results SCENARIO: of a run that has ended well
has_results()
{
	[ "$(cat "$LAB_OUT/$1/exit-code" 2>/dev/null)" = 0 ]
}

lock_cache
"$TOP/scripts/setup.sh"
mkdir -p "$OUT"
scenarios=$("$EVALUATE" scenarios "${QUICK[@]}" "$@")
for scenario in $scenarios; do
	if [ "${EVALUATION_KEEP:-0}" -eq 0 ] || ! has_results "$scenario"; then
		"$TOP/scripts/lab.sh" "$scenario"
	fi
done
# shellcheck disable=SC2086 # a list
"$EVALUATE" find "${QUICK[@]}" "$@" --results "$LAB_OUT" --tree "$MAIN_TREE" \
	--vmlinux "$TREE/host/vmlinux" \
	--versions "$(versions $scenarios)" --output "$FIGURES"
if [ "${#QUICK[@]}" -eq 0 ] && [ $# -eq 0 ] && [ "$BASE" = "$MAINLINE" ]; then
	if [ -f "$BEFORE" ]; then
		say "compared with what Documentation has, of another machine or other code:"
		"$EVALUATE" compare --output "$FIGURES" "$BEFORE" | tail -n 1 || :
	fi
	"$TOP/scripts/evaluation/document.py" "$FIGURES" "$TOP/Documentation/evaluation.md"
	say "written: Documentation/evaluation.md"
fi
KVMU_SAID_WHY=1
"$EVALUATE" properties --output "$FIGURES"
