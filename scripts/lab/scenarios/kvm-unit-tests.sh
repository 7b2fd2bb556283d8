# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: KVM-unit-tests, which whoever runs this brings, on the series or on the kernel without it

# So that the kernel without the series does as well, and which of the tests: kvm-unit-tests.t.
HOST_VARIANT=${UNIT_TESTS_VARIANT:-}
HOST_CMDLINE=kvmu.clock=any
# What svm wants of memory
HOST_MEM=8192
# All take 17 minutes, of which those take most that wait for what does not come in an emulator.
LIMIT=10000
SECONDS_FOR_ONE=90

# What was built, and the tests that are asked for: none are all
prepare()
{
	cp -r "$UNIT_TESTS_BUILT" unit-tests
	printf '%s\n' "${UNIT_TESTS_NAMES:-}" >unit-tests/names
}

# A line "NAME RESULT" for each
measure()
{
	local -a names

	cp -r unit-tests /run
	read -r -a names <unit-tests/names
	# The script gives QEMU its own standard streams by these names.
	for stream in 0:stdin 1:stdout 2:stderr; do
		[ -e "/dev/${stream#*:}" ] || ln -s "/proc/self/fd/${stream%:*}" "/dev/${stream#*:}"
	done
	(cd /run/unit-tests && ACCEL=kvm TIMEOUT=${SECONDS_FOR_ONE}s ./run_tests.sh "${names[@]}") \
		>said 2>&1 </dev/null || :
	sed 's/\x1b\[[0-9;]*m//g' said | awk '
		$1 == "PASS" || $1 == "FAIL" || $1 == "SKIP" {
			result = tolower($1)
			if (/timeout/)
				result = "endless"
			print $2, result
		}' >results
	cp -r /run/unit-tests/logs .
	rm -r unit-tests
}
