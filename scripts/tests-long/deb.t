#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The Debian packages that scripts/deb.sh makes: in a clean system of each release, beside Debian's
# own perf, and gone again.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

NAME=perf-kvm-unified

# within ROOT COMMAND...: as on a machine that runs
within()
{
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount sh -c 'root=$1
		shift
		mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" &&
			exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ chroot "$root" "$@"' within "$@"
}

# depends: the names of what the package wants, with commas
depends()
{
	dpkg-deb -f "$package" Depends | sed 's/ *([^)]*)//g; s/ *|[^,]*//g; s/, /,/g'
}

# clean_root RELEASE: with perf of Debian's own
clean_root()
{
	rm -rf "$root"
	mmdebstrap --quiet --variant=apt --include="linux-perf,bash-completion,python3,$(depends)" \
		"$1" "$root" "$(mirror)"
}

# What is there but for the package manager's own notes
files()
{
	(cd "$root" && find . -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o \
		-path ./profile -prune -o -path ./package.deb -prune -o -printf '%p %y %l\n' -type f \
		-exec sha256sum {} + | sort)
}

# By process: the files of the host's programs, and so their functions' names, are not in there.
same_report()
{
	local options=(--ignore-vmlinux --kallsyms /dev/null --format json --sort "comm,pid")

	"$MAIN_TREE/perf/perf" kvm unified report -f -i "$LAB_OUT/libquantum/perf.data" "${options[@]}" \
		>"$TMP/ours" &&
		within "$root" "$NAME" report -f -i /profile "${options[@]}" >"$TMP/theirs" &&
		"$TESTS/report-sums.py" "$TMP/theirs" && cmp "$TMP/ours" "$TMP/theirs"
}

# completes WORD LINE: the package's completion offers it
completes()
{
	# shellcheck disable=SC2016 # for the inner shell
	within "$root" bash -c '. /usr/share/bash-completion/completions/$1
		read -ra COMP_WORDS <<<"$2"
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_perf_kvm_unified
		printf "%s\n" "${COMPREPLY[@]}"' completes "$NAME" "$2" | grep -qx -e "$1"
}

page_is_made()
{
	within "$root" "$NAME" report -f -i /profile --ignore-vmlinux --kallsyms /dev/null --format html \
		-o /profile/page.html && grep -q '</html>' "$root/profile/page.html"
}

lab_runs libquantum
for release in bookworm trixie; do
	ok "$release: the package is built" "$TOP/scripts/deb.sh" "$release"
	package=$(echo "$TOP/build/deb/$NAME"_*"~$release"_*.deb)
	root=$TMP/$release
	ok "$release: there is a clean system, with linux-perf" clean_root "$release"
	cp -r "$LAB_OUT/libquantum/perf.data" "$root/profile"
	cp "$package" "$root/package.deb"
	files >"$TMP/before"
	ok "$release: it installs beside that" within "$root" dpkg -i /package.deb
	at_least 5 "$release: files of it" "$(within "$root" dpkg -L "$NAME" | grep -c "$NAME")"
	ok "$release: no file of it is another package's" not grep -v "^$NAME: " \
		<(within "$root" sh -c "dpkg -L $NAME | while read -r f; do [ -d \"\$f\" ] || dpkg -S \"\$f\"; done")
	ok "$release: Debian's perf is as it was" within "$root" perf --version
	ok "$release: the command, by its own name" grep -q 'perf kvm unified record' \
		<(within "$root" "$NAME" record -h 2>&1)
	ok "$release: its report is that of the perf that is built here" same_report
	ok "$release: --format html: a page" page_is_made
	ok "$release: BPF programs are in it" grep -qE 'bpf_skeletons: .* on ' \
		<(within "$root" "/usr/lib/$NAME/perf" version --build-options)
	ok "$release: names of commands are completed" completes report "$NAME rep"
	ok "$release: and their options" completes --comms "$NAME report --com"
	ok "$release: its manual" grep -q '^\.SH "\?KERNELS WITHOUT THE SERIES' \
		<(zcat "$root/usr/share/man/man1/$NAME.1.gz")
	ok "$release: a unit of systemd, of a program that there is" within "$root" sh -c \
		"test -x \$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' /usr/lib/systemd/system/$NAME.service)"
	ok "$release: it is removed" within "$root" dpkg --purge "$NAME"
	files >"$TMP/after"
	ok "$release: without a trace" diff "$TMP/before" "$TMP/after"
done
done_testing
