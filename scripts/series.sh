#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# series.sh: compose what upstream gets, as git format-patch makes it, in
# build/series: each patch of patches/linux-6.12/series together with the new
# files that belong to it, and a cover letter. Each message has To: and Cc:, as the
# tree's get_maintainer.pl has them, where git send-email and b4 look for them. The
# file `series` there is for quilt.
#
# A patch names its new files in its header, in lines of tree paths (globs)
# which do not go upstream:
#
#	New-files: tools/perf/kvm-unified/vcpu-sample.[ch]
#
# A new Build file grows with the patches: it has those of its lines whose sources
# are there, so that each patch builds.
#
# patches/linux-6.12/cover-letter, if there, is the cover letter: its first line
# the subject, the rest the text.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

PATCHES=${KVMU_PATCHES:-$TOP/patches/$BASE}
OUT=${KVMU_SERIES:-$TOP/build/series}
REPO=$(mktemp -d)
trap 'rm -rf "$REPO"; on_exit' EXIT

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git_repo()
{
	git -C "$REPO/tree" -c user.name=series -c user.email=series@localhost \
		-c core.autocrlf=false -c commit.gpgsign=false "$@"
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
	git_repo commit -q --allow-empty -m "$BASE"
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
		[ -n "$found" ] || die "$(basename "$1"): New-files: $glob names no new file"
	done < <(sed -n 's/^New-files: *//p' "$1" | tr -s ' ' '\n')
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

# add_patch PATCH: one commit, with the author, date and text of its header.
add_patch()
{
	local author email subject date

	git mailinfo -k "$REPO/text" "$REPO/diff" <"$1" >"$REPO/info"
	author=$(sed -n 's/^Author: //p' "$REPO/info")
	email=$(sed -n 's/^Email: //p' "$REPO/info")
	subject=$(sed -n 's/^Subject: //p' "$REPO/info" | sed 's/^\[PATCH[^]]*\] *//')
	date=$(sed -n 's/^Date: //p' "$REPO/info")
	if [ -z "$author" ] || [ -z "$subject" ]; then
		die "$(basename "$1") has no From: or no Subject:"
	fi

	if grep -q '^+++ ' "$REPO/diff"; then
		git_repo apply --index "$REPO/diff" ||
			die "$(basename "$1") does not apply"
	fi
	add_new_files "$1"
	cut_builds
	git_repo add -Af .
	{
		printf '%s\n\n' "$subject"
		grep -v '^New-files:' "$REPO/text"
	} | git_repo commit -q --author "$author <$email>" ${date:+--date "$date"} -F -
}

# Every new file must be in some patch, or upstream gets less than we build.
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

write_cover()
{
	local cover=$PATCHES/cover-letter file=$OUT/0000-cover-letter.patch

	[ -f "$cover" ] || return 0
	SUBJECT=$(head -n 1 "$cover") awk -v cover="$cover" '
		/^Subject:/ { sub(/\*\*\* SUBJECT HERE \*\*\*/, ENVIRON["SUBJECT"]) }
		/^\*\*\* BLURB HERE \*\*\*$/ {
			getline line <cover
			while ((getline line <cover) > 0)
				if (line != "" || seen++) print line
			next
		}
		{ print }' "$file" >"$file.new"
	mv "$file.new" "$file"
}

# recipients PATCH: who get_maintainer.pl names, maintainers to $REPO/to, lists and
# reviewers to $REPO/cc, one a line. By MAINTAINERS alone: there is no git history, and
# whom it would name depends on how much of it one has.
recipients()
{
	(cd "$TREE/src" && perl scripts/get_maintainer.pl --no-tree --no-git \
		--no-git-fallback --no-rolestats --roles "$1") >"$REPO/roles"
	sed -n -E 's/ \((maintainer|supporter)[^()]*(\([^()]*\)[^()]*)*\)$//p' "$REPO/roles" >"$REPO/to"
	sed -E -e '/ \((maintainer|supporter)[^()]*(\([^()]*\)[^()]*)*\)$/d' \
		-e 's/ \([^()]*(\([^()]*\)[^()]*)*\)$//' "$REPO/roles" >"$REPO/cc"
}

# set_recipients FILE TO CC: files with addresses, one a line, to headers behind the
# subject, one address a line, as long headers are folded.
set_recipients()
{
	awk -v to="$2" -v cc="$3" '
		function header(name, file,  line, sep) {
			sep = name ": "
			while ((getline line <file) > 0) {
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
address_all()
{
	local file name last=

	if [ ! -f "$TREE/src/scripts/get_maintainer.pl" ]; then
		say "no To: and Cc:, this tree has no scripts/get_maintainer.pl"
		return 0
	fi
	mkdir "$REPO/whom"
	for file in "$OUT"/*.patch; do
		name=$REPO/whom/$(basename "$file")
		[ "$file" != "$OUT/0000-cover-letter.patch" ] || continue
		recipients "$file"
		if [ ! -s "$REPO/to" ]; then
			[ -n "$last" ] || die "get_maintainer.pl names nobody for $(basename "$file")"
			cp "$last.to" "$REPO/to"
		fi
		mv "$REPO/to" "$name.to"
		mv "$REPO/cc" "$name.cc"
		set_recipients "$file" "$name.to" "$name.cc"
		last=$name
	done
	[ -f "$OUT/0000-cover-letter.patch" ] || return 0
	cat "$REPO"/whom/*.to | sort -u >"$REPO/to"
	cat "$REPO"/whom/*.cc | sort -u | grep -vxFf "$REPO/to" >"$REPO/cc" || :
	set_recipients "$OUT/0000-cover-letter.patch" "$REPO/to" "$REPO/cc"
}

"$TOP/scripts/apply.sh"
[ -s "$PATCHES/series" ] || die "patches/$BASE/series is empty"
start_repo
while read -r patch; do
	add_patch "$PATCHES/$patch"
done < <(sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$PATCHES/series")
check_complete

rm -rf "$OUT"
mkdir -p "$OUT"
# The cover letter is from who has written the first patch.
GIT_COMMITTER_NAME=$(git_repo log --reverse --format=%an | sed -n 2p)
GIT_COMMITTER_EMAIL=$(git_repo log --reverse --format=%ae | sed -n 2p)
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
git_repo format-patch -q --cover-letter -M -o "$OUT" \
	"$(git_repo rev-list --max-parents=0 HEAD)"
write_cover
address_all
(cd "$OUT" && printf '%s\n' *.patch | grep -vxF 0000-cover-letter.patch) >"$OUT/series"
cat "$OUT"/*.patch >"$OUT/series.mbox"
say "$(find "$OUT" -name '0*.patch' | wc -l) messages in ${OUT#"$TOP"/}/, together in series.mbox there"
