#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# series.sh: compose what others get, as git format-patch makes it: each patch of
# patches/linux-BASE/series together with the new files that belong to it. A patch says in
# its header which series it is of, and names its new files, in lines of tree paths (globs);
# neither goes upstream:
#
#	Series: sample-type
#	New-files: tools/perf/kvm-unified/vcpu-sample.[ch]
#
# Of mainline, build/series/NAME/ is what is offered as one series: those that have a cover
# letter, patches/linux-BASE/covers/NAME. It has headers, an empty line, and the text:
#
#	Subject: what it is			Prefix: RFC PATCH	(if not PATCH)
#	Needs: NAME...	(series before it)	To:, Cc: an address (more than get_maintainer.pl's)
#
# It is made on the pristine tree with those that it needs, and no others. build/series/complete/
# is all of them, with what is built here and not offered. Of the LTS kernel, it is one,
# build/series/backport/: the patches that name no series.
#
# Each directory has a file `series` for quilt; where there is a cover letter, each message has
# To: and Cc:, as the tree's get_maintainer.pl has them, where git send-email and b4 look for
# them, and series.mbox is all of them.
#
# patches/origin tells how the patches were made: a paragraph of each cover letter.
#
# A new Build file grows with the patches: it has those of its lines whose sources
# are there, so that each patch builds.
#
# SIGNOFF='Name <address>' makes the patches that person's, and adds the Signed-off-by, without
# which no maintainer may take them; TRAILERS has more such lines, to stand before it.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=scripts/compose.sh
. "$TOP/scripts/compose.sh"

case ${1:-} in
-h | --help)
	print_help
	exit 0
	;;
esac

OUT=${KVMU_SERIES:-$TOP/build/series}
COVERS=$PATCHES/covers
ORIGIN=$(dirname "$PATCHES")/origin
SIGNOFF=${SIGNOFF:-}
TRAILERS=${TRAILERS:-}
# The whole of it, which can be no series' name.
COMPLETE=complete
REPO=$(mktemp -d)
trap 'rm -rf "$REPO"; on_exit' EXIT

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git_repo()
{
	git -C "$REPO/tree" -c user.name=series -c user.email=series@localhost \
		-c core.autocrlf=false -c commit.gpgsign=false -c maintenance.auto=false "$@"
}

# The pristine form of the files that the series changes is all git has to know.
start_repo()
{
	local path

	mkdir -p "$REPO/tree"
	git_repo init -q -b base
	while read -r path; do
		path=${path#*  }
		[ -f "$TREE/orig/$path" ] || continue
		(cd "$TREE/orig" && cp --parents --preserve=mode "$path" "$REPO/tree")
	done <"$TREE/applied/files"
	git_repo add -Af .
	git_repo commit -q --allow-empty -m "linux-$BASE"
}

# header PATCH: what is before its diff
header()
{
	sed '/^diff /,$d; /^---/,$d' "$PATCHES/$1"
}

# Lines "patch series", in the order in which they apply, to $REPO/patches
read_series()
{
	local patch name default=

	[ "$BASE" = "$MAINLINE" ] || default=backport
	for patch in $(series); do
		name=$(header "$patch" | sed -n 's/^Series: *//p')
		name=${name:-$default}
		[[ $name =~ ^[a-z0-9-]+$ && $name != "$COMPLETE" ]] ||
			die "$patch: no line Series: NAME, or one that is no name: '$name'"
		printf '%s %s\n' "$patch" "$name"
	done >"$REPO/patches"
	awk '!seen[$2]++ { print $2 }' "$REPO/patches" >"$REPO/names"
}

# patches_of NAME...: in the order in which they apply
patches_of()
{
	printf '%s\n' "$@" | awk 'NR == FNR { wanted[$1]; next } $2 in wanted { print $1 }' \
		- "$REPO/patches"
}

# cover_field NAME FIELD: its values, one a line
cover_field()
{
	sed -n "/^\$/q; s/^$2: *//p" "$COVERS/$1"
}

offered()
{
	[ -f "$COVERS/$1" ]
}

check_covers()
{
	local file name needed

	for file in "$COVERS"/*; do
		[ -f "$file" ] || continue
		name=$(basename "$file")
		grep -qxF "$name" "$REPO/names" || die "covers/$name: no patch says Series: $name"
		if sed '/^$/,$d' "$file" | grep -vE '^(Subject|Prefix|Needs|To|Cc): ' >&2; then
			die "covers/$name: not a header that is known (above); text is behind an empty line"
		fi
		[ -n "$(cover_field "$name" Subject)" ] || die "covers/$name has no Subject:"
		for needed in $(cover_field "$name" Needs); do
			offered "$needed" || die "covers/$name needs $needed, which has no cover letter"
		done
	done
	for file in "$COVERS"/*; do
		[ ! -f "$file" ] || needs_of "$(basename "$file")" >/dev/null
	done
}

# needs_of NAME [THOSE ON THE WAY]: what it needs and what that needs, each once
needs_of()
{
	local name=$1 way=" ${2:-} $1 " needed

	for needed in $(cover_field "$name" Needs); do
		[[ $way != *" $needed "* ]] || die "the series need each other:$way$needed"
		needs_of "$needed" "$way"
		echo "$needed"
	done | awk '!seen[$0]++'
}

# add_new_files PATCH: out of the composed tree, so that there is one rule only
# for which file lands where.
add_new_files()
{
	local glob path found

	while read -r glob; do
		found=
		for path in $(cd "$TREE/src" && compgen -G "$glob"); do
			if [ -f "$TREE/src/$path" ] && [ ! -e "$TREE/orig/$path" ]; then
				(cd "$TREE/src" && cp --parents --preserve=mode "$path" "$REPO/tree")
				found=1
			fi
		done
		[ -n "$found" ] || die "$1: New-files: $glob names no new file"
	done < <(header "$1" | sed -n 's/^New-files: *//p' | tr -s ' ' '\n')
}

# cut_build FILE: to the objects and directories that are there
cut_build()
{
	local line name dir

	dir=$REPO/tree/$(dirname "$1")
	while IFS= read -r line; do
		name=${line##* }
		case $line in
		*' += '*) [ -e "$dir/${name/%.o/.c}" ] || continue ;;
		esac
		printf '%s\n' "$line"
	done <"$TREE/src/$1"
}

cut_builds()
{
	local path text

	(cd "$REPO/tree" && find . -name Build -printf '%P\n') >"$REPO/builds"
	while read -r path; do
		[ ! -e "$TREE/orig/$path" ] || continue
		# Without the empty lines that are left at its end.
		text=$(cut_build "$path")
		printf '%s\n' "$text" >"$REPO/tree/$path"
	done <"$REPO/builds"
}

# with_trailers: standard input, with those that SIGNOFF and TRAILERS ask for
with_trailers()
{
	local args=() line

	while IFS= read -r line; do
		[ -z "$line" ] || args+=(--trailer "$line")
	done <<<"$TRAILERS"
	[ -z "$SIGNOFF" ] || args+=(--trailer "Signed-off-by: $SIGNOFF")
	git interpret-trailers --no-divider ${args[@]+"${args[@]}"}
}

# Series need each other, so that the same patches are often put on the same ones before them. By
# commit and patch: the commit that it became
declare -A commits
# The branch's commit, and that which the tree is at: it follows where a patch is added
head='' at=''

# The tree and the branch are where the patches are.
catch_up()
{
	[ "$at" = "$head" ] || git_repo reset -q --hard "$head"
	at=$head
}

# add_patch PATCH [WHERE]: unless that was done before
add_patch()
{
	local on=$head

	if [ -n "${commits["$on $1"]:-}" ]; then
		head=${commits["$on $1"]}
		return
	fi
	catch_up
	commit_patch "$@"
	head=$(git_repo rev-parse HEAD)
	at=$head
	commits["$on $1"]=$head
}

# commit_patch PATCH [WHERE]: one commit, with the author, date and text of its header.
commit_patch()
{
	local author email subject date

	git mailinfo -k "$REPO/text" "$REPO/diff" <"$PATCHES/$1" >"$REPO/info"
	author=$(sed -n 's/^Author: //p' "$REPO/info")
	email=$(sed -n 's/^Email: //p' "$REPO/info")
	subject=$(sed -n 's/^Subject: //p' "$REPO/info" | sed 's/^\[PATCH[^]]*\] *//')
	date=$(sed -n 's/^Date: //p' "$REPO/info")
	if [ -z "$author" ] || [ -z "$subject" ]; then
		die "$1 has no From: or no Subject:"
	fi

	if grep -q '^+++ ' "$REPO/diff"; then
		git_repo apply --index "$REPO/diff" || die "$1 does not apply${2:+ to $2}"
	fi
	add_new_files "$1"
	if header "$1" | grep -q '^New-files:' || grep -q '^new file mode' "$REPO/diff"; then
		cut_builds
	fi
	git_repo add -Af .
	{
		printf '%s\n\n' "$subject"
		grep -vE '^(New-files|Series):' "$REPO/text"
	} | git stripspace | with_trailers |
		git_repo commit -q --author "${SIGNOFF:-$author <$email>}" ${date:+--date "$date"} -F -
}

# Every new file must be in some patch, or we build what nobody gets.
check_complete()
{
	local line path bad=

	while read -r line; do
		path=${line#*  }
		[ "${line%%  *}" != deleted ] || continue
		cmp -s "$TREE/src/$path" "$REPO/tree/$path" || bad="$bad $path"
	done <"$TREE/applied/files"
	[ -z "$bad" ] || die "no patch of the series brings:$bad (New-files: in a patch's header)"
}

# start_branch NAME: at the pristine tree
start_branch()
{
	git_repo checkout -q -b "series/$1" base
	head=$(git_repo rev-parse base)
	at=$head
}

# What a reader needs to know of the tree that a series applies to: at the end of the text
base_text()
{
	local needed

	if [ $# -eq 0 ]; then
		printf '\nThis is against Linux %s.\n' "$version"
		return
	fi
	printf '\nThis is against Linux %s with these series, in this order:\n\n' "$version"
	for needed in "$@"; do
		printf ' - %s (%s)\n' "$(cover_field "$needed" Subject)" "$needed"
	done
}

# prerequisites RANGE: as git format-patch --base has them. There is no commit to name: the
# pristine tree is a package's.
prerequisites()
{
	git_repo log -p --reverse "$1" | git patch-id --stable |
		sed 's/^\([^ ]*\) .*/prerequisite-patch-id: \1/'
}

# How the patches were made, a paragraph of each cover letter: see generated-content.rst and
# coding-assistants.rst in the kernel's Documentation/process
origin_text()
{
	[ ! -f "$ORIGIN" ] || printf '\n%s\n' "$(cat "$ORIGIN")"
}

# write_cover NAME NEEDED...
write_cover()
{
	local name=$1 file=$OUT/$1/0000-cover-letter.patch
	shift

	{
		sed '1,/^$/d' "$COVERS/$name"
		origin_text
		base_text "$@"
	} >"$REPO/blurb"
	prerequisites "base..start/$name" >"$REPO/prerequisites"
	SUBJECT=$(cover_field "$name" Subject) awk -v blurb="$REPO/blurb" -v before="$REPO/prerequisites" '
		function copy(file,  line) {
			while ((getline line <file) > 0)
				print line
		}
		/^Subject:/ { sub(/\*\*\* SUBJECT HERE \*\*\*/, ENVIRON["SUBJECT"]) }
		/^\*\*\* BLURB HERE \*\*\*$/ { copy(blurb); next }
		/^-- $/ { copy(before) }
		{ print }' "$file" >"$file.new"
	mv "$file.new" "$file"
}

# recipients PATCH: who get_maintainer.pl names, maintainers to $REPO/to, lists and
# reviewers to $REPO/cc, one a line. By MAINTAINERS alone: there is no git history, and
# whom it would name depends on how much of it one has.
#
# It looks for the words of MAINTAINERS in each line, which takes a second: what it has found is
# kept. The commit and the patch's number are none of its business.
recipients()
{
	local kept

	kept=$KVMU_CACHE/recipients/$(cat "$TREE/src/scripts/get_maintainer.pl" "$TREE/src/MAINTAINERS" \
		<(declare -f recipients) <(sed '1d; s/^\(Subject: \[.*\)[0-9][0-9]*\/[0-9]*\]/\1]/' "$1") | hash_text)
	if [ -s "$kept" ]; then
		cp "$kept" "$REPO/roles"
	else
		(cd "$TREE/src" && perl scripts/get_maintainer.pl --no-tree --no-git \
			--no-git-fallback --no-rolestats --roles "$1") >"$REPO/roles"
		mkdir -p "$KVMU_CACHE/recipients"
		cp "$REPO/roles" "$kept.$$" && mv "$kept.$$" "$kept"
	fi
	sed -n -E 's/ \((maintainer|supporter)[^()]*(\([^()]*\)[^()]*)*\)$//p' "$REPO/roles" >"$REPO/to"
	sed -E -e '/ \((maintainer|supporter)[^()]*(\([^()]*\)[^()]*)*\)$/d' \
		-e 's/ \([^()]*(\([^()]*\)[^()]*)*\)$//' "$REPO/roles" >"$REPO/cc"
}

# set_recipients FILE TO CC: files with addresses, one a line, to headers behind the
# subject, one address a line, as long headers are folded. Nobody gets it twice.
set_recipients()
{
	grep -vxFf "$2" "$3" >"$REPO/only-cc" || :
	awk -v to="$2" -v cc="$REPO/only-cc" '
		function header(name, file,  line, sep, seen) {
			sep = name ": "
			while ((getline line <file) > 0) {
				if (seen[line]++)
					continue
				printf "%s%s", sep, line
				sep = ",\n\t"
			}
			close(file)
			if (sep ~ /^,/)
				print ""
		}
		# The subject may be folded: its last line is behind it.
		subject && !/^[ \t]/ { header("To", to); header("Cc", cc); subject = 0 }
		/^Subject:/ && !seen++ { subject = 1 }
		{ print }' "$1" >"$1.new"
	mv "$1.new" "$1"
}

# Maintainers get what is theirs, and lists and reviewers a copy; all of them get
# the cover letter. What is nobody's goes to where the patch before it goes.
# address_all NAME
address_all()
{
	local file name last=

	if [ ! -f "$TREE/src/scripts/get_maintainer.pl" ]; then
		say "no To: and Cc:, this tree has no scripts/get_maintainer.pl"
		return 0
	fi
	rm -rf "$REPO/whom"
	mkdir "$REPO/whom"
	for file in "$OUT/$1"/*.patch; do
		name=$REPO/whom/$(basename "$file")
		[ "${file##*/}" != 0000-cover-letter.patch ] || continue
		recipients "$file"
		if [ ! -s "$REPO/to" ]; then
			[ -n "$last" ] || die "get_maintainer.pl names nobody for $(basename "$file")"
			cp "$last.to" "$REPO/to"
		fi
		cover_field "$1" To >>"$REPO/to"
		cover_field "$1" Cc >>"$REPO/cc"
		mv "$REPO/to" "$name.to"
		mv "$REPO/cc" "$name.cc"
		set_recipients "$file" "$name.to" "$name.cc"
		last=$name
	done
	cat "$REPO"/whom/*.to | sort -u >"$REPO/to"
	cat "$REPO"/whom/*.cc | sort -u >"$REPO/cc"
	set_recipients "$OUT/$1/0000-cover-letter.patch" "$REPO/to" "$REPO/cc"
}

# format NAME FROM OPTION...: the commits of its branch from there on
format()
{
	local name=$1 from=$2
	shift 2

	mkdir -p "$OUT/$name"
	git_repo format-patch -q -M -o "$OUT/$name" "$@" "$from..series/$name"
	(cd "$OUT/$name" && printf '%s\n' *.patch | grep -vxF 0000-cover-letter.patch) >"$OUT/$name/series"
	echo "$name" >>"$OUT/.linux-$BASE"
}

# of_author NAME FORMAT: of its first patch
of_author()
{
	git_repo log --reverse --format="$2" "start/$1..series/$1" | sed -n 1p
}

# compose_offered NAME: on what it needs
compose_offered()
{
	local name=$1 prefix needed patch on missing

	prefix=$(cover_field "$name" Prefix)
	mapfile -t needed < <(needs_of "$name")
	on="Linux $version${needed:+ and ${needed[*]}}"
	start_branch "$name"
	if [ "${#needed[@]}" -gt 0 ]; then
		for patch in $(patches_of "${needed[@]}"); do
			add_patch "$patch" "$on, which $name is to be on"
		done
	fi
	git_repo tag "start/$name" "$head"
	for patch in $(patches_of "$name"); do
		add_patch "$patch" "$on, without the other series: the cover letter of $name has to need them"
	done
	catch_up
	# The cover letter is from who has written the first patch.
	GIT_COMMITTER_NAME=$(of_author "$name" %an) GIT_COMMITTER_EMAIL=$(of_author "$name" %ae) \
		format "$name" "start/$name" --cover-letter --subject-prefix="${prefix:-PATCH}"
	write_cover "$name" ${needed[@]+"${needed[@]}"}
	address_all "$name"
	cat "$OUT/$name"/*.patch >"$OUT/$name/series.mbox"
	say "  $name: [${prefix:-PATCH}], $(wc -l <"$OUT/$name/series") patches and a cover letter, on $on"
	missing=$(awk '{ n += gsub(/FIGURE/, "") } END { print n + 0 }' "$OUT/$name/0000-cover-letter.patch")
	[ "$missing" -eq 0 ] ||
		say "    not to be sent yet: $missing figures of its cover letter are not measured (FIGURE)"
}

# compose_all NAME SERIES...: all of these, without a cover letter
compose_all()
{
	local name=$1 patch
	shift

	start_branch "$name"
	for patch in $(patches_of "$@"); do
		add_patch "$patch"
	done
	catch_up
}

if [ -n "$SIGNOFF" ]; then
	[[ $SIGNOFF =~ ^[^\<\>]+\ \<[^\<\>\ ]+@[^\<\>\ ]+\>$ ]] ||
		die "SIGNOFF='$SIGNOFF' has to be 'Name <address>'"
fi
"$TOP/scripts/apply.sh"
check_inputs
[ -n "$(series)" ] || die "patches/linux-$BASE/series is empty"
read_series
check_covers
start_repo
version=$(version_of "$TREE/orig")
mapfile -t names <"$REPO/names"
compose_all "$COMPLETE" "${names[@]}"
check_complete

# Of what was there, only what this base had.
mkdir -p "$OUT"
if [ -f "$OUT/.linux-$BASE" ]; then
	while read -r name; do
		rm -rf "${OUT:?}/$name"
	done <"$OUT/.linux-$BASE"
	rm "$OUT/.linux-$BASE"
fi
# What was there before series had names
rm -f "$OUT"/*.patch "$OUT/series" "$OUT/series.mbox"
say "${OUT#"$TOP"/}/:"
others=
for name in "${names[@]}"; do
	if offered "$name"; then
		compose_offered "$name"
	elif [ "$name" != backport ]; then
		others+="${others:+, }$name ($(patches_of "$name" | wc -l))"
	fi
done
if [ "$BASE" = "$MAINLINE" ]; then
	format "$COMPLETE" base
	say "  $COMPLETE: all $(wc -l <"$OUT/$COMPLETE/series") patches, for who builds them"
elif ! offered backport; then
	compose_all backport backport
	format backport base
	say "  backport: $(wc -l <"$OUT/backport/series") patches on Linux $version, for distributions"
fi
[ -z "$others" ] || say "built here and not offered, having no cover letter: $others"
[ -n "$SIGNOFF" ] ||
	say "No patch has a Signed-off-by, so none can be sent: make series SIGNOFF='Name <address>' TRAILERS='${TRAILERS:-Assisted-by: LLM}'"
