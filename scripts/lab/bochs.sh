# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by lab.sh: the lab of scenarios with EMULATOR=bochs. Bochs emulates Intel's
# VMX, which QEMU's TCG does not, and has no way to the files of this machine: what the
# inside needs is in an initrd, at the paths of the shares, and results come out by the
# serial port.

# shellcheck source=scripts/lab/image.sh
. "$LAB/image.sh"

# Instructions in a second of the emulated clock. It sets how long an interrupt takes
# in ns, not how fast the emulator is.
BOCHS_IPS=40000000
# Bochs computes the cylinders of a disk whose size is a multiple of this.
BOCHS_HEADS=16
BOCHS_SECTORS=63
SECTOR_SIZE=512
ISOLINUX=/usr/lib/ISOLINUX

# add_guests ROOT: QEMU, and the guests that it can run there.
add_guests()
{
	local root=$1 rom

	# It looks for its firmware from where it is.
	add_binary "$root" /usr/bin/qemu-system-x86_64 /usr/bin/qemu-system-x86_64
	ln -s ../usr/bin/qemu-system-x86_64 "$root/bin/"
	for rom in seabios/bios-256k.bin qemu/kvmvapic.bin qemu/linuxboot_dma.bin; do
		install -D "/usr/share/$rom" "$root/usr/share/qemu/$(basename "$rom")"
	done
	cp "$MAIN_TREE"/guest/{initrd,vmlinuz-6.12} "$root/mnt/guest/"
}

# compose_root ROOT: what the host has instead of this machine's root file system.
compose_root()
{
	local root=$1

	mkdir -p "$root"/{bin,dev,proc,sys,tmp,run,var/tmp,mnt/{guest,perf,scenario,out,top/scripts}}
	install /bin/busybox "$root/bin/busybox"
	install "$LAB/host/initrd-init" "$root/init"
	add_binary "$root" /bin/bash /bin/bash
	strip -o "$WORK/perf" "$PERF"
	add_binary "$root" "$WORK/perf" "/mnt/perf/$(basename "$PERF")"
	cp "$MAIN_TREE/guest/tiny-vmm" "$root/mnt/guest/"
	[ -z "$(scenario_value HOST_QEMU '')" ] || add_guests "$root"
	[ -z "$SELFTESTS" ] ||
		install -D -t "$root/mnt/selftests" "$SELFTESTS"/*_test
	# shellcheck disable=SC2153 # lab.sh's
	cp "$(dirname "$FILE")"/*.sh "$root/mnt/scenario/"
	cp -r "$LAB" "$root/mnt/top/scripts/"
	# What the scenario has prepared: the first boot finds that, and the log of this run.
	if [ ! -d "$SOCKETS/prepared" ]; then
		cp -r "$OUT" "$SOCKETS/prepared"
		rm -f "$SOCKETS/prepared/lab.log"
	fi
	cp -r "$SOCKETS/prepared/." "$root/mnt/out/"
}

# compose_disk IMAGE
compose_disk()
{
	local image=$1 iso=$WORK/iso unit=$((BOCHS_HEADS * BOCHS_SECTORS * SECTOR_SIZE)) size

	compose_root "$WORK/root"
	mkdir -p "$iso/isolinux"
	pack_initrd "$WORK/root" >"$iso/initrd"
	cp "$KERNEL" "$iso/kernel"
	cp "$ISOLINUX/isolinux.bin" /usr/lib/syslinux/modules/bios/ldlinux.c32 "$iso/isolinux/"
	# A panic resets the CPU by a triple fault, at which Bochs ends.
	cat >"$iso/isolinux/isolinux.cfg" <<-END
		default host
		label host
		kernel /kernel
		initrd /initrd
		append console=ttyS0,115200 rdinit=/init nokaslr tsc=reliable tsc_early_khz=$((BOCHS_IPS / 1000)) no_timer_check clearcpuid=ht panic=-1 reboot=t loglevel=5 kvmu.scenario=$(basename "$FILE") kvmu.perf=$(basename "$PERF") $(scenario_value HOST_CMDLINE '')
	END
	xorriso -as mkisofs -quiet -o "$image" -isohybrid-mbr "$ISOLINUX/isohdpfx.bin" \
		-b isolinux/isolinux.bin -c isolinux/boot.cat \
		-no-emul-boot -boot-load-size 4 -boot-info-table "$iso"
	size=$(stat -c %s "$image")
	truncate -s $(((size + unit - 1) / unit * unit)) "$image"
}

bochs_config()
{
	local mem

	mem=$(scenario_value HOST_MEM 256)
	cat <<-END
		config_interface: textconfig
		display_library: term, options="hideIPS"
		plugin_ctrl: unmapped=1, biosdev=1, speaker=0, extfpuirq=0, gameport=0, parallel=0, serial=1, iodebug=0
		cpu: model=broadwell_ult, count=$(scenario_value HOST_CPUS 1), ips=$BOCHS_IPS, reset_on_triple_fault=0, ignore_bad_msrs=1
		memory: guest=$mem, host=$mem
		romimage: file=/usr/share/bochs/BIOS-bochs-latest
		vgaromimage: file=/usr/share/vgabios/vgabios.bin
		pci: enabled=1, chipset=i440fx
		ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
		ata0-master: type=disk, mode=flat, path=$WORK/disk, cylinders=0, heads=$BOCHS_HEADS, spt=$BOCHS_SECTORS
		boot: disk
		clock: sync=none, time0=1700000000
		com1: enabled=1, mode=file, dev=$WORK/serial
		log: $OUT/bochs.log
		panic: action=fatal
		error: action=ignore
	END
}

# What the inside has sent: its console, and the files of $OUT.
take_results()
{
	tr -d '\r' <"$WORK/serial" >"$WORK/received"
	sed '/^--- results ---$/,$d' "$WORK/received" >"$OUT/host-console.log"
	grep -qx -e '--- end of results ---' "$WORK/received" || return
	sed '1,/^--- results ---$/d; /^--- end of results ---$/,$d' "$WORK/received" |
		base64 -d | tar -xzf - -C "$OUT"
}

# Its exit code does not tell a host that has powered off from one that has crashed: that
# there are results does. Debian's Bochs starts in its debugger.
boot_bochs()
{
	local rc=0

	WORK=$SOCKETS/bochs
	rm -rf "$WORK"
	mkdir "$WORK"
	compose_disk "$WORK/disk" || return
	bochs_config >"$WORK/bochsrc"
	echo continue >"$WORK/continue"
	# It takes its time to end on SIGTERM.
	TERM=vt100 timeout --foreground -s KILL "$LIMIT" \
		bochs -q -f "$WORK/bochsrc" -rc "$WORK/continue" \
		</dev/null >"$WORK/screen" 2>&1 || rc=$?
	take_results && return 0
	tail -n 5 "$OUT/bochs.log"
	[ "$rc" -ne 137 ] || return 124
	echo "the lab's host has ended without results"
	return 1
}
