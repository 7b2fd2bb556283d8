#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# That make test CHANGED=1 finds a function that is broken, in each room of perf-kvm-unified, and how
# long it takes. It needs what the lab has left in this checkout (make test), as CHANGED=1 does.
# ROOMS="axis report": only in these. --check: only that each function is still there.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

# A mutation of scripts/mutations.sh in each ROOM, or else: FILE @ SED EXPRESSION
mutations()
{
	cat <<-'END'
	axis lost-state
	collector exec-handover
	export export/stacks.c@s/^\tif (c == ';')$/\tif (c == ',')/
	format truncated-map
	guests guests/resolve.c@s/^\t\tguest->nr_kernel_named += .*/\t\tguest->nr_kernel_named += 0;/
	live live/top.c@s/^\t\trm_rf(top->dir);//
	lib lib/patterns.c@s/^\treturn strglobmatch(name, text);/\treturn !strglobmatch(name, text);/
	measure measure/who.c@s/^\treturn strstarts(task->comm, VHOST_COMM);/\treturn false;/
	memory memory/paging.c@s/^\tleaf->writable &= /\tleaf->writable |= /
	record look-twice
	report report/profile.c@s/^\tp->totals\[column\] += sum;/\tp->totals[column] = sum;/
	perf-commands perf-commands/run.c@s/^\treturn ret < 0 ? 1 : ret;/\treturn 0;/
	END
}

# place MUTATION: its file and its expression, a line each
place()
{
	case $1 in
	*@*) printf 'perf-kvm-unified/%s\n' "$1" | sed 's/@/\n/' ;;
	*) "$TOP/scripts/mutations.sh" --show "$1" ;;
	esac
}

# is_there MUTATION: it changes something
is_there()
{
	local lines

	mapfile -t lines < <(place "$1")
	not cmp -s "$TOP/${lines[0]}" <(sed "${lines[1]}" "$TOP/${lines[0]}")
}

if [ "${1:-}" = --check ]; then
	while read -r room mutation; do
		is_there "$mutation" || { echo "$room: $mutation finds nothing"; gone=1; }
	done < <(mutations)
	exit "${gone:-0}"
fi

COPY=$TMP/copy
git clone -q "$TOP" "$COPY"
git -C "$COPY" config user.name changed
git -C "$COPY" config user.email changed@localhost
mkdir -p "$COPY/build/test"
cp -r "$LAB_OUT" "$COPY/build/"
git -C "$COPY" rev-parse HEAD | sed 's/^/commit /' >"$COPY/build/test/verdict.passed"

# break_room MUTATION: in a commit of its own
break_room()
{
	local lines

	mapfile -t lines < <(place "$1")
	git -C "$COPY" reset -q --hard "$(git -C "$TOP" rev-parse HEAD)"
	sed -i "${lines[1]}" "$COPY/${lines[0]}"
	git -C "$COPY" commit -qam "break ${lines[0]}"
}

while read -r -u 3 room mutation; do
	[ -z "${ROOMS:-}" ] || [[ " $ROOMS " = *" $room "* ]] || continue
	ok "$room: there is something to be broken" break_room "$mutation"
	start=$SECONDS
	env -u KVMU_BESIDE -u KVMU_RUNS KVMU_TESTS='' CHANGED=1 "$COPY/scripts/test.sh" \
		>"$TMP/out" 2>&1
	took=$((SECONDS - start))
	sed -n '/^failed:/,$p' "$TMP/out" >&2
	found=$(sed -n '/^failed:/,$p' "$TMP/out" | grep -m 1 'not ok')
	note "$room: $took s, $(grep -m 1 '^tests of what has changed' "$TMP/out")"
	ok "$room: found, ${found:-nothing} " test -n "$found"
done 3< <(mutations)
ok "the unbroken code is built again" "$TOP/scripts/setup.sh"
done_testing
