#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The lab itself: what a scenario's outcome does to the exit code.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

# scenario NAME: from stdin, into a file outside of scripts/lab/scenarios.
scenario()
{
	mkdir -p "$TMP/lab"
	# No time is measured: it may run beside others.
	{ echo "HOST_CMDLINE=kvmu.clock=any" && cat; } >"$TMP/lab/lab-test-$1.sh"
	"$TOP/scripts/lab.sh" "$TMP/lab/lab-test-$1.sh" >"$TMP/out" 2>&1
	rc=$?
	cat "$TMP/out" >&2
}

no_qemu_left()
{
	! pgrep -f "qemu-system-x86_64 .*lab-test-" >&2
}

scenario works <<-'END'
	measure() { perf stat -e cpu-clock -o stat.txt -- true; }
	check() { grep -q cpu-clock stat.txt; }
END
ok "a scenario without a guest runs" test "$rc" -eq 0
ok "its results come out" test -s "$LAB_OUT/lab-test-works/stat.txt"
ok "so does the kernel's log" grep -q 'Linux version' "$LAB_OUT/lab-test-works/host-dmesg.log"

scenario fails <<-'END'
	measure() { echo "this went wrong"; return 3; }
END
ok "a scenario that fails fails the lab" test "$rc" -ne 0
ok "what it said is shown" grep -q "this went wrong" "$TMP/out"
ok "the log to read is named" grep -q "the log to read is .*/lab.log" "$TMP/out"

scenario splat <<-'END'
	measure() { echo "<4>WARNING: CPU: 0 PID: 1 at kernel/none.c:1" >/dev/kmsg; }
END
ok "a kernel warning fails the lab" test "$rc" -ne 0
ok "and is shown" grep -q "WARNING: CPU: 0" "$TMP/out"

scenario dies <<-'END'
	measure() { say "guest1 has ended by itself"; exit 76; }
END
ok "a guest that ends by itself fails the lab" test "$rc" -ne 0
ok "after it was booted again, and that is said" \
	grep -q '^boot 3: .*guest1 has ended by itself' "$LAB_OUT/lab-test-dies/lab.log"

scenario hangs <<-'END'
	LIMIT=8
	measure() { sleep 1000; }
END
ok "a scenario that hangs is ended" test "$rc" -ne 0
ok "the time limit is named" grep -q "did not power off in 8 s" "$TMP/out"
ok "no emulator is left behind" no_qemu_left
done_testing
