#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A Debian kernel package with the backport: the commands that distro-kernel.md has for it, as
# far as the package's configuration of the cloud kernel. With that, the directories that the
# series touches are built. Not the whole package: an hour and more.
#
# The packaging is that of Debian 13, whose kernel is 6.12, from Debian's mirror, and the source,
# which Debian's patches are in already, that of the package linux-source-6.12 for Debian 12: as
# the mirror has it, the former is some versions behind the latter.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
# The packaging that there is, is of that kernel.
on_lts

DOC=$TOP/Documentation/distro-kernel.md
# Whose kernel is the LTS kernel. This machine's own release has an older one.
RELEASE=trixie
FLAVOUR=amd64_none_cloud-amd64
WORK=$KVMU_CACHE/debian-kernel
PKG=$WORK/package
SPACE_MB=4000
# For changelogs.
EMAIL=kernel@example.com
NAME="Kernel Builder"

source_lists()
{
	other_release "$RELEASE" deb-src
}

# Newest first
versions()
{
	apt-cache "${APT[@]}" showsrc --only-source linux |
		sed -n "s/^Version: \(${LTS//./\\.}\..*\)/\1/p" | sort -Vr
}

# The lists may know of versions that the mirror does not have.
fetch()
{
	mkdir -p "$WORK"
	rm -rf "$PKG" "$WORK"/*.debian.tar.xz
	while read -r version; do
		! (cd "$WORK" && apt-get "${APT[@]}" source --diff-only "linux=$version") || return 0
	done < <(versions)
	return 1
}

# dpkg-source leaves a package with its patches applied, and so is this one.
unpack()
{
	need_space "$WORK" "$SPACE_MB"
	cp -a "$TREE/orig" "$PKG" && tar -C "$PKG" -xf "$WORK/linux_$version.debian.tar.xz" || return
	echo '# The patches are in the source.' >"$PKG/debian/patches/series"
	cd "$PKG" && DEBEMAIL=$EMAIL DEBFULLNAME=$NAME dch --newversion "$source_version-1" \
		"The source of linux-source-$LTS"
}

# The commands of the document, the first block below "## Debian", but for the build.
commands()
{
	awk '/^## / { on = $2 == "Debian" } on && /^```/ { block++; next } on && block == 1' "$DOC" |
		grep -v '^dpkg-buildpackage '
}

follow_document()
{
	commands >"$TMP/commands"
	cat "$TMP/commands"
	cd "$PKG" && R=$TOP DEBEMAIL=$EMAIL DEBFULLNAME=$NAME \
		bash -eo pipefail -c '. "$1"' commands "$TMP/commands"
}

# What Debian 13's kernel is built with is not in Debian 12.
own_compiler()
{
	sed -i "s/^compiler = 'gcc-.*/compiler = 'gcc-$(gcc -dumpversion)'/" \
		"$PKG/debian/config/defines.toml" &&
		grep "^compiler = 'gcc-$(gcc -dumpversion)'" "$PKG/debian/config/defines.toml"
}

build_dir()
{
	make -C "$PKG/debian/build/build_$FLAVOUR" -j"$JOBS" "$@"
}

has_option()
{
	grep -x "$1" "$PKG/debian/build/build_$FLAVOUR/.config"
}

has_symbol()
{
	nm "$PKG/debian/build/build_$FLAVOUR/$1" | grep -w "$2"
}

lock_cache
"$TOP/scripts/deps.sh" check kernel series package >&2 || exit 1
"$TOP/scripts/get-kernel.sh" >&2 || exit 1
ok "the lists of Debian's sources" source_lists
ok "the packaging of Debian's kernel" fetch
source_version=$(make -s -C "$TREE/orig" kernelversion)
note "packaging of linux ${version:-that is not to be had}, source $source_version"
ok "a source package of Debian's kernel" unpack
[ "$tap_failed" -eq 0 ] || { done_testing; exit; }
ok "gcc of this machine" own_compiler
ok "the commands of ${DOC##*/}" follow_document
ok "the last patch is applied" grep -x "features/all/perf-kvm-unified/00.*" \
	<(cd "$PKG" && QUILT_PATCHES=debian/patches quilt --quiltrc=- top |
		grep -xF "$(tail -n 1 debian/patches/series)")
ok "the package's version says so" grep -q "^linux ($source_version-1+kvmu1)" "$PKG/debian/changelog"
ok "the package sets up its cloud kernel" \
	make -C "$PKG" -f debian/rules.gen "setup_$FLAVOUR"
ok "with KVM as modules" has_option CONFIG_KVM_AMD=m
ok "and guests' samples" has_option CONFIG_GUEST_PERF_EVENTS=y
ok "perf core and KVM build" build_dir kernel/events/ arch/x86/kvm/
ok "with the series: perf core" has_symbol kernel/events/core.o __SCK____perf_guest_get_vcpu
ok "with the series: SVM" has_symbol arch/x86/kvm/svm/svm.o svm_get_perf_data
ok "with the series: VMX" has_symbol arch/x86/kvm/vmx/vmx.o vmx_get_perf_data
# Of no use for the next time, and large.
[ "$tap_failed" -gt 0 ] || rm -rf "$PKG"
done_testing
