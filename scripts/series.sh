#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# series.sh: compose what upstream gets, as git format-patch makes it, in
# build/series: each patch of patches/linux-6.12/series together with the new
# files that belong to it, and a cover letter.
#
# A patch names its new files in its header, in lines of tree paths (globs)
# which do not go upstream:
#
#	New-files: tools/perf/kvm-unified/vcpu-sample.[ch]
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

"$TOP/scripts/apply.sh"
[ -s "$PATCHES/series" ] || die "patches/$BASE/series is empty"
start_repo
while read -r patch; do
	add_patch "$PATCHES/$patch"
done < <(sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$PATCHES/series")
check_complete

rm -rf "$OUT"
mkdir -p "$OUT"
git_repo format-patch -q --cover-letter -M -o "$OUT" \
	"$(git_repo rev-list --max-parents=0 HEAD)"
write_cover
cat "$OUT"/*.patch >"$OUT/series.mbox"
say "$(find "$OUT" -name '0*.patch' | wc -l) messages in ${OUT#"$TOP"/}/, together in series.mbox there"
