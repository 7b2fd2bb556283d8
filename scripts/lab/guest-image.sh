#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest-image.sh: what the lab's guest boots: Debian's cloud kernel as it comes
# (from the package, which is not installed), and an initrd with busybox, the
# virtio modules, perf, and the workload.
#
# The initrd's content stays in $KVMU_CACHE/guest/root: the host's side finds
# the guest's ELF files there, as it would under perf's --guestmount.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../common.sh"

LAB=$TOP/scripts/lab
GUEST=$TREE/guest
ROOT=$GUEST/root
PERF=${LAB_PERF:-$TREE/perf/perf}
SPACE_MB=400
# In the order in which insmod wants them.
MODULES="virtio/virtio_ring virtio/virtio virtio/virtio_pci_legacy_dev
	virtio/virtio_pci_modern_dev virtio/virtio_pci char/virtio_console"

# The package's name carries a version: the one this package depends on.
kernel_package()
{
	apt-cache depends linux-image-cloud-amd64 2>/dev/null |
		awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }'
}

fetch_kernel()
{
	local package

	rm -rf "$GUEST/kernel.new" "$GUEST/deb"
	mkdir -p "$GUEST/deb"
	package=$(kernel_package)
	[ -n "$package" ] || { apt_update && package=$(kernel_package); } || :
	if [ -z "$package" ]; then
		echo "apt knows no linux-image-cloud-amd64: are its lists there (apt-get update)?"
		return 1
	fi
	(cd "$GUEST/deb" && apt_download "$package")
	dpkg-deb -x "$GUEST"/deb/*.deb "$GUEST/kernel.new"
	# Only its drivers for virtio are of use here.
	find "$GUEST/kernel.new/lib/modules" -name '*.ko' ! -path '*/virtio*' -delete
	mv "$GUEST/kernel.new" "$GUEST/kernel"
	rm -rf "$GUEST/deb"
}

add_binary()
{
	local lib

	install -D "$1" "$ROOT$2"
	# "name => path (address)", and the loader as "path (address)".
	ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' |
		while read -r lib; do
			[ -e "$ROOT$lib" ] || install -D "$lib" "$ROOT$lib"
		done
}

add_modules()
{
	local module file

	mkdir -p "$ROOT/lib/modules"
	for module in $MODULES; do
		file=$(find "$GUEST/kernel/lib/modules" -path "*/drivers/$module.ko")
		[ -n "$file" ] || {
			echo "the guest's kernel package has no $module.ko"
			return 1
		}
		cp "$file" "$ROOT/lib/modules/"
		echo "${module##*/}.ko" >>"$ROOT/lib/modules/order"
	done
}

# With the names of its local functions: see libquantum-stdio.c.
build_libquantum()
{
	local archive

	archive=$(gcc -print-file-name=libquantum.a)
	objcopy --redefine-sym stderr=libquantum_stderr \
		--redefine-sym stdout=libquantum_stdout "$archive" "$GUEST/libquantum.a"
	gcc -O2 -g -shared -fPIC -Wl,-soname,libquantum.so.8 -Wl,-Bsymbolic -Wl,--build-id \
		-o "$GUEST/libquantum.so.8" "$LAB/workload/lib/libquantum-stdio.c" \
		-Wl,--whole-archive "$GUEST/libquantum.a" -Wl,--no-whole-archive -lgomp -lm
	rm -f "$GUEST/libquantum.a"
	install -D "$GUEST/libquantum.so.8" "$ROOT/lib/$(gcc -print-multiarch)/libquantum.so.8"
}

build_workloads()
{
	local source name

	for source in "$LAB"/workload/*.c; do
		name=$(basename "$source" .c)
		gcc -O2 -g -Wall -Wextra -Werror -o "$GUEST/$name" "$source" \
			-Wl,--as-needed -lquantum -lgomp
		add_binary "$GUEST/$name" "/usr/bin/$name"
	done
}

pack()
{
	rm -rf "$ROOT"
	mkdir -p "$ROOT/bin" "$ROOT/dev"
	install /bin/busybox "$ROOT/bin/busybox"
	ln -s busybox "$ROOT/bin/sh"
	install "$LAB/guest/init" "$ROOT/init"
	install "$LAB/guest/agent" "$LAB/guest/cpu" "$LAB/guest/ready" \
		"$LAB/guest/start" "$LAB/guest/stop" "$ROOT/bin/"
	add_modules
	build_libquantum
	build_workloads
	# Symbols of perf itself are of no use in the guest, and megabytes.
	strip -o "$GUEST/perf" "$PERF"
	add_binary "$GUEST/perf" /usr/bin/perf
	# Not compressed: the guest unpacks it under emulation.
	(cd "$ROOT" && find . | cpio -o -H newc --quiet -R 0:0) >"$GUEST/initrd.new"
	mv -f "$GUEST/initrd.new" "$GUEST/initrd"
	cp "$GUEST"/kernel/boot/vmlinuz-* "$GUEST/vmlinuz"
}

image_key()
{
	{
		cat "$0" "$LAB"/guest/* "$LAB"/workload/*.c "$LAB"/workload/lib/*
		sha256sum <"$PERF"
		dpkg-query -W busybox-static libquantum8 libc6
		ls "$GUEST/kernel/boot"
	} | hash_text
}

lock_cache
[ -x "$PERF" ] || die "no perf at $PERF: build it first (make perf)"
"$TOP/scripts/deps.sh" lab
if [ ! -d "$GUEST/kernel" ]; then
	need_space "$TREE" "$SPACE_MB"
	step "download the guest's kernel (Debian's linux-image-cloud-amd64)" \
		"$LOGS/guest-kernel.log" fetch_kernel
fi
key=$(image_key)
stamp_is guest-image "$key" && [ -f "$GUEST/initrd" ] && exit 0
stamp_drop guest-image
step "pack the guest's initrd" "$LOGS/guest-image.log" pack
stamp_set guest-image "$key"
