#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest-image.sh [bare]: what the lab's guest boots: Debian's cloud kernel as it comes
# (from the package, which is not installed), and an initrd with busybox, the
# virtio modules, the static perf, and the workload. And the VMM that the lab's host
# runs besides QEMU, tiny-vmm, which has its guest in it.
#
# The initrd without that perf is guest/initrd-bare; with "bare", it is the only one that is made,
# and no perf has to be there.
#
# GUEST_KERNELS names kernels besides Debian's own 6.1, by version: one initrd
# serves all. The kernels are guest/vmlinuz-VERSION in the cache, where mainline is. 5.10
# is there if the mirror still has Debian 11, which comes to its end.
#
# The initrd's content stays in guest/root there: the host's side finds the
# guest's ELF files in it, as it would under perf's --guestmount.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../common.sh"
on_mainline
# shellcheck source=scripts/lab/image.sh
. "$TOP/scripts/lab/image.sh"

LAB=$TOP/scripts/lab
GUEST=$TREE/guest
ROOT=$GUEST/root
# What users copy into their guests.
PERF=${LAB_PERF:-$TREE/perf-collector/perf}
SPACE_MB=400
# In the order in which insmod wants them. What a kernel has built in is left out.
MODULES="drivers/virtio/virtio_ring drivers/virtio/virtio
	drivers/virtio/virtio_pci_legacy_dev drivers/virtio/virtio_pci_modern_dev
	drivers/virtio/virtio_pci drivers/char/virtio_console"
# For guests that ask for them.
VSOCK_MODULES="net/vmw_vsock/vsock net/vmw_vsock/vmw_vsock_virtio_transport_common
	net/vmw_vsock/vmw_vsock_virtio_transport"
NET_MODULES="net/core/failover drivers/net/net_failover drivers/net/virtio_net
	drivers/net/vmxnet3/vmxnet3"

meta_package()
{
	case $1 in
	5.10|6.1)	echo linux-image-cloud-amd64 ;;
	*)	echo "linux-image-$1-cloud-amd64" ;;
	esac
}

# The package's name carries a version: the one this package depends on.
kernel_package()
{
	apt-cache ${APT[@]+"${APT[@]}"} depends "$(meta_package "$1")" 2>/dev/null |
		awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }'
}

# Of a kernel's modules, those that are kept. A cache may have what an earlier version kept.
kept_modules()
{
	# shellcheck disable=SC2086 # lists
	printf '%s\n' $MODULES $VSOCK_MODULES $NET_MODULES
}

has_kernel()
{
	[ "$(cat "$GUEST/kernels/$1/modules.kept" 2>/dev/null)" = "$(kept_modules)" ]
}

# delete_modules DIR: those that are of no use here.
delete_modules()
{
	local module others=()

	for module in $(kept_modules); do
		others+=(! -path "*/kernel/$module.ko*")
	done
	find "$1" -name '*.ko*' "${others[@]}" -delete
}

fetch_kernel()
{
	local package new=$GUEST/kernel.new

	# Where earlier versions of this script had it.
	rm -rf "$GUEST/kernel" "$GUEST/vmlinuz"
	rm -rf "$new" "$GUEST/deb"
	mkdir -p "$GUEST/deb" "$GUEST/kernels"
	# Not every mirror has the release of this one.
	[ "$1" != 5.10 ] || other_release bullseye deb || return 0
	package=$(kernel_package "$1")
	if [ -z "$package" ]; then
		[ "$1" != 5.10 ] || return 0
		! apt_update || package=$(kernel_package "$1")
	fi
	if [ -z "$package" ]; then
		echo "apt knows no $(meta_package "$1"): are its lists there (apt-get update)?"
		return 1
	fi
	(cd "$GUEST/deb" && apt_download "$package")
	dpkg-deb -x "$GUEST"/deb/*.deb "$new"
	delete_modules "$new/lib/modules"
	kept_modules >"$new/modules.kept"
	rm -rf "$GUEST/kernels/$1"
	mv "$new" "$GUEST/kernels/$1"
	rm -rf "$GUEST/deb"
}

# add_modules KERNEL LIST MODULE...: what uname -r says finds them, in LIST's order.
add_modules()
{
	local dir release to list=$2 module file
	dir=$(echo "$GUEST/kernels/$1/lib/modules"/*)
	release=$(basename "$dir")
	to=$ROOT/lib/modules/$release
	shift 2

	mkdir -p "$to"
	: >"$to/$list"
	for module in "$@"; do
		file=$(find "$dir/kernel" -path "*/$module.ko*")
		case $file in
		*.ko)	cp "$file" "$to/" ;;
		*.ko.xz)	xz -dc "$file" >"$to/${module##*/}.ko" ;;
		*)
			grep -qxF "kernel/$module.ko" "$dir/modules.builtin" && continue
			# 5.10 has these in virtio_pci.
			[[ $module != */virtio_pci_*_dev ]] || continue
			echo "the guest's kernel $release has no $module.ko"
			return 1
			;;
		esac
		echo "${module##*/}.ko" >>"$to/$list"
	done
}

add_kernels()
{
	local dir version

	rm -f "$GUEST"/vmlinuz-*
	for dir in "$GUEST"/kernels/*; do
		version=$(basename "$dir")
		# shellcheck disable=SC2086 # lists
		add_modules "$version" order $MODULES
		# shellcheck disable=SC2086
		add_modules "$version" vsock $VSOCK_MODULES
		# shellcheck disable=SC2086
		add_modules "$version" net $NET_MODULES
		cp "$dir"/boot/vmlinuz-* "$GUEST/vmlinuz-$version"
	done
}

# With the current directory that pack() goes to: the same build-ids wherever the checkout is, and the
# cache. The files of another one's recordings are here, too, then.
SAME=("-ffile-prefix-map=$LAB=." "-ffile-prefix-map=$GUEST=.")

# With the names of its local functions: see libquantum-stdio.c.
build_libquantum()
{
	local archive

	archive=$(gcc -print-file-name=libquantum.a)
	objcopy --redefine-sym stderr=libquantum_stderr \
		--redefine-sym stdout=libquantum_stdout "$archive" "$GUEST/libquantum.a"
	gcc "${SAME[@]}" -O2 -g -shared -fPIC -Wl,-soname,libquantum.so.8 -Wl,-Bsymbolic -Wl,--build-id \
		-o "$GUEST/libquantum.so.8" "$LAB/workload/lib/libquantum-stdio.c" \
		-Wl,--whole-archive "$GUEST/libquantum.a" -Wl,--no-whole-archive -lgomp -lm
	rm -f "$GUEST/libquantum.a"
	install -D "$GUEST/libquantum.so.8" "$ROOT/lib/$(gcc -print-multiarch)/libquantum.so.8"
}

# The names a workload is called by, if not its own.
names_of()
{
	case $1 in
	brief)	echo storm-alpha storm-bravo storm-charlie storm-delta storm-echo \
			reuse-odd reuse-even ;;
	calls)	echo calls calls-jit ;;
	shares)	echo shares-alpha shares-bravo shares-charlie shares-delta ;;
	*)	echo "$1" ;;
	esac
}

# What a workload is built with besides what all are.
flags_of()
{
	case $1 in
	# It is run a hundred times a second, and the dynamic linker takes longer than it.
	brief)	echo -static -no-pie ;;
	cxx)	echo -static-libstdc++ -static-libgcc ;;
	spin)	echo -Wl,--build-id=none ;;
	calls)	echo -fno-omit-frame-pointer -pthread ;;
	calls-nofp) echo -fomit-frame-pointer -pthread ;;
	*)	echo -Wl,--as-needed -lquantum -lgomp ;;
	esac
}

build_workload()
{
	local source=$1 name=$2 built=$2 flags first

	read -r -a flags < <(flags_of "$name")
	"$3" "${SAME[@]}" -O2 -g -Wall -Wextra -Werror -Wl,--build-id -o "$GUEST/unstripped/$name" \
		"$source" "$GUEST/workload.o" "${flags[@]}"
	for name in $(names_of "$name"); do
		if [ -n "${first:-}" ]; then
			ln "$ROOT/usr/bin/$first" "$ROOT/usr/bin/$name"
		else
			add_binary "$ROOT" "$GUEST/unstripped/$built" "/usr/bin/$name"
			first=$name
		fi
	done
}

build_workloads()
{
	local source

	rm -rf "$GUEST/unstripped"
	mkdir -p "$GUEST/unstripped"
	gcc "${SAME[@]}" -O2 -g -Wall -Wextra -Werror -c -o "$GUEST/workload.o" "$LAB/workload/lib/workload.c"
	for source in "$LAB"/workload/*.c; do
		build_workload "$source" "$(basename "$source" .c)" gcc
	done
	# The same without frame pointers
	build_workload "$LAB/workload/calls.c" calls-nofp gcc
	for source in "$LAB"/workload/*.cc; do
		build_workload "$source" "$(basename "$source" .cc)" g++
	done
	# Names, and what becomes of them, are what it is there for.
	strip "$ROOT/usr/bin/cxx"
}

build_tiny_vmm()
{
	gcc "${SAME[@]}" -O2 -g -Wall -Wextra -Werror -static -pthread -o "$GUEST/tiny-vmm" \
		"$LAB"/vmm/tiny-vmm.c "$LAB"/vmm/tiny-guest.S
}

pack()
{
	cd "$LAB"
	rm -rf "$ROOT"
	mkdir -p "$ROOT/bin" "$ROOT/dev"
	install /bin/busybox "$ROOT/bin/busybox"
	ln -s busybox "$ROOT/bin/sh"
	install "$LAB/guest/init" "$ROOT/init"
	install "$LAB/guest/agent" "$LAB/guest/cpu" "$LAB/guest/ready" \
		"$LAB/guest/start" "$LAB/guest/stop" "$ROOT/bin/"
	gcc -O2 -Wall -Wextra -Werror -o "$ROOT/bin/vsock-serve" "$LAB/guest/vsock-serve.c"
	add_kernels
	build_libquantum
	build_workloads
	build_tiny_vmm
	pack_initrd "$ROOT" >"$GUEST/initrd.new"
	mv -f "$GUEST/initrd.new" "$GUEST/initrd-bare"
}

# The kernel unpacks one archive after the other.
pack_collector()
{
	local root=$GUEST/collector

	rm -rf "$root"
	# LAB_PERF has symbols: of no use in the guest, and megabytes.
	strip -o "$GUEST/perf" "$PERF"
	add_binary "$root" "$GUEST/perf" /usr/bin/perf
	cp -r "$root/." "$ROOT"
	{
		cat "$GUEST/initrd-bare"
		pack_initrd "$root"
	} >"$GUEST/initrd.new"
	mv -f "$GUEST/initrd.new" "$GUEST/initrd"
}

image_key()
{
	{
		cat "$0" "$LAB/image.sh" "$LAB"/guest/* "$LAB"/workload/*.c* "$LAB"/workload/lib/* "$LAB"/vmm/*
		dpkg-query -W busybox-static libquantum8 libc6
		ls "$GUEST"/kernels/*/boot
	} | hash_text
}

collector_key()
{
	{
		cat "$TREE/stamps/guest-image"
		sha256sum <"$PERF"
	} | hash_text
}

lock_cache
[ "${1:-}" = bare ] || [ -x "$PERF" ] || die "no perf at $PERF: build it first (make collector)"
"$TOP/scripts/deps.sh" lab
# Those that are there already are packed, too.
mapfile -t versions < <(
	{
		# shellcheck disable=SC2086 # a list
		printf '%s\n' 6.1 ${GUEST_KERNELS:-}
		[ ! -d "$GUEST/kernels" ] || ls "$GUEST/kernels"
	} | sort -u)
for version in "${versions[@]}"; do
	! has_kernel "$version" || continue
	need_space "$TREE" "$SPACE_MB"
	step "download a kernel for the guest (Debian's $(meta_package "$version") $version)" \
		"$LOGS/guest-kernel.log" fetch_kernel "$version"
	has_kernel "$version" || say "    the mirror has no Debian 11: guests for 5.10 have 6.1"
done
key=$(image_key)
if ! stamp_is guest-image "$key" || [ ! -f "$GUEST/initrd-bare" ]; then
	stamp_drop guest-image
	stamp_drop guest-collector
	step "pack the guest's initrd" "$LOGS/guest-image.log" pack
	stamp_set guest-image "$key"
fi
[ "${1:-}" != bare ] || exit 0
key=$(collector_key)
stamp_is guest-collector "$key" && [ -f "$GUEST/initrd" ] && exit 0
stamp_drop guest-collector
step "pack the collector for the guest" "$LOGS/guest-collector.log" pack_collector
stamp_set guest-collector "$key"
