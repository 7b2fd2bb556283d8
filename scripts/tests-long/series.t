#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What reviewers and distributions do with what `make series` writes: take each series with git am
# on what its cover letter says it needs, and all of them with quilt, and build them patch by patch
# in several configurations, each compared with the state before it. lts-series.t does so with the
# LTS kernel's. SERIES_PARTS="apply kernel selftests perf" names what is done, SERIES_NAMES which
# series (all that are offered), and SERIES_CONFIGS the kernel's configurations.
#
# One source tree goes through all states, and only the files that a patch changes get a
# new time, so that a prefix costs what it touches. Trees and objects stay in the cache.
# Of the kernel, the directories that the series touch are built: with KVM as modules
# for each patch; in the other configurations before the series and with all of them, and
# in between the files that the series change, which include all of their headers.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
# shellcheck source=scripts/tests/checkpatch.sh
. "$(dirname "$0")/../tests/checkpatch.sh"
# shellcheck source=scripts/compose.sh
. "$TOP/scripts/compose.sh"

WORK=$TREE/series-builds
SRC=$WORK/src
SERIES=$TMP/series
REPO=$TMP/repo
SPACE_MB=4000
# What perf is made of
PERF_PATHS=(tools ':!tools/testing')
KVM_SELFTESTS=tools/testing/selftests/kvm
# Without one, checkpatch has nothing but that to say.
SIGNER="Per Son <person@example.com>"
# All that is built here; of the LTS kernel, that is the backport.
WHOLE=complete
[ "$BASE" = "$MAINLINE" ] || WHOLE=backport

part()
{
	[[ " ${SERIES_PARTS:-apply kernel selftests perf} " == *" $1 "* ]]
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

# patches NAME
patches()
{
	sed "s|^|$SERIES/$1/|" "$SERIES/$1/series"
}

# --- as a maintainer takes it ----------------------------------------------------

start_repo()
{
	copy_touched "$REPO" &&
		git_repo init -q -b base && git_repo add -Af . && git_repo commit -q -m "linux-$BASE"
}

# Those that its cover letter says it is on, in their order
needs_of()
{
	local letter=$SERIES/$1/0000-cover-letter.patch

	[ ! -f "$letter" ] || sed -n '/^This is against Linux .* with these series/,$ s/^ - .* (\([a-z0-9-]*\))$/\1/p' "$letter"
}

am()
{
	patches "$1" | xargs git -C "$REPO" -c user.name=m -c user.email=m@example.com \
		-c commit.gpgsign=false am -q
}

# git_am NAME: as branch series/NAME, from the tag start/NAME on
git_am()
{
	local needed

	git_repo checkout -q -b "series/$1" base || return
	for needed in $(needs_of "$1"); do
		am "$needed" || return
	done
	git_repo tag "start/$1"
	am "$1"
}

# commits NAME PATH...: those of the series that change these
commits()
{
	local name=$1
	shift

	git_repo rev-list --reverse "start/$name..series/$name" -- "$@"
}

subject_of()
{
	git_repo log -1 --format=%s "$1"
}

# What is built and tested here has patches of the LTS kernel, too, that are not in the backport.
not_in_whole()
{
	local patch

	[ "$BASE" != "$MAINLINE" ] || return 0
	for patch in $(series); do
		! grep -q '^Series: ' "$PATCHES/$patch" ||
			sed -n -e 's|^+++ b/||p' -e 's/^New-files: *//p' "$PATCHES/$patch" | tr -s ' ' '\n'
	done
}

# The files of DIR are those that are built and tested here.
same_as_built()
{
	local path rc=0

	not_in_whole >"$TMP/other"
	while read -r path; do
		! grep -qxF "$path" "$TMP/other" || continue
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
	patches "$WHOLE" | xargs cp -t "$pkg/debian/patches/perf-kvm-unified"
	sed 's|^|perf-kvm-unified/|' "$SERIES/$WHOLE/series" >>"$pkg/debian/patches/series"
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
	codespell --ignore-words-list="$SPELL_OK" "$SERIES"/*/*.patch
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
read -ra CONFIGS <<<"${SERIES_CONFIGS:-modules builtin allmod i386 no-kvm arm64 arm64-no-perf}"

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
	# On top of allmodconfig: what is an error there is to be told as a warning that is new,
	# and nobody looks at the objects.
	allmod)
		printf '# CONFIG_%s is not set\n' WERROR GCC_PLUGINS
		echo CONFIG_DEBUG_INFO_NONE=y ;;
	i386)
		host_options | grep -v '^CONFIG_64BIT='
		printf 'CONFIG_%s\n' VIRTUALIZATION=y KVM=m KVM_INTEL=m KVM_AMD=m ;;
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
	allmod)	printf 'CONFIG_%s\n' KVM=m KVM_INTEL=m KVM_AMD=m KASAN=y GUEST_PERF_EVENTS=y COMPILE_TEST=y
		echo '# CONFIG_WERROR is not set' ;;
	i386)	printf 'CONFIG_%s\n' X86_32=y KVM=m KVM_INTEL=m KVM_AMD=m GUEST_PERF_EVENTS=y ;;
	no-kvm)	printf '# CONFIG_%s is not set\n' VIRTUALIZATION; echo CONFIG_PERF_EVENTS=y ;;
	arm64)	printf 'CONFIG_%s\n' KVM=y PERF_EVENTS=y GUEST_PERF_EVENTS=y ;;
	arm64-no-perf) echo CONFIG_KVM=y; echo '# CONFIG_PERF_EVENTS is not set' ;;
	esac
}

dirs_of()
{
	case $1 in
	modules|builtin|allmod|i386) printf '%s\n' kernel/events/ arch/x86/kvm/ ;;
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
	i386)	args=(ARCH=i386) ;;
	*)	args=(ARCH=x86_64) ;;
	esac
	make -C "$SRC" O="$WORK/$config" -s -j"$JOBS" W=1 "${args[@]}" "$@"
}

configure()
{
	local config=$1 line rc=0

	mkdir -p "$WORK/$config"
	options_of "$config" >"$WORK/$config.wanted"
	if [ "$config" = allmod ]; then
		kmake "$config" KCONFIG_ALLCONFIG="$WORK/$config.wanted" allmodconfig
	else
		kmake "$config" tinyconfig &&
			"$SRC/scripts/kconfig/merge_config.sh" -m -O "$WORK/$config" \
				"$WORK/$config/.config" "$WORK/$config.wanted" &&
			kmake "$config" olddefconfig
	fi || return
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

# By their configuration, not because they were asked for; where the series has them
has_suites()
{
	local option options

	options=$(git_repo grep -h -oE '^config (PERF|KVM)[A-Z0-9_]*_KUNIT_TEST$' HEAD | cut -d' ' -f2)
	[ -n "$options" ] || return
	for option in $options; do
		grep -x "CONFIG_$option=y" "$WORK/modules/.config" || return
	done
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

# offered NAME: those whose messages are sent
offered()
{
	[ -f "$SERIES/$1/0000-cover-letter.patch" ]
}

# Where a subject is folded depends on its number.
title()
{
	awk '/^Subject: / { on = 1; sub(/^Subject: *\[[^]]*\] */, ""); title = $0; next }
		on && /^[ \t]/ { sub(/^[ \t]+/, " "); title = title $0; next }
		on { exit }
		END { print title }' "$1"
}

check_message()
{
	local what

	what=$1/$(basename "$2")
	! offered "$1" || ok "To: and Cc: of $what" has_recipients "$2"
	# Not of the cover letter, for which the names of new files that git lists are too long.
	case $2 in */0000-*) return ;; esac
	# The second line of perf's shell tests is their name; style.t has their licence.
	ok "checkpatch $what" checkpatch --ignore SPDX_LICENSE_TAG "$2"
	ok "signed off, once: $what" test "$(grep -cxF "Signed-off-by: $SIGNER" "$2")" -eq 1
}

check_messages()
{
	local name message

	: >"$TMP/titles"
	# The whole comes last: of that, what is in no series.
	for name in "${NAMES[@]}" "$WHOLE"; do
		for message in "$SERIES/$name"/0*.patch; do
			! grep -qxF "$(title "$message")" "$TMP/titles" || continue
			title "$message" >>"$TMP/titles"
			check_message "$name" "$message"
		done
	done
	ok "codespell" spelling
}

apply_series()
{
	check_messages
	took "messages"
	quilt_package >"$TMP/quilt.log" 2>&1 || tail -n 5 "$TMP/quilt.log" >"$TMP/quilt.failed"
	ok "quilt push -a in a Debian source package" not cat "$TMP/quilt.failed"
	ok "without fuzz or offsets" no_fuzz
	ok "it gives the same" same_as_built "$TMP/pkg"
	ok "quilt pop -a gives the tree before" quilt_pop
	took "quilt"
}

build_kernels()
{
	local name config commit what dirs goals list

	ok "the tree before the series" go_to base
	for config in "${CONFIGS[@]}"; do
		ok "$config: configured" configure "$config"
		forget_objects "$config"
		mapfile -t dirs < <(dirs_of "$config")
		ok "$config builds before the series" build "$config" "${dirs[@]}"
		mv "$TMP/$config.now" "$TMP/$config.known"
		took "$config, $(wc -l <"$TMP/$config.known") warnings before the series"
	done
	for name in "${NAMES[@]}"; do
		mapfile -t list < <(commits "$name" arch include init kernel lib virt)
		for commit in "${list[@]}"; do
			what="$name: $(subject_of "$commit")"
			ok "go to $what" go_to "$commit"
			for config in "${CONFIGS[@]}"; do
				mapfile -t goals < <(goals "$config")
				check_state "$config" "$what" "${goals[@]}"
			done
			took "$what"
		done
	done
	ok "go to all of the series" go_to "series/$WHOLE"
	ok "the tree that was built is the one that is tested" same_as_built "$SRC"
	for config in "${CONFIGS[@]}"; do
		mapfile -t dirs < <(dirs_of "$config")
		check_state "$config" "all of the series" "${dirs[@]}"
	done
	if [ "$WHOLE" = complete ] && [[ " ${CONFIGS[*]} " = *" modules "* ]]; then
		ok "KUnit's suites are among what was built" has_suites
	fi
	took "all of the series"
}

# Warnings are errors there, as build-selftests.sh has it.
build_selftests()
{
	local name commit what list

	for name in "${NAMES[@]}"; do
		mapfile -t list < <(commits "$name" "$KVM_SELFTESTS")
		for commit in "${list[@]}"; do
			what="$name: $(subject_of "$commit")"
			ok "go to $what" go_to "$commit"
			ok "the selftests build: $what" env SELFTESTS_SRC="$SRC" \
				SELFTESTS_OUT="$WORK/selftests" "$TOP/scripts/build-selftests.sh"
			took "selftests: $what"
		done
	done
}

build_perf()
{
	env PERF_VARIANT=prefix PERF_SRC="$SRC" PERF_STATE="$1" "$TOP/scripts/build-perf.sh"
}

# Warnings are errors, by perf's own flags.
build_perfs()
{
	local name commit what list before=

	for name in "${NAMES[@]}"; do
		mapfile -t list < <(commits "$name" "${PERF_PATHS[@]}")
		for commit in "${list[@]}"; do
			# The LTS kernel's have none.
			if [ -z "$before" ]; then
				before=1
				ok "go to the tree before the series" go_to base
				ok "perf builds before the series" build_perf base
				took "perf before the series"
			fi
			what="$name: $(subject_of "$commit")"
			ok "go to $what" go_to "$commit"
			ok "perf builds: $what" build_perf "$commit"
			took "perf: $what"
		done
	done
}

lock_cache
"$TOP/scripts/deps.sh" check kernel perf series >&2 || exit 1
ok "make series" env KVMU_SERIES="$SERIES" SIGNOFF="$SIGNER" "$TOP/scripts/series.sh"
[ -s "$SERIES/$WHOLE/series" ] || done_testing
mapfile -t NAMES < <(cat "$SERIES/.linux-$BASE")
cat "$SERIES"/*/0*.patch | sed -n -e 's|^--- a/||p' -e 's|^+++ b/||p' | cut -f1 | sort -u >"$TMP/touched"
ok "a repository of the files that they touch" start_repo
for name in "${NAMES[@]}"; do
	ok "git am takes $name" git_am "$name"
	note "$name: $(wc -l <"$SERIES/$name/series") patches, on linux-$BASE $(needs_of "$name" | paste -sd' ')"
done
git_repo checkout -q "series/$WHOLE"
ok "$WHOLE gives what is built and tested" same_as_built "$REPO"
took "git am"
# Of the whole of mainline, what is in no series is built here only.
mapfile -t NAMES < <(grep -vxF complete "$SERIES/.linux-$BASE")
[ -z "${SERIES_NAMES:-}" ] || read -ra NAMES <<<"$SERIES_NAMES"
! part apply || apply_series
ok "a tree to build in" build_tree
! part kernel || build_kernels
! part selftests || build_selftests
! part perf || build_perfs
[ ! -d "$SRC" ] || ok "back to all of the series" go_to "series/$WHOLE"
done_testing
