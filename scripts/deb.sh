#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# deb.sh [RELEASE...]: Debian packages of perf with perf kvm unified, into build/deb/: for Debian 12
# and 13 (bookworm and trixie; default: both), each built in that release. With them, a host whose
# kernel is Debian's own needs nothing else: see KERNELS WITHOUT THE SERIES in the manual.
#
# The package has /usr/bin/perf-kvm-unified, which is `perf kvm unified`, its manual, its completion
# and a unit of systemd, and the perf that it is part of as /usr/lib/perf-kvm-unified/perf. No file of it is
# also in Debian's linux-perf.
#
# DEBFULLNAME and DEBEMAIL say who its maintainer is, as Debian's own tools have them.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"
on_mainline

case ${1:-} in
-h | --help)
	print_help
	exit 0
	;;
esac

RELEASES=(bookworm trixie)
NAME=perf-kvm-unified
OUT=$TOP/build/deb
SPACE_MB=6000
# What perf is built with, and its manual
BUILD_DEPS=build-essential,clang,flex,bison,pkg-config,python3-dev,asciidoctor,bash-completion
BUILD_DEPS+=,libelf-dev,libdw-dev,libtraceevent-dev,libunwind-dev,libslang2-dev,libzstd-dev
BUILD_DEPS+=,zlib1g-dev,libssl-dev,libnuma-dev,libcap-dev,liblzma-dev,libcapstone-dev
# As distributions build it, but for what perf kvm unified has no use for
FLAGS=(NO_LIBPYTHON=1 NO_LIBPERL=1 NO_JVMTI=1 NO_BABELTRACE2=1 NO_LIBLLVM=1 NO_LIBDEBUGINFOD=1
	NO_LIBPFM4=1 NO_RUST=1 NO_SHELLCHECK=1 NO_SDT=1 BUILD_BPF_SKEL=1 LIBUNWIND=1 WERROR=0)

# within ROOT COMMAND...: in there, with nothing of this machine's environment
within()
{
	local root=$1
	shift

	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/ \
		SOURCE_DATE_EPOCH="$EPOCH" chroot "$root" "$@"
}

# debootstrap_to ROOT RELEASE PACKAGES
debootstrap_to()
{
	rm -rf "$1.new" "$1"
	mmdebstrap --quiet --variant=apt --include="$3" "$2" "$1.new" "$(mirror)" || return
	mv "$1.new" "$1"
}

# build_root RELEASE: where it is built; made once, and again where other packages are wanted
build_root()
{
	local root=$KVMU_CACHE/debian/$1-build

	if [ "$(cat "$root/packages" 2>/dev/null)" != "$BUILD_DEPS" ]; then
		need_space "$KVMU_CACHE" "$SPACE_MB"
		step "get what $1 builds perf with" "$LOGS/deb-$1-root.log" \
			debootstrap_to "$root" "$1" "$BUILD_DEPS"
		echo "$BUILD_DEPS" >"$root/packages"
	fi
}

# What perf is built from: as `make perf-tar-src-pkg`, which wants a git tree
source_files()
{
	(cd "$TREE/src" && grep -v '^#' tools/perf/MANIFEST | while read -r glob; do
		compgen -G "$glob" || :
	done)
}

# build_perf ROOT: /build/perf, and /build/perf-kvm-unified.1
build_perf()
{
	local root=$1

	rm -rf "$root/build"
	mkdir -p "$root/build/src" "$root/build/out" "$root/build/man"
	source_files | tar -C "$TREE/src" -cf - -T - | tar -C "$root/build/src" -xf -
	within "$root" make -C /build/src/tools/perf O=/build/out -j"$JOBS" prefix=/usr/lib/$NAME \
		"${FLAGS[@]}"
	within "$root" /build/out/perf version --build-options
	within "$root" strip -o /build/perf /build/out/perf
	within "$root" make -C /build/src/tools/perf/Documentation USE_ASCIIDOCTOR=1 \
		OUTPUT=/build/man/ /build/man/$NAME.1
}

# lay_out_page DIR: report --format html looks for the program where perf looks for its own.
lay_out_page()
{
	local program=libexec/perf-core/$NAME-page

	mkdir -p "$1/page/lib" "$1/libexec/perf-core" &&
		cp -r "$TOP/scripts/page/." "$1/page/" &&
		cp "$("$TOP/scripts/page.sh" --fetch)"/* "$1/page/lib/" &&
		ln -s "../../page/$NAME-page" "$1/$program"
}

# lay_out ROOT: /build/package, as it will be on a host
lay_out()
{
	local package=$1/build/package

	install -D "$1/build/perf" "$package/usr/lib/$NAME/perf" &&
		install -D "$TOP/scripts/deb/$NAME" "$package/usr/bin/$NAME" &&
		install -D -m 644 "$TOP/scripts/deb/completion.sh" \
			"$package/usr/share/bash-completion/completions/$NAME" &&
		install -D -m 644 "$TOP/scripts/deb/$NAME.service" \
			"$package/usr/lib/systemd/system/$NAME.service" &&
		install -D -m 644 "$TOP/scripts/deb/copyright" "$package/usr/share/doc/$NAME/copyright" &&
		install -m 644 "$TOP/Documentation/install.md" "$TOP/Documentation/deployment.md" \
			"$TOP/Documentation/alerts.yml" "$package/usr/share/doc/$NAME/" &&
		install -D -m 644 "$1/build/man/$NAME.1" "$package/usr/share/man/man1/$NAME.1" &&
		gzip -9n "$package/usr/share/man/man1/$NAME.1" &&
		lay_out_page "$package/usr/lib/$NAME"
}

# What its programs are linked with, in the release's own packages
depends()
{
	mkdir -p "$1/build/debian"
	printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' $NAME $NAME >"$1/build/debian/control"
	within "$1" sh -c "cd /build && dpkg-shlibdeps -O package/usr/lib/$NAME/perf" |
		sed -n 's/^shlibs:Depends=//p'
}

# pack ROOT RELEASE
pack()
{
	local root=$1 package=$1/build/package arch depends version

	arch=$(within "$root" dpkg --print-architecture) && depends=$(depends "$root") || return
	[ -n "$depends" ] || return
	version=$(version_of "$TREE/src")+$(date -u -d "@$EPOCH" +%Y%m%d%H%M)~$2
	mkdir -p "$package/DEBIAN" "$OUT"
	(cd "$package" && find . -type f -not -path './DEBIAN/*' -printf '%P\0' | sort -z |
		xargs -0 md5sum) >"$package/DEBIAN/md5sums"
	cat >"$package/DEBIAN/control" <<-END
		Package: $NAME
		Version: $version
		Architecture: $arch
		Maintainer: ${DEBFULLNAME:-perf kvm unified} <${DEBEMAIL:-root@localhost}>
		Installed-Size: $(du -sk --exclude=DEBIAN "$package" | cut -f1)
		Depends: $depends
		Recommends: binutils, python3
		Section: devel
		Priority: optional
		Description: profile a KVM host and its guests together, from the host
		 perf kvm unified record and report: one profile of host, VMM and every guest,
		 with functions of a guest's programs by process, and where the time of each
		 vCPU went while it did not run. On kernels without PERF_SAMPLE_VCPU, BPF
		 programs take its place.
	END
	find "$package" -exec touch -h -d "@$EPOCH" {} +
	rm -f "$OUT/${NAME}"_*"~$2_$arch.deb"
	dpkg-deb --root-owner-group -Zxz --build "$package" "$OUT/${NAME}_${version}_$arch.deb"
}

# make_package RELEASE
make_package()
{
	local root=$KVMU_CACHE/debian/$1-build

	# Each ends at its first command that fails: not after &&, where it would not.
	build_perf "$root"
	lay_out "$root"
	pack "$root" "$1"
}

[ $# -gt 0 ] || set -- "${RELEASES[@]}"
for release in "$@"; do
	[[ " ${RELEASES[*]} " == *" $release "* ]] ||
		die "no release $release here: ${RELEASES[*]}"
done
[ "$(id -u)" -eq 0 ] || die "a package is built in its own release, by chroot(8): run this as root"
lock_cache
"$TOP/scripts/deps.sh" deb
"$TOP/scripts/apply.sh"
# What is built from the same commit is the same; what is changed is of now.
EPOCH=$EPOCHSECONDS
[[ $(code_version) == *[!0-9a-f]* ]] || EPOCH=$(git -C "$TOP" log -1 --format=%ct)
for release in "$@"; do
	build_root "$release"
	step "build the package for $release" "$LOGS/deb-$release.log" make_package "$release"
	ls -sh "$OUT/$NAME"_*"~$release"_*.deb
done
