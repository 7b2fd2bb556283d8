# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the tests: TAP in four words. Diagnostics go to stderr.

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/common.sh
. "$TESTS/../common.sh"
set +e

tap_count=0
tap_failed=0
TMP=$(mktemp -d)
# Words that codespell takes for others.
SPELL_OK=${SPELL_OK:-crate,filp,fo,mapp,nd,pevent,te,writen}

tap_exit()
{
	! mountpoint -q "$TMP/full" || umount "$TMP/full"
	rm -rf "$TMP"
}
trap tap_exit EXIT

# ok WHAT COMMAND...: passes if the command does.
ok()
{
	local what=$1
	shift

	tap_count=$((tap_count + 1))
	if "$@" >"$TMP/ok.out" 2>&1; then
		printf 'ok %d - %s\n' "$tap_count" "$what"
	else
		tap_failed=$((tap_failed + 1))
		printf 'not ok %d - %s\n' "$tap_count" "$what"
		sed 's/^/# /' "$TMP/ok.out" | tail -n 30
	fi
}

# not COMMAND...: to be used with ok.
not()
{
	! "$@"
}

# A figure for whoever reads the test's output.
note()
{
	printf '# %s\n' "$*"
}

# within TOLERANCE WHAT A B: and say the figures.
within()
{
	note "$2: $3, $4"
	ok "$2, within $1" awk -v t="$1" -v a="$3" -v b="$4" \
		'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= t && d >= -t) }'
}

# at_least MINIMUM WHAT FIGURE; at_most
at_least()
{
	note "$2: $3"
	ok "$2: at least $1" awk -v m="$1" -v a="$3" 'BEGIN { exit !(a != "" && a + 0 >= m) }'
}

at_most()
{
	note "$2: $3"
	ok "$2: at most $1" awk -v m="$1" -v a="$3" 'BEGIN { exit !(a != "" && a + 0 <= m) }'
}

# lab_runs SCENARIO: and say if it had to be booted again.
lab_runs()
{
	ok "the lab runs the scenario $1" "$TOP/scripts/lab.sh" "$1"
	sed -n 's/^boot [0-9]:/# &/p' "$LAB_OUT/$1/lab.log"
}

skip()
{
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# hand_on FILE ERRORS [PREFIX]: the checks of a program that prints TAP itself, and one
# that it got to the end of its plan. What it has to say is shown before a failure only.
hand_on()
{
	local line what planned='' ran=0 said=''

	while IFS= read -r line; do
		# Without the number
		what=${line#*ok }
		what=${what#"${what%%[!0-9]*}"}
		what=${3:-}${what# }
		case $line in
		'1..'*)		planned=${line#1..} ;;
		'ok '*' # SKIP '*)
			what=${what#*# SKIP }
			skip "${3:-}${what%%: *}" "${what#*: }"
			;;
		'ok '*)		ok "$what" true ;;
		'not ok '*)
			printf '%s' "$said"
			ok "$what" false
			;;
		'#'*)
			said+=$line$'\n'
			continue
			;;
		*)		continue ;;
		esac
		[[ $line == '1..'* ]] || ran=$((ran + 1))
		said=''
	done <"$1"
	tail -n 15 "$2" >&2
	ok "${3:-}${1%.tap} ran what it had planned" test "$ran" -eq "${planned:--1}"
}

# hand_on_properties FILE: what scripts/evaluation.sh has said of them
hand_on_properties()
{
	local holds what

	while read -r holds what; do
		case $holds in
		holds)	note "$what"; ok "$what" true ;;
		FAILS)	ok "$what" false ;;
		esac
	done <"$1"
}

# perf's shell tests that the scenario selftests has run, in this directory
shell_tests_pass()
{
	local what

	cat perf-test.out >&2
	for what in 'PERF_SAMPLE_VCPU' 'perf record and report of a KVM host'; do
		ok "perf test: $what" grep -q "$what.*: Ok\$" perf-test.out
	done
}

# hand_on_selftests: those that the scenario selftests has run, in this directory
hand_on_selftests()
{
	local name ran=0

	for name in *_test.tap; do
		name=${name%.tap}
		[ -f "$name.tap" ] || break
		hand_on "$name.tap" "$name.err" "${name%_test}: "
		ran=$((ran + 1))
	done
	ok "all selftests were run" test "$ran" -eq \
		"$(find "$TREE/selftests" -maxdepth 1 -name '*_test' ! -name perf_vcpu_nmi_test | wc -l)"
}

# refused NAME MESSAGE: what a scenario has tried has that message, and an exit code of not 0.
refused()
{
	cat "$1.out"
	grep -q -- "$2" "$1.out" && grep -qE '^exit code [1-9]' "$1.out"
}

done_testing()
{
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}
