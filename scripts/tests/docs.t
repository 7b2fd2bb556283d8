#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The documents say what the code says: options, fields, flags, and functions by name.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck disable=SC2016 # the backquotes are of the documents
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

MAN=$TOP/Documentation/perf-kvm-unified.txt
ABI=$TOP/Documentation/kvm-unified.rst
TIMELINE=$TOP/Documentation/kvm-unified-timeline.rst
DESIGN=$TOP/Documentation/kvm-unified-design.rst
# They are of mainline; what is different in the LTS kernel, distro-kernel.md says in words.
UAPI=$TREE/src/include/uapi/linux/perf_event.h
TRACE=$TREE/src/include/trace/events/kvm.h

"$TOP/scripts/deps.sh" docs >&2 && "$TOP/scripts/build-perf.sh" >&2 || exit 1

# --- the manual page ---------------------------------------------------------------

# options_of SUBCOMMAND: its own long options, one a line, as -h has them.
options_of()
{
	# Help ends with an exit code of its own.
	"$MAIN_TREE/perf/perf" kvm unified "$1" -h 2>&1 |
		sed -n -e '/^Options of perf record/q' \
			-e 's/^ *\(-[a-zA-Z], \)\?--\([a-z0-9-]*\).*/\2/p'
}

# section NAME: its text in the manual page. A title is underlined by as many dashes.
section()
{
	awk -v name="$1" '
		{ line[NR] = $0 }
		END {
			for (i = 1; i <= NR; i++) {
				if (line[i + 1] ~ /^-+$/ && length(line[i + 1]) == length(line[i]))
					on = line[i] == name
				if (on)
					print line[i]
			}
		}' "$MAN"
}

# What is on by default is described by what turns it off.
has_option()
{
	grep -qE "^--(no-)?$2(=.*)?::\$" <(section "$1") ||
		grep -qE "^--$2(=.*)?::\$" <(section "COMMON OPTIONS")
}

for subcommand in record report diff export guest-map; do
	options_of "$subcommand" >"$TMP/options"
	ok "$subcommand -h has options" test "$(wc -l <"$TMP/options")" -ge 3
	while read -r option; do
		ok "the manual page has $subcommand --$option" has_option "OPTIONS FOR $subcommand" "$option"
	done <"$TMP/options"
	# And the other way round: no option that is not there.
	while read -r option; do
		ok "$subcommand has --$option" grep -qxE "(no-)?${option#no-}" "$TMP/options"
	done < <(section "OPTIONS FOR $subcommand" | sed -n 's/^--\([a-z0-9-]*\)\(=.*\)\?::$/\1/p')
done

# --- the kernel's documents --------------------------------------------------------

rst()
{
	python3 -m docutils --report=1 --halt=5 "$1" "$TMP/out.html" >"$TMP/rst" 2>&1
	# Links between documents are Sphinx's, which finds them by their path. In a table, what
	# was meant to go on in the next line is a row of its own, with empty cells.
	! grep . "$TMP/rst" && ! grep '<td></td>' "$TMP/out.html"
}
ok "kvm-unified.rst is proper reST" rst "$ABI"
ok "kvm-unified-timeline.rst is proper reST" rst "$TIMELINE"
ok "kvm-unified-design.rst is proper reST" rst "$DESIGN"

# Bits of the flags: lines "NAME BIT" of either.
sed -nE 's/^#define (PERF_VCPU_[A-Z_]+)\s+\(1ULL << ([0-9]+)\).*/\1 \2/p' "$UAPI" >"$TMP/uapi"
sed -nE 's/^``(PERF_VCPU_[A-Z_]+)`` \(bit ([0-9]+)\)$/\1 \2/p' "$ABI" >"$TMP/doc"
ok "the header has flags" test "$(wc -l <"$TMP/uapi")" -ge 8
ok "the document has the same, and their bits" diff "$TMP/uapi" "$TMP/doc"

# And its numbers of eight bits each: lines "MASK FROM TO".
sed -nE 's/^#define (PERF_VCPU_[A-Z]+)_SHIFT\s+([0-9]+)$/\1 \2/p' "$UAPI" |
	awk '{ print $1 "_MASK", $2, $2 + 7 }' >"$TMP/uapi"
sed -nE 's/^bits ([0-9]+) to ([0-9]+), ``(PERF_VCPU_[A-Z]+_MASK)``$/\3 \1 \2/p' "$ABI" >"$TMP/doc"
ok "the header has numbers in the flags" test "$(wc -l <"$TMP/uapi")" -eq 2
ok "the document has the same, and their bits, too" diff "$TMP/uapi" "$TMP/doc"

# Types and members, against the table.
sed -n '/^struct perf_sample_vcpu {/,/^}/p' "$UAPI" |
	sed -nE 's/^\t__u(32|64)\s+([a-z_]+);.*/\1 \2/p' |
	awk '{ print at + 0, $1 / 8, $2; at += $1 / 8 }' >"$TMP/uapi"
sed -nE 's/^([0-9]+) +([0-9]+) +``([a-z_]+)``.*/\1 \2 \3/p' "$ABI" >"$TMP/doc"
ok "the header has members" test "$(wc -l <"$TMP/uapi")" -eq 5
ok "the document has the same, at the same offsets" diff "$TMP/uapi" "$TMP/doc"

# Fields of the tracepoint.
sed -nE '/^TRACE_EVENT(_FN)?\(kvm_vcpu_timeline/,/TP_fast_assign/p' "$TRACE" |
	sed -nE 's/.*__field\(__([us][0-9]+),\s*([a-z_]+)\)/\2 \1/p' >"$TMP/trace"
sed -nE 's/^``([a-z_]+)`` +([us](8|16|32|64)) .*/\1 \2/p' "$TIMELINE" >"$TMP/doc"
ok "the tracepoint has fields" test "$(wc -l <"$TMP/trace")" -ge 7
ok "the document has the same, and their types" diff "$TMP/trace" "$TMP/doc"

# Its states, in the order of their numbers, by the names that it prints: "1 user, 2 preempted".
states()
{
	local number=0 state name

	sed -n '/^enum kvm_vcpu_timeline_state/,/^}/s/^\t\(KVM_VCPU_TL_[A-Z_]*\),.*/\1/p' \
		"$TREE/src/include/linux/kvm_host.h" | while read -r state; do
		name=$(sed -nE "s/.*\{ $state,\s+\"([a-z-]+)\" \}.*/\1/p" "$TRACE")
		# One that is never told has none.
		[ -z "$name" ] || echo "$number $name"
		number=$((number + 1))
	done | paste -sd, | sed 's/,/, /g'
}
ok "the tracepoint has states" test "$(states | tr , '\n' | grep -c '[a-z]')" -ge 5
ok "the document has the same, and their numbers" grep -qF "$(states)" "$TIMELINE"

# Where the argument names a function, that is where to look it up.
functions()
{
	grep -ohE '\b[a-z_0-9]+\(\)' "$ABI" "$TIMELINE" "$DESIGN" | tr -d '()' | sort -u |
		grep -vxE "ioctl|perf_event_open"
}
functions >"$TMP/functions"
ok "the documents name functions" test "$(wc -l <"$TMP/functions")" -ge 50
all_there()
{
	grep -rhowF --include='*.[chS]' -f "$TMP/functions" \
		"$TREE"/src/{kernel,virt,arch/x86/{kvm,include,kernel},include} | sort -u >"$TMP/found"
	diff "$TMP/functions" "$TMP/found"
}
ok "the kernel has all of them" all_there

# --- README ------------------------------------------------------------------------

ok "README has the evaluation's figures" "$TESTS/readme-figures.py" "$TOP/README.md" \
	"$TOP/Documentation/evaluation/figures.json"

# --- MAINTAINERS -------------------------------------------------------------------

# With the section in its place, in a tree of nothing but names.
maintainers_tree()
{
	local dir=$TMP/linux path

	mkdir -p "$dir"
	(cd "$TREE/src" && git ls-files 2>/dev/null
		find Documentation/virt/kvm tools/perf tools/testing/selftests/kvm \
			arch/x86/kvm include/uapi kernel/events scripts -type f) |
		sort -u >"$TMP/names"
	while read -r path; do
		mkdir -p "$dir/$(dirname "$path")"
		: >"$dir/$path"
	done <"$TMP/names"
	for path in COPYING CREDITS Kbuild Makefile README; do
		: >"$dir/$path"
	done
	(cd "$dir" && mkdir -p arch include drivers fs init ipc kernel lib)
	cp "$TREE/orig/scripts/get_maintainer.pl" "$TREE/orig/scripts/parse-maintainers.pl" "$dir/scripts/"
	awk -v snippet="$TOP/MAINTAINERS-snippet" '
		/^PERFORMANCE EVENTS SUBSYSTEM$/ {
			while ((getline line <snippet) > 0)
				print line
			print ""
		}
		{ print }' "$TREE/orig/MAINTAINERS" >"$dir/MAINTAINERS"
	git -C "$dir" init -q && git -C "$dir" add -Af .
}
maintainers_tree
first=$(head -n 1 "$TOP/MAINTAINERS-snippet")
last=$(awk -v first="$first" '$0 == first { on = 1 } on && /^$/ { print NR; exit }' "$TMP/linux/MAINTAINERS")
self_test()
{
	# Other sections name files that are not in this tree.
	(cd "$TMP/linux" && perl scripts/get_maintainer.pl --self-test="$1") 2>&1 |
		awk -F: -v from="$((last - $(wc -l <"$TOP/MAINTAINERS-snippet")))" -v to="$last" \
			'$2 >= from && $2 <= to { print; bad = 1 } END { exit bad }'
}
ok "MAINTAINERS has the section" grep -qxF "$first" "$TMP/linux/MAINTAINERS"
ok "get_maintainer.pl: the section is complete" self_test sections
ok "get_maintainer.pl: each pattern has its files" self_test patterns
in_order()
{
	local out=$TMP/sorted

	(cd "$TMP/linux" && perl scripts/parse-maintainers.pl --order --input=MAINTAINERS \
		--output="$out") || return
	# It moves what others have out of order, too: what counts is our section.
	grep -xF -A "$(wc -l <"$TOP/MAINTAINERS-snippet")" "$first" "$out" >"$TMP/ours" &&
		diff "$TMP/ours" <(cat "$TOP/MAINTAINERS-snippet"; echo)
}
ok "parse-maintainers.pl: its lines are in order" in_order
finds_us()
{
	# Whom it names is for the section to say.
	(cd "$TMP/linux" && perl scripts/get_maintainer.pl --no-git --no-git-fallback \
		--no-rolestats --sections -f tools/perf/kvm-unified/report/report.c) | tee /dev/stderr |
		grep -xF "$first" >/dev/null
}
ok "get_maintainer.pl finds it" finds_us
done_testing
