#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What reviewers and distributions do with the series that `make series` writes: take
# it with git am and with quilt, and build it patch by patch in several configurations,
# each compared with the state before it. SERIES_PARTS="apply kernel perf" names what is
# done, and SERIES_CONFIGS the kernel's configurations.
#
# One source tree goes through all states, and only the files that a patch changes get a
# new time, so that a prefix costs what it touches. Trees and objects stay in the cache.
# Of the kernel, the directories that the series touches are built: with KVM as modules
# for each patch; in the other configurations before the series and with all of it, and
# in between the files that the series changes, which include all of its headers.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
# shellcheck source=scripts/tests/checkpatch.sh
. "$(dirname "$0")/../tests/checkpatch.sh"

WORK=$TREE/series-builds
SRC=$WORK/src
SERIES=$TMP/series
REPO=$TMP/repo
SPACE_MB=2000

part()
{
	[[ " ${SERIES_PARTS:-apply kernel perf} " == *" $1 "* ]]
}

git_repo()
{
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null \
		git -C "$REPO" -c user.name=m -c user.email=m@example.com \
		-c commit.gpgsign=false "$@"
}

# The pristine form of all files that the series touches: to copy_touched DIR.
copy_touched()
{
	local path

	mkdir -p "$1"
	while read -r path; do
		[ -f "$TREE/orig/$path" ] || continue
		(cd "$TREE/orig" && cp --parents --preserve=mode "$path" "$1")
	done <"$TMP/touched"
}

patches()
{
	sed "s|^|$SERIES/|" "$SERIES/series"
}

# --- as a maintainer takes it ----------------------------------------------------

git_am()
{
	copy_touched "$REPO"
	git_repo init -q -b base && git_repo add -Af . && git_repo commit -q -m "$BASE" || return
	patches | xargs git -C "$REPO" -c user.name=m -c user.email=m@example.com am -q
}

# The files of DIR are those that are built and tested here.
same_as_built()
{
	local path rc=0

	while read -r path; do
		if [ -f "$TREE/src/$path" ]; then
			cmp "$TREE/src/$path" "$1/$path" || rc=1
		elif [ -e "$1/$path" ]; then
			echo "$path should be gone"
			rc=1
		fi
	done <"$TMP/touched"
	return "$rc"
}

# has_recipients MESSAGE: as git send-email and b4 find them, the list included that
# archives everything.
has_recipients()
{
	sed -n '/^$/q;p' "$1" >"$TMP/headers"
	grep -q '^To: .*@' "$TMP/headers" && grep -q 'linux-kernel@vger.kernel.org' "$TMP/headers"
}

# --- as a distribution takes it --------------------------------------------------

# A Debian source package: debian/patches with a series that is there already.
quilt_package()
{
	local pkg=$TMP/pkg

	copy_touched "$pkg"
	mkdir -p "$pkg/debian/patches/perf-kvm-unified"
	echo "# patches of the package" >"$pkg/debian/patches/series"
	patches | xargs cp -t "$pkg/debian/patches/perf-kvm-unified"
	sed 's|^|perf-kvm-unified/|' "$SERIES/series" >>"$pkg/debian/patches/series"
	cd "$pkg" && QUILT_PATCHES=debian/patches quilt --quiltrc=- push -a --fuzz=0
}

quilt_pop()
{
	copy_touched "$TMP/pristine"
	# quilt leaves its own directory, and those of files that it has removed.
	cd "$TMP/pkg" && QUILT_PATCHES=debian/patches quilt --quiltrc=- pop -a &&
		rm -r .pc && find . -type d -empty -delete && diff -r -x debian "$TMP/pristine" .
}

no_fuzz()
{
	! grep -E 'with fuzz|offset -?[0-9]|FAILED|\.rej' "$TMP/quilt.log"
}

# --- style -----------------------------------------------------------------------

spelling()
{
	codespell --ignore-words-list="$SPELL_OK" "$SERIES"/*.patch
}

# --- builds ----------------------------------------------------------------------

# A tree of hard links to the pristine one, which this only ever breaks.
build_tree()
{
	[ ! -d "$SRC" ] || cmp -s "$WORK/source" "$TREE/stamps/source" || rm -rf "$WORK"
	[ -d "$SRC" ] && return
	mkdir -p "$WORK"
	need_space "$WORK" "$SPACE_MB"
	rm -rf "$WORK/new"
	cp -al "$TREE/orig" "$WORK/new"
	cp "$TREE/stamps/source" "$WORK/source"
	mv "$WORK/new" "$SRC"
}

# go_to COMMIT: bring the tree to it.
go_to()
{
	local path

	git_repo checkout -q --detach "$1" || return
	# Also what an earlier series may have left there.
	cat "$TMP/touched" "$WORK/touched" 2>/dev/null | sort -u >"$TMP/paths"
	cp "$TMP/paths" "$WORK/touched"
	while read -r path; do
		set -- "$REPO/$path" "$SRC/$path"
		[ -f "$1" ] || grep -qxF "$path" "$TMP/touched" || set -- "$TREE/orig/$path" "$2"
		if [ ! -f "$1" ]; then
			rm -f "$2"
		elif ! cmp -s "$1" "$2"; then
			mkdir -p "$(dirname "$2")"
			rm -f "$2"
			cp --preserve=mode "$1" "$2"
		fi
	done <"$TMP/paths"
}

# The configurations. Not PERF_EVENTS=n on x86, which selects it.
read -ra CONFIGS <<<"${SERIES_CONFIGS:-modules builtin no-kvm arm64 arm64-no-perf}"

# The lab's host, but for KVM.
host_options()
{
	grep -vE '^CONFIG_(VIRTUALIZATION|KVM|KVM_INTEL|KVM_AMD)=' "$TOP/scripts/lab/host.config"
}

# Lines of a .config on top of tinyconfig.
options_of()
{
	case $1 in
	modules)
		# With all that KVM has code of its own for.
		host_options
		echo CONFIG_VIRTUALIZATION=y
		printf 'CONFIG_%s\n' KVM=m KVM_INTEL=m KVM_AMD=m RUNTIME_TESTING_MENU=y \
			KUNIT_ALL_TESTS=y KVM_SMM=y \
			KVM_HYPERV=y KVM_XEN=y AMD_MEM_ENCRYPT=y CRYPTO=y CRYPTO_HW=y CRYPTO_DEV_CCP=y \
			CRYPTO_DEV_CCP_DD=m IOMMU_SUPPORT=y AMD_IOMMU=y PCI_MSI=y \
			CRYPTO_DEV_SP_PSP=y DMADEVICES=y KVM_AMD_SEV=y ;;
	builtin)
		host_options
		echo CONFIG_VIRTUALIZATION=y
		printf 'CONFIG_%s\n' KVM=y KVM_INTEL=y KVM_AMD=y ;;
	no-kvm)
		host_options
		echo '# CONFIG_VIRTUALIZATION is not set' ;;
	arm64)
		printf 'CONFIG_%s=y\n' VIRTUALIZATION KVM PERF_EVENTS FTRACE ENABLE_DEFAULT_TRACERS \
			SMP ARM_GIC_V3 HW_PERF_EVENTS BPF_SYSCALL KPROBES ;;
	arm64-no-perf)
		printf 'CONFIG_%s=y\n' VIRTUALIZATION KVM FTRACE ENABLE_DEFAULT_TRACERS SMP
		echo '# CONFIG_PERF_EVENTS is not set' ;;
	esac
}

# What the configuration is there for, as olddefconfig drops what it does not like.
expected_of()
{
	case $1 in
	modules) printf 'CONFIG_%s\n' KVM=m KVM_INTEL=m KVM_AMD=m KVM_AMD_SEV=y GUEST_PERF_EVENTS=y \
			KUNIT=y RUNTIME_TESTING_MENU=y ;;
	builtin) printf 'CONFIG_%s\n' KVM=y KVM_INTEL=y KVM_AMD=y GUEST_PERF_EVENTS=y ;;
	no-kvm)	printf '# CONFIG_%s is not set\n' VIRTUALIZATION; echo CONFIG_PERF_EVENTS=y ;;
	arm64)	printf 'CONFIG_%s\n' KVM=y PERF_EVENTS=y GUEST_PERF_EVENTS=y ;;
	arm64-no-perf) echo CONFIG_KVM=y; echo '# CONFIG_PERF_EVENTS is not set' ;;
	esac
}

dirs_of()
{
	case $1 in
	modules|builtin) printf '%s\n' kernel/events/ arch/x86/kvm/ ;;
	no-kvm)	echo kernel/events/ ;;
	arm64)	printf '%s\n' kernel/events/ arch/arm64/kvm/ ;;
	# PERF_EVENTS=n: there is nothing to build in kernel/events.
	arm64-no-perf) echo arch/arm64/kvm/ ;;
	esac
}

# The C files that the series changes or brings, of those directories, as objects.
objects_of()
{
	local dir path

	for dir in $(dirs_of "$1"); do
		# Those of KVM's tests are included by its own files; KUnit is in one configuration.
		grep "^$dir.*\.c$" "$TMP/touched" | grep -v perf_data_test |
			if [ "$1" = modules ]; then cat; else grep -v _test; fi
		# Built with KVM's own directory.
		case $dir in
		arch/*/kvm/) grep '^virt/kvm/.*\.c$' "$TMP/touched" | sed "s|^|$dir../../../|" ;;
		esac
	done | while read -r path; do
		[ ! -f "$SRC/$path" ] || echo "${path%.c}.o"
	done
}

# kmake CONFIG GOAL...
kmake()
{
	local config=$1 args=()
	shift

	case $config in
	arm64*)	args=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-) ;;
	*)	args=(ARCH=x86_64) ;;
	esac
	make -C "$SRC" O="$WORK/$config" -s -j"$JOBS" W=1 "${args[@]}" "$@"
}

configure()
{
	local config=$1 line rc=0

	mkdir -p "$WORK/$config"
	options_of "$config" >"$WORK/$config.wanted"
	kmake "$config" tinyconfig &&
		"$SRC/scripts/kconfig/merge_config.sh" -m -O "$WORK/$config" \
			"$WORK/$config/.config" "$WORK/$config.wanted" &&
		kmake "$config" olddefconfig || return
	while read -r line; do
		grep -qxF "$line" "$WORK/$config/.config" || { echo "missing: $line"; rc=1; }
	done < <(expected_of "$config")
	return "$rc"
}

# Objects of the directories in question, so that the first state says all its warnings.
forget_objects()
{
	local dir

	for dir in $(dirs_of "$1") virt/kvm/; do
		[ ! -d "$WORK/$1/$dir" ] || find "$WORK/$1/$dir" -name '*.o' -delete
	done
}

# Warnings without what the change moves: line numbers, and where a header is included.
warnings()
{
	grep -E '(warning|error|note): ' "$1" | sed -E 's/:[0-9]+(:[0-9]+)?:/:/' | sort -u
}

# build CONFIG GOAL...: into a log. Sparse looks at what the series changes, once for each
# architecture, as it takes as long as the compiler, and where something has to be compiled again.
build()
{
	local config=$1 log=$WORK/$1.log objects rc=0
	shift

	mapfile -t objects < <(objects_of "$config")
	: >"$log"
	case $config in
	modules|arm64)
		[ "${#objects[@]}" -eq 0 ] || kmake "$config" -k C=1 "${objects[@]}" >>"$log" 2>&1 || rc=$? ;;
	esac
	kmake "$config" -k "$@" >>"$log" 2>&1 || rc=$?
	warnings "$log" >"$TMP/$config.now"
	[ "$rc" -eq 0 ] || tail -n 20 "$log"
	return "$rc"
}

# goals CONFIG: for a patch that is not the last one.
goals()
{
	case $1 in
	modules) dirs_of "$1" ;;
	*)	objects_of "$1" ;;
	esac
}

# check_state CONFIG WHAT GOAL...: builds, and says nothing that was not said before.
check_state()
{
	local config=$1 what=$2
	shift 2

	ok "$config builds: $what" build "$config" "$@"
	ok "$config has no new warnings: $what" nothing_new "$config"
}

# By their configuration, not because they were asked for
has_suites()
{
	grep -x 'CONFIG_PERF_VCPU_SAMPLE_KUNIT_TEST=y' "$WORK/modules/.config" &&
		grep -x 'CONFIG_KVM_PERF_DATA_KUNIT_TEST=y' "$WORK/modules/.config" &&
		[ -f "$WORK/modules/kernel/events/vcpu_sample_test.o" ]
}

nothing_new()
{
	! comm -13 "$TMP/$1.known" "$TMP/$1.now" | grep .
}

# Time on the wall and of the processors, as other work may slow the former down.
took()
{
	# Not in a subshell, which has times of its own.
	times >"$TMP/times"
	printf '# %d s, of processors %s: %s\n' "$SECONDS" \
		"$(tail -n 1 "$TMP/times" | tr ' ' +)" "$*"
}

apply_series()
{
	local message

	for message in "$SERIES"/*.patch; do
		ok "To: and Cc: of $(basename "$message")" has_recipients "$message"
		# Not of the cover letter, for which the names of new files that git lists are too long.
		case $message in */0000-*) continue ;; esac
		# The second line of perf's shell tests is their name; style.t has their licence.
		ok "checkpatch $(basename "$message")" checkpatch --ignore SPDX_LICENSE_TAG "$message"
	done
	ok "codespell" spelling
	quilt_package >"$TMP/quilt.log" 2>&1 || tail -n 5 "$TMP/quilt.log" >"$TMP/quilt.failed"
	ok "quilt push -a in a Debian source package" not cat "$TMP/quilt.failed"
	ok "without fuzz or offsets" no_fuzz
	ok "it gives the same" same_as_built "$TMP/pkg"
	ok "quilt pop -a gives the tree before" quilt_pop
	took "quilt"
}

build_kernels()
{
	local config commit subject dirs goals commits

	ok "the tree before the series" go_to "$base"
	for config in "${CONFIGS[@]}"; do
		ok "$config: configured" configure "$config"
		forget_objects "$config"
		mapfile -t dirs < <(dirs_of "$config")
		ok "$config builds before the series" build "$config" "${dirs[@]}"
		mv "$TMP/$config.now" "$TMP/$config.known"
		took "$config, $(wc -l <"$TMP/$config.known") warnings before the series"
	done
	mapfile -t commits < <(git_repo rev-list --reverse "$base..base" -- arch include init kernel lib virt)
	for commit in "${commits[@]}"; do
		subject=$(git_repo log -1 --format=%s "$commit")
		ok "go to: $subject" go_to "$commit"
		for config in "${CONFIGS[@]}"; do
			mapfile -t goals < <(goals "$config")
			check_state "$config" "$subject" "${goals[@]}"
		done
		took "$subject"
	done
	ok "go to all of the series" go_to base
	ok "the tree that was built is the one that is tested" same_as_built "$SRC"
	for config in "${CONFIGS[@]}"; do
		mapfile -t dirs < <(dirs_of "$config")
		check_state "$config" "all of the series" "${dirs[@]}"
	done
	ok "KUnit's suites are among what was built" has_suites
	took "all of the series"
}

# Warnings are errors, by perf's own flags.
build_perfs()
{
	local commit subject commits

	mapfile -t commits < <(git_repo rev-list --reverse "$base..base" -- tools)
	for commit in "$base" "${commits[@]}"; do
		subject=$(git_repo log -1 --format=%s "$commit")
		ok "go to: $subject" go_to "$commit"
		ok "perf builds: $subject" env PERF_VARIANT=prefix PERF_SRC="$SRC" \
			PERF_STATE="$commit" "$TOP/scripts/build-perf.sh"
		took "perf: $subject"
	done
	ok "go to all of the series" go_to base
}

lock_cache
"$TOP/scripts/deps.sh" check kernel perf series >&2 || exit 1
ok "make series" env KVMU_SERIES="$SERIES" "$TOP/scripts/series.sh"
patches | xargs cat | sed -n -e 's|^--- a/||p' -e 's|^+++ b/||p' | cut -f1 | sort -u >"$TMP/touched"
# Of nothing, all of what follows would be true.
[ -s "$TMP/touched" ] || done_testing
ok "git am takes it" git_am
ok "and gives what is built and tested" same_as_built "$REPO"
base=$(git_repo rev-list --max-parents=0 base)
took "git am"
! part apply || apply_series
ok "a tree to build in" build_tree
! part kernel || build_kernels
! part perf || build_perfs
done_testing
