# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the KVM selftests that the kernel has without the series, on it or on the one without

SELFTESTS=base
# So that the kernel without the series does as well: kvm-selftests.t.
HOST_VARIANT=${BASE_SELFTESTS_VARIANT:-}
# BASE_SELFTESTS=x86: those below that directory alone
HOST_CMDLINE="kvmu.clock=any kvmu.tests=${BASE_SELFTESTS:-}"
LIMIT=2400

# Of one that looks for as long as it is let, or waits for what does not come in an emulator
SECONDS_FOR_ONE=40
SKIPPED=4
TIMED_OUT=124

# A line "NAME RESULT" for each
measure()
{
	local test name rc result below

	below=$(sed -n 's/.*\bkvmu\.tests=\([^ ]*\).*/\1/p' /proc/cmdline)
	while read -r test; do
		name=${test#"$SELFTESTS_DIR"/}
		rc=0
		timeout -k 5 "$SECONDS_FOR_ONE" "$test" >out 2>&1 </dev/null || rc=$?
		case $rc in
		0)		result=pass ;;
		"$SKIPPED")	result=skip ;;
		"$TIMED_OUT"|137) result=endless ;;
		*)		result=fail ;;
		esac
		say "$name: $result"
		echo "$name $result" >>results
		[ "$result" = pass ] || { echo "== $name: exit code $rc"; tail -n 5 out; } >>said
	done < <(find "$SELFTESTS_DIR/$below" -type f -executable -name '*_test' | sort)
}
