#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# deps.sh GROUP...: see that the Debian packages a step needs are there. Names
# what is missing; root on Debian gets it installed, anyone else the command.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

packages_of()
{
	case $1 in
	tree)	echo xz-utils patch ;;
	kernel)	echo gcc make flex bison bc dwarves libelf-dev libssl-dev kmod cpio perl ;;
	perf)	echo gcc clang make flex bison pkg-config python3 libelf-dev libdw-dev \
			libtraceevent-dev libunwind-dev libslang2-dev libzstd-dev zlib1g-dev libssl-dev ;;
	lab)	echo qemu-system-x86 busybox-static cpio gcc g++ libquantum-dev python3 \
			socat xz-utils bzip2 lz4 zstd ;;
	bochs)	echo bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso ;;
	node)	echo nodejs cpio ;;
	jvm)	echo openjdk-17-jdk-headless cpio ;;
	mariadb) echo gcc cpio ;;
	docs)	echo python3-docutils ;;
	series)	echo quilt sparse gcc-aarch64-linux-gnu codespell git perl ;;
	package) echo build-essential debhelper devscripts dh-python kernel-wedge python3-dacite python3-jinja2 quilt rsync ;;
	deb)	echo mmdebstrap dpkg-dev gzip xz-utils ;;
	bench)	echo python3 tmux ;;
	clickhouse) echo clickhouse-server clickhouse-client python3 ;;
	browser) echo chromium ;;
	npm)	echo npm ;;
	go)	echo golang-go ;;
	check)	echo shellcheck codespell aspell aspell-en perl git less procps strace tmux python3-ply python3-git \
		python3-prometheus-client ;;
	*)	die "deps.sh: no group '$1' (tree kernel perf lab bochs node jvm mariadb docs series package deb bench clickhouse browser npm go check)" ;;
	esac
}

is_installed()
{
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing_of()
{
	local group pkg

	for group in "$@"; do
		for pkg in $(packages_of "$group"); do
			is_installed "$pkg" || echo "$pkg"
		done
	done | sort -u
}

install_packages()
{
	set -- env DEBIAN_FRONTEND=noninteractive apt-get -y -q \
		-o DPkg::Lock::Timeout=300 --no-install-recommends install "$@"
	"$@" || { apt_update && "$@"; }
}

[ $# -gt 0 ] || die "usage: deps.sh GROUP..."

for group in "$@"; do
	packages_of "$group" >/dev/null
done
[ "${KVMU_DEPS:-}" != assume ] || exit 0
if ! command -v dpkg-query >/dev/null; then
	say "This is not a Debian system. Debian calls what is needed here:"
	for group in "$@"; do
		say "  $(packages_of "$group")"
	done
	die "install their like, then set KVMU_DEPS=assume to go on without this check"
fi

mapfile -t missing < <(missing_of "$@")
[ "${#missing[@]}" -gt 0 ] || exit 0

say "Missing packages: ${missing[*]}"
if [ "$(id -u)" -ne 0 ]; then
	die "not root, so nothing was installed. Run: sudo apt-get install ${missing[*]}"
fi
command -v apt-get >/dev/null ||
	die "no apt-get here. Install: ${missing[*]}"
lock_cache
step "install them" "$LOGS/deps.log" install_packages "${missing[@]}"
