#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What goes wrong on other people's machines ends in a sentence and an exit code.

# shellcheck disable=SC2317 # functions are called by name, through refuse
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

# refuse WHAT EXIT-CODE PATTERN COMMAND...: two checks.
refuse()
{
	local what=$1 want=$2 pattern=$3 rc
	shift 3

	"$@" >"$TMP/out" 2>&1 </dev/null
	rc=$?
	sed 's/^/    /' "$TMP/out" >&2
	ok "$what: exit code $want" test "$rc" -eq "$want"
	ok "$what: says so" grep -qE "$pattern" "$TMP/out"
}

unknown_scenario()
{
	"$TOP/scripts/lab.sh" no-such-scenario
}

without_network()
{
	printf 'Acquire::http::Proxy "http://127.0.0.1:9";\nAcquire::https::Proxy "http://127.0.0.1:9";\nAcquire::Retries "0";\n' >"$TMP/apt.conf"
	APT_CONFIG=$TMP/apt.conf KDIR='' KVMU_CACHE=$TMP/net KVMU_TARBALL=$TMP/none \
		"$TOP/scripts/get-kernel.sh"
}

foreign_version()
{
	mkdir -p "$TMP/old"
	printf 'VERSION = 5\nPATCHLEVEL = 4\n' >"$TMP/old/Makefile"
	KDIR=$TMP/old KVMU_CACHE=$TMP/v "$TOP/scripts/get-kernel.sh"
}

unprivileged_deps()
{
	# Without any package installed, as far as dpkg-query is concerned.
	mkdir -p "$TMP/bin"
	printf '#!/bin/sh\nexit 1\n' >"$TMP/bin/dpkg-query"
	printf '#!/bin/sh\necho 1000\n' >"$TMP/bin/id"
	chmod +x "$TMP/bin/"*
	PATH=$TMP/bin:$PATH "$TOP/scripts/deps.sh" lab
}

# full MB COMMAND...: with the cache on a disk of that size.
full()
{
	local rc size=$1
	shift

	mkdir -p "$TMP/full"
	mount -t tmpfs -o "size=${size}m" tmpfs "$TMP/full" || return 99
	KVMU_CACHE=$TMP/full KDIR='' "$@"
	rc=$?
	umount "$TMP/full"
	return "$rc"
}

# The unpacked tree does not fit, and nobody asked beforehand.
fill_in_unpack()
{
	mkdir -p "$TMP/big"
	printf 'VERSION = %s\nPATCHLEVEL = %s\nmrproper:\n' "${BASE%.*}" "${BASE#*.}" >"$TMP/big/Makefile"
	head -c 8000000 /dev/urandom >"$TMP/big/file"
	KDIR=$TMP/big KVMU_NO_SPACE_CHECK=1 "$TOP/scripts/get-kernel.sh"
}

# As after fill_in_unpack, but full to the last byte before the first directory is made.
fill_all()
{
	head -c 8000000 /dev/zero >"$KVMU_CACHE/filler" 2>/dev/null
	KDIR=$TMP/big KVMU_NO_SPACE_CHECK=1 "$TOP/scripts/get-kernel.sh"
}

interrupted()
{
	cat >"$TMP/long" <<-SCRIPT
		. "$TOP/scripts/common.sh"
		work() { echo \$BASHPID >"$TMP/pid"; sleep 60; }
		step "a long step" "$TMP/long.log" work
	SCRIPT
	timeout --preserve-status -s TERM 2 bash "$TMP/long"
}

refuse "unknown scenario" 2 "no scenario 'no-such-scenario'" unknown_scenario
ok "unknown scenario: the known ones are listed" grep -qE '^ +libquantum ' "$TMP/out"
refuse "no scenario" 2 "usage: lab.sh SCENARIO" "$TOP/scripts/lab.sh"
refuse "no network" 1 "no network, or the package mirror does not answer" without_network
ok "no network: no stamp is left" not test -e "$TMP/net/linux-$BASE/stamps/source"
refuse "KDIR that is not there" 1 "KDIR=.*/nowhere does not exist" \
	env KDIR="$TMP/nowhere" KVMU_CACHE="$TMP/v" "$TOP/scripts/get-kernel.sh"
refuse "KDIR of another version" 1 "this is kernel 5.4, the patches are for linux-$BASE" foreign_version
refuse "packages missing, not root" 1 "sudo apt-get install .*qemu-system-x86" unprivileged_deps
refuse "a step interrupted" 130 "interrupted" interrupted
ok "a step interrupted: nothing of it runs on" not kill -0 "$(cat "$TMP/pid")"

if [ "$(id -u)" -eq 0 ]; then
	refuse "disk too small" 1 "not enough disk space: [0-9]+ MB needed" \
		full 20 "$TOP/scripts/get-kernel.sh"
	refuse "disk full in the middle of a step" 1 "the disk that holds .* is full" full 4 fill_in_unpack
	refuse "disk full from the start" 1 "the disk that holds .* is full" full 4 fill_all
else
	skip "a full disk" "only root can mount a small one"
fi
done_testing
