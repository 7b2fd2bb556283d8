# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by every script: where things are, and how steps are run.
#
# All that outlives a checkout (kernel tree, builds, packages taken apart)
# lies in one directory outside it, KVMU_CACHE, so that a fresh clone does not
# start from nothing and `make clean` does not cost an hour.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
KVMU_CACHE=${KVMU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perf-kvm-unified}
KVMU_CACHE=$(realpath -m -- "$KVMU_CACHE")
# The bases that the series is kept for: mainline, with the tool, in the version that all was
# tried with, and an LTS kernel for distributions, with the kernel's part only. The tool is
# one: perf, the collector and the guests' images are made from mainline, whatever BASE says.
MAINLINE=7.3
MAINLINE_TRIED=7.3.4
LTS=6.12
BASE=${BASE:-$MAINLINE}
KDIR=${KDIR:-}
[ -z "$KDIR" ] || KDIR=$(realpath -m -- "$KDIR")
case $BASE in
"$MAINLINE")	MAINLINE_KDIR=$KDIR ;;
"$LTS")	MAINLINE_KDIR=${MAINLINE_KDIR:-} ;;
*)	printf 'error: BASE=%s: there are %s and %s\n' "$BASE" "$MAINLINE" "$LTS" >&2
	exit 1 ;;
esac

# tree_of BASE KDIR: a user's own kernel tree gets a place of its own, so that switching
# between it and the default tree throws away neither.
tree_of()
{
	printf '%s/linux-%s' "$KVMU_CACHE" "$1"
	[ -z "$2" ] || printf -- '-%s' "$(printf '%s' "$2" | sha256sum | cut -c1-12)"
}

TREE=$(tree_of "$BASE" "$KDIR")
MAIN_TREE=$(tree_of "$MAINLINE" "$MAINLINE_KDIR")
LOGS=$TREE/logs
# What the lab leaves
LAB_OUT=$TOP/build/lab
[ "$BASE" = "$MAINLINE" ] || LAB_OUT+=-$LTS
JOBS=${JOBS:-$(nproc)}

export MAINLINE MAINLINE_TRIED LTS KVMU_CACHE KDIR MAINLINE_KDIR TOP BASE TREE LOGS JOBS LC_ALL=C

# version_of TREE
version_of()
{
	awk '/^VERSION =/ { v = $3 } /^PATCHLEVEL =/ { p = $3 } /^SUBLEVEL =/ { s = $3 }
		END { print v "." p (s != "" ? "." s : "") }' "$1/Makefile" 2>/dev/null || echo none
}

# For what is made from mainline only
on_mainline()
{
	BASE=$MAINLINE KDIR=$MAINLINE_KDIR TREE=$MAIN_TREE LOGS=$MAIN_TREE/logs
}

# For what is of the LTS kernel only: Debian's, unless it is what the user has asked for
on_lts()
{
	[ "$BASE" != "$LTS" ] || return 0
	BASE=$LTS KDIR='' TREE=$(tree_of "$LTS" '') LAB_OUT+=-$LTS
	LOGS=$TREE/logs
}

# The commit, if there is one, and if anything that matters is not as it has it
code_version()
{
	local commit

	commit=$(git -C "$TOP" rev-parse --short=12 HEAD 2>/dev/null) || commit="of no commit"
	[ -z "$(git -C "$TOP" status --porcelain -- patches perf-kvm-unified scripts 2>/dev/null)" ] ||
		commit+=" and changes"
	echo "$commit"
}

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# What the head of the script says of it, up to the first line that is no comment
print_help()
{
	sed -n '3,/^$/ { s/^# \?//; p }' "$0"
}

# need_tests DIR NAME...: before minutes are spent
need_tests()
{
	local dir=$1 name there
	shift

	there=$(cd "$dir" && echo *.t)
	for name in "$@"; do
		[ -x "$dir/$name.t" ] ||
			die "no test $name in ${dir#"$TOP"/}, which has ${there//.t/}"
	done
}

# The nearest directory that exists, to ask df about.
existing_dir()
{
	local dir=$1

	while [ ! -d "$dir" ]; do
		dir=$(dirname "$dir")
	done
	printf '%s\n' "$dir"
}

free_mb()
{
	df -Pm "$(existing_dir "$1")" | awk 'NR == 2 { print $4 }'
}

disk_full_message()
{
	printf 'error: the disk that holds %s is full (%s MB free).\n' \
		"$1" "$(free_mb "$1")" >&2
	printf '       Free some space, or set KVMU_CACHE to a directory on another disk, and run it again.\n' >&2
}

# A script may die of ENOSPC anywhere: in a redirection, a stamp, a cp. Say
# what it was in one place instead of at each of them.
on_exit()
{
	local rc=$? mb

	[ "$rc" -ne 0 ] && [ -z "${KVMU_SAID_WHY:-}" ] || return 0
	mb=$(free_mb "$KVMU_CACHE")
	if [ "${mb:-1}" -eq 0 ]; then
		disk_full_message "$KVMU_CACHE"
	fi
}
trap on_exit EXIT

# Fails early, and with a sentence, where a step would fail late and obscurely.
need_space()
{
	local dir=$1 mb=$2 have

	# For a file system that df knows nothing about.
	[ -z "${KVMU_NO_SPACE_CHECK:-}" ] || return 0
	have=$(free_mb "$dir")
	[ "$have" -ge "$mb" ] && return 0
	printf 'error: not enough disk space: %s MB needed in %s, %s MB free.\n' \
		"$mb" "$dir" "$have" >&2
	printf '       Free some space, or set KVMU_CACHE to a directory on another disk.\n' >&2
	KVMU_SAID_WHY=1
	exit 1
}

# One run at a time for each cache. A script started by another inherits the
# lock by environment.
lock_cache()
{
	[ "${KVMU_LOCKED:-}" = "$KVMU_CACHE" ] && return 0
	mkdir -p "$KVMU_CACHE" 2>/dev/null ||
		die "cannot create the cache directory $KVMU_CACHE (set KVMU_CACHE to one that can be written)"
	exec 9>"$KVMU_CACHE/.lock"
	if ! flock -n 9; then
		say "Another run uses $KVMU_CACHE; waiting for it to end."
		flock 9
	fi
	export KVMU_LOCKED=$KVMU_CACHE
}

# stamp_is NAME KEY, stamp_set NAME KEY: KEY is a hash of everything that went
# into a step. A stamp is written only after success, and by rename, so that an
# interrupted step is done again.
stamp_is()
{
	[ -f "$TREE/stamps/$1" ] && [ "$(cat "$TREE/stamps/$1")" = "$2" ]
}

stamp_set()
{
	mkdir -p "$TREE/stamps"
	printf '%s\n' "$2" >"$TREE/stamps/$1.new"
	mv -f "$TREE/stamps/$1.new" "$TREE/stamps/$1"
}

stamp_drop()
{
	rm -f "$TREE/stamps/$1"
}

hash_text()
{
	sha256sum | cut -d' ' -f1
}

# Says that a long step is alive. It has a process group of its own, to be ended
# with its sleep, and ends by itself if the script is gone.
start_heartbeat()
{
	local what=$1 start=$SECONDS

	set -m
	while sleep 15 && kill -0 $$; do
		printf '    ... %s (%d s)\n' "$what" "$((SECONDS - start))"
	done 2>/dev/null 9>&- &
	beat=$!
	set +m
}

stop_heartbeat()
{
	kill -TERM -- "-$beat" 2>/dev/null || :
	wait "$beat" 2>/dev/null || :
}

# The lists of a machine that has been up for a while name versions the mirror
# no longer holds, and a container may come without lists. An update that fails
# in part (some other source is away) is no reason to stop.
apt_update()
{
	[ "$(id -u)" -eq 0 ] || return 1
	apt-get -q -o DPkg::Lock::Timeout=300 update || :
}

# apt_download PACKAGE: its .deb into the current directory; see other_release.
apt_download()
{
	set -- apt-get ${APT[@]+"${APT[@]}"} -q -o APT::Sandbox::User=root download "$1"
	"$@" || { apt_update && "$@"; }
}

# apt_download_all DIR PACKAGE...: their .debs into DIR, and those of what they depend on and
# this machine does not have. Nothing is installed, and nobody has to be root.
apt_download_all()
{
	local dir=$1
	shift

	mkdir -p "$dir/partial"
	set -- apt-get -y -q --download-only --reinstall --no-install-recommends \
		-o Debug::NoLocking=true -o APT::Sandbox::User=root \
		-o Dir::Cache::archives="$dir" install "$@"
	"$@" || { apt_update && "$@"; }
}

# mirror: where this machine has its own release of Debian from
mirror()
{
	# shellcheck disable=SC2016 # apt's $
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		"Codename: $(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" \
		'Component: main' | head -n 1
}

# release_options RELEASE TYPE: see other_release
release_options()
{
	local dir=$KVMU_CACHE/debian/$1-$2

	APT=(-q -o APT::Sandbox::User=root -o Dir::Etc::SourceList=/dev/null
		-o Dir::Etc::SourceParts="$dir/sources" -o Dir::State::Lists="$dir/lists"
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
}

# other_release RELEASE TYPE: APT has the options for apt-get and apt-cache to know packages of
# another release of Debian (by its name; TYPE: deb or deb-src), from the mirror that this
# machine has its own from. Nothing of the machine's own lists is changed.
other_release()
{
	local dir=$KVMU_CACHE/debian/$1-$2 uri

	uri=$(mirror)
	# A container may come without lists.
	if [ -z "$uri" ]; then
		apt_update || return
		uri=$(mirror)
	fi
	mkdir -p "$dir/sources" "$dir/lists/partial"
	cat >"$dir/sources/debian.sources" <<-END
		Types: $2
		URIs: $uri
		Suites: $1
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	END
	release_options "$1" "$2"
	apt-get "${APT[@]}" update
}

# step WHAT LOG COMMAND...: runs a long command quietly and accounts for it.
step()
{
	local what=$1 log=$2 start=$SECONDS pid beat rc=0
	shift 2

	mkdir -p "$(dirname "$log")"
	printf '%s ...\n' "$what"
	# Job control gives the command a process group of its own, so that
	# Ctrl-C takes all of it down, grandchildren included. The lock is not
	# for children to keep.
	set -m
	("$@") >"$log" 2>&1 9>&- &
	pid=$!
	set +m
	start_heartbeat "$what"
	trap 'stop_heartbeat; kill -TERM -- "-$pid" 2>/dev/null || :; wait "$pid" 2>/dev/null || :; echo "interrupted" >&2; exit 130' INT TERM HUP
	wait "$pid" || rc=$?
	trap - INT TERM HUP
	stop_heartbeat
	if [ "$rc" -eq 0 ]; then
		printf '    done: %s (%d s)\n' "$what" "$((SECONDS - start))"
		return 0
	fi
	step_failed "$what" "$log" "$rc"
}

no_network()
{
	grep -qsE 'Could not resolve|Temporary failure resolving|Failed to fetch|Unable to connect|Could not connect|Network is unreachable' "$1"
}

network_message()
{
	printf 'error: no network, or the package mirror does not answer: this step needs it once.\n' >&2
}

step_failed()
{
	local what=$1 log=$2 rc=$3

	printf 'error: failed: %s (exit code %d)\n' "$what" "$rc" >&2
	if [ -s "$log" ]; then
		tail -n 15 "$log" | sed 's/^/    | /' >&2
	fi
	if grep -qs -e 'No space left on device' -e 'Disk quota exceeded' "$log"; then
		disk_full_message "$KVMU_CACHE"
	elif [ "$(free_mb "$(dirname "$log")")" -eq 0 ]; then
		disk_full_message "$KVMU_CACHE"
	elif no_network "$log"; then
		network_message
	fi
	printf 'error: the log to read is %s\n' "$log" >&2
	KVMU_SAID_WHY=1
	exit 1
}
