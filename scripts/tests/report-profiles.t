#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Reports of profiles that are made of the one that profile.t has recorded: without some of its files, with a
# map of another boot, with other code of guests, as a stream, of a recorder that was killed, elsewhere.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/report.sh
. "$(dirname "$0")/report.sh"

# --- a part of a profile ------------------------------------------------------------------------

# Not the symbols of the machine that makes the report
cp -r perf.data "$TMP/part" && rm -r "$TMP/part"/kcore_dir__*
report -i "$TMP/part" --format json >"$TMP/json-part"
ok "without the guest kernel's symbols: it says so" \
	grep -q "^Guest guest1: its kernel's functions stay without names: .*/kallsyms: " "$TMP/warnings"
quiet()
{
	report -q -i "$TMP/part" >"$TMP/quiet" && [ -s "$TMP/quiet" ] && [ ! -s "$TMP/warnings" ]
}
ok "... but with -q" quiet
kernel_names()
{
	json "$1" "sorted({x['function'] for x in ${VM}['rows'] if x['module'] == '[kernel]'})"
}
ok "... and its functions have no names" test "$(kernel_names "$TMP/json-part")" = "['[unknown]']"
ok "... which they have with them" not grep -qF '[unknown]' <<<"$(kernel_names "$TMP/json")"
kallsyms=$(echo perf.data/kcore_dir__*/kallsyms)
# given KVM-OPTION REPORT: the names are those of that report.
given()
{
	kvm_report "$1" -i "$TMP/part" --format json >"$TMP/json-given"
	[ "$(kernel_names "$TMP/json-given")" = "$(kernel_names "$2")" ]
}
ok "... or which --guestkallsyms gives" given "--guestkallsyms=$kallsyms" "$TMP/json"
mkdir -p "$TMP/mount/${kallsyms//[^0-9]/}/proc"
cp "$kallsyms" "$TMP/mount/${kallsyms//[^0-9]/}/proc"
ok "... or --guestmount" given "--guestmount=$TMP/mount" "$TMP/json"
# As it is of another boot, and as who is not root reads it
sed 's/^fffffff/ffffffe/' "$kallsyms" >"$TMP/moved"
sed 's/^[0-9a-f]*/0000000000000000/' "$kallsyms" >"$TMP/zeros"
ok "another boot's are not used" given "--guestkallsyms=$TMP/moved" "$TMP/json-part"
ok "... and it says so" grep -q '/moved is of another kernel, or of another boot, not used' "$TMP/warnings"
ok "nor those without addresses" given "--guestkallsyms=$TMP/zeros" "$TMP/json-part"
ok "... and it says so, too" grep -q "/zeros has no kernel's symbols with addresses, not used" "$TMP/warnings"
# A copy that was not finished
cut_kallsyms()
{
	mkdir -p "$TMP/part/$(basename "${kallsyms%/*}")"
	head -c "$1" "$kallsyms" >"$TMP/part/${kallsyms#*/}"
	report -i "$TMP/part" --format json >"$TMP/json-cut"
	grep -q "^Guest guest1: .*/kallsyms has $1 bytes, and $(stat -c %s "$kallsyms") in its map" \
		"$TMP/warnings"
}
for size in 0 100 900000; do
	ok "the guest kernel's symbols, of which $size bytes are left: it says so" cut_kallsyms "$size"
done
# What has no end, or never begins, is not waited for.
fifo_kallsyms()
{
	rm "$TMP/part/${kallsyms#*/}"
	mkfifo "$TMP/part/${kallsyms#*/}"
	timeout 30 "$PERF" kvm unified report --format table -f -i "$TMP/part" >"$TMP/table" 2>"$TMP/warnings" &&
		grep -q "^Guest guest1: .*/kallsyms is not a file" "$TMP/warnings"
}
ok "... a fifo in their place: it says so" fifo_kallsyms
# As that says, with the map's name
names_of_map()
{
	report -i "$TMP/part" --format json --guest-map "$(grep -o 'guest1=[^ ]*' "$TMP/warnings")" >"$TMP/json-given"
	[ "$(kernel_names "$TMP/json-given")" = "$(kernel_names "$TMP/json")" ]
}
ok "... and how to have them nevertheless" names_of_map
says_nothing()
{
	report >"$TMP/table" && ! grep functions "$TMP/warnings"
}
ok "of a whole profile it says nothing" says_nothing
# Nothing can be said of guests then, and that is not the measurement's fault.
rm "$TMP/part/vms"
ok "without vms: it says so" grep -q "^# sample mode: .* as guests are not told apart" <(report -i "$TMP/part")
for part in perf.data/data perf.data/vms perf.data/guest_map__*; do
	ok "a file of the profile" not report -i "$part"
	ok "... is not the profile" grep -q "^$part is a file of a profile" "$TMP/warnings"
done
# With what is in front of the command as with what is behind it
ok "-i of perf kvm: the profile" diff "$TMP/json" <(cd / &&
	"$PERF" kvm -i "$OLDPWD/perf.data" unified report -f -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" --format json)
ok "... unless report has one of its own" diff "$TMP/json" <(kvm_report -i/nonexistent --format json)
ok "a command's name that is cut off" diff "$TMP/json" <("$PERF" kvm unified rep -f \
	-k "$TREE/host/vmlinux" --guest-root "$guest_files" --format json)
ok "... to too little" not "$PERF" kvm unified re -f
for option in --guestmount --guestvmlinux --guestkallsyms --guestmodules; do
	ok "$option of perf kvm: not there" not kvm_report "$option=/nonexistent"
	ok "... and it says so" grep -qx -e "$option /nonexistent: No such file or directory" \
		"$TMP/warnings"
done
ok "--guest-code of perf kvm: of no use" not kvm_report --guest-code
ok "... and what is" grep -q 'guest-code is of no use here.* its map' "$TMP/warnings"
ok "a profile without -i: refused" not report perf.data
ok "... and what is right" grep -q 'perf.data is a profile: -i perf.data' "$TMP/warnings"
ok "... a file of a profile likewise" not report perf.data/data
ok "... but not another file" report guest1-console.log -q
ok "no profile" not report -i "$TMP/none"
ok "... which another command makes" grep -q 'perf kvm unified record makes one' "$TMP/warnings"
without_symbols()
{
	"$PERF" --buildid-dir "$TMP/none" kvm unified report "$1" -f -i perf.data --stdio >/dev/null 2>"$TMP/warnings"
}
ok "without the host's symbols: a message of perf's own" grep -q '^No kallsyms or vmlinux' <(without_symbols -f; cat "$TMP/warnings")
ok "-q: a report" without_symbols -q
ok "... has no message, nor has perf one" not test -s "$TMP/warnings"
"$PERF" kvm unified report -q -i "$TMP/none" --stdio 2>"$TMP/warnings"
ok "-q: no profile" test $? -eq 1
ok "... and an error is no warning" grep -q '^Cannot read ' "$TMP/warnings"

# --- a map of another boot ----------------------------------------------------------------------

# It is in the profile, and by its words, names of its own would be given.
cp -r perf.data "$TMP/boot"
boot_map=$(echo "$TMP/boot"/guest_map__*)
boot_kallsyms=$(echo "$TMP/boot"/kcore_dir__*/kallsyms)
report --no-guest-maps --format json >"$TMP/json-nameless"
# other_boot MIB KEEP-PROCESSES OPTION...: see other-boot.py
other_boot()
{
	"$TESTS/other-boot.py" perf.data/guest_map__* "$1" "$2" "$boot_map" "$boot_kallsyms" &&
		report -i "$TMP/boot" --format json "${@:3}" >"$TMP/json-boot"
}
says_other_boot()
{
	cat "$TMP/warnings"
	[ "$(grep -c '^Guest ' "$TMP/warnings")" -eq 1 ] &&
		grep -q '^Guest guest1: its map is of another guest, or of another boot.* is not used' "$TMP/warnings" &&
		grep -q 'So 100.0 % of the samples' "$TMP/warnings"
}
# Where all samples of the kernel are in the other's, too, as they may be if that is near, only the
# processes tell.
is_in_doubt()
{
	[ "$1" -ne 64 ] && grep -q 'no process of its map was seen running' "$TMP/warnings" &&
		grep -q '"user_samples_named": 0,' "$TMP/json-boot"
}
has_named_nothing()
{
	diff "$TMP/json-nameless" "$TMP/json-boot" || is_in_doubt "$1"
}
says_what_it_is()
{
	says_other_boot || is_in_doubt "$1"
}
for other in "64 1" "10 0" "-10 0"; do
	# shellcheck disable=SC2086 # by how much, and if with its processes
	ok "a map of another boot, ${other% *} MiB away: there is a report" other_boot $other
	ok "... in which it has named nothing, or is in doubt" has_named_nothing "${other% *}"
	ok "... which is said once, and what it costs" says_what_it_is "${other% *}"
done
ok "... but with -q" other_boot 64 1 -q
ok "... it is not" test ! -s "$TMP/warnings"
ok "--no-guest-maps=guest1: without these words" other_boot 64 1 --no-guest-maps=guest1
ok "... the same" diff "$TMP/json-nameless" "$TMP/json-boot"
ok "... with none" not grep '^Guest ' "$TMP/warnings"
ok "... by a pattern" other_boot 64 1 '--no-guest-maps=gu*'
ok "... with none, too" not grep '^Guest ' "$TMP/warnings"
ok "--no-guest-maps: of no guest" nothing_there --no-guest-maps=guest7 -q "no guest 'guest7'.* There is: guest1"
ok "--no-guest-maps=: a name is missing" nothing_there --no-guest-maps= -q 'wants names or patterns'
ok "--guest-maps takes it back" diff "$TMP/json" <(report --no-guest-maps=guest1 --guest-maps --format json)
rm -r "${TMP:?}/boot"

# --- a guest that was booted while it was recorded --------------------------------------------------

# By its clock, some seconds before its map was made, see rebooted.py
cp -r perf.data "$TMP/rebooted"
rebooted_map=$(echo "$TMP/rebooted"/guest_map__*)
# rebooted NAME OPTION...: to $TMP/NAME.json
rebooted()
{
	report -i "$TMP/rebooted" --format json "${@:2}" >"$TMP/$1.json"
}
# Within the recording, but not near an end of it
within_recording()
{
	local seconds

	for seconds in {2..60..2}; do
		"$TESTS/rebooted.py" perf.data/guest_map__* "$seconds" "$rebooted_map" && rebooted rebooted || return
		json "$TMP/rebooted.json" '1 / (0.3 < guest("guest1")["samples_before_boot"] /
			sum(x["samples"] for x in vm_rows("guest1")) < 0.7)' >/dev/null 2>&1 && return
	done
	return 1
}
ok "booted while it was recorded: a report" within_recording
ok "... all time is there once" "$TESTS/report-sums.py" "$TMP/rebooted.json"
ok "... it is said, once" test "$(grep -c '^Guest guest1: by its clock, it was booted after the recording' "$TMP/warnings")" -eq 1
# So short that not as many samples are in them as there are before and after it, however many are lost
# in the rest of the time
rebooted before --time 0%-5%
ok "... before that, nothing of it has a name" json "$TMP/before.json" '1 / all(x["function"] == "[unknown]"
	for x in vm_rows("guest1") if x["class"] in ("OS", "USER"))'
ok "... and no process" json "$TMP/before.json" '1 / all(x["comm"].startswith("[cr3 ")
	for x in vm_rows("guest1") if x["class"] == "USER")'
rebooted after --time 95%-100%
report --format json --time 95%-100% >"$TMP/json-after"
ok "... and after it, all that it had" diff <(json "$TMP/json-after" 'vm_rows("guest1")') \
	<(json "$TMP/after.json" 'vm_rows("guest1")')
rm -r "${TMP:?}/rebooted"
# A map that was made by hand is of the boot before, or after.
cp -r perf.data "$TMP/set-back"
booted_map=$(echo perf.data/guest_map__*)
ok "a map that is given: a report" report -i "$TMP/set-back" --guest-map "guest1=$booted_map"
ok "a guest whose TSC was set meanwhile" "$TESTS/tsc-changed.py" "$TMP/set-back"
ok "... with the map that was made at its end: a report" report -i "$TMP/set-back"
ok "... with one that is given: none" not report -i "$TMP/set-back" --guest-map "guest1=$booted_map"
ok "... and why" grep -q '^--guest-map: guest guest1 was booted again while' "$TMP/warnings"
rm -r "${TMP:?}/set-back"

# --- text that was moved to huge pages ----------------------------------------------------------

# hugified HOW: the profile as if the middle of libquantum's text had been, see huge-text.py
hugified()
{
	rm -rf "$TMP/huge"
	cp -r perf.data "$TMP/huge"
	"$TESTS/huge-text.py" "$TMP/huge"/guest_map__* libquantum.so.8 "$1" &&
		report -i "$TMP/huge" --format json >"$TMP/json-huge"
}
ok "text that was moved: there is a report" hugified whole
ok "... it has the names of its file" diff "$TMP/json" "$TMP/json-huge"
ok "... where another page of it follows: there is a report" hugified shifted
ok "... it is the process's own code" grep -q '\[JIT\] tid' "$TMP/json-huge"
rm -r "${TMP:?}/huge"

# --- BPF programs of a guest -----------------------------------------------------------------------

# kernel_samples PROFILE: a line for each sample in kernel mode, its function and its module. The
# report's rows are of time, and a sample that comes late stands for more.
kernel_samples()
{
	"$PERF" kvm unified script -f -i "$1" -k "$TREE/host/vmlinux" -F ip,sym,dso 2>/dev/null |
		sed -n 's/^ *ffff[0-9a-f]* //p'
}
read -r in_first in_second behind < <("$TESTS/bpf-code.py" perf.data "$TMP/bpf")
kernel_samples "$TMP/bpf" >"$TMP/bpf-samples"
samples_in()
{
	awk -v name="$1" '$1 == name' "$TMP/bpf-samples" | wc -l
}
ok "BPF: samples in a program: ${in_first:-none}" test "${in_first:-0}" -gt 0
ok "BPF: they have its name" test "$(samples_in bpf_prog_00_first)" -eq "$in_first"
ok "BPF: a trampoline, up to the next program" test "$(samples_in bpf_trampoline_6442)" -eq "$in_second"
ok "BPF: what is in none has no name" test "$(samples_in '[unknown]')" -ge "$behind"
ok "BPF: far behind the last one there is none" test "$(samples_in bpf_prog_0123456789abcdef_last)" -eq 0
ok "BPF: no name for the kernel's own code" test "$(samples_in bpf_prog_ff_kernel)" -eq 0
rm -r "${TMP:?}/bpf"

# --- modules of a guest that come and go ----------------------------------------------------------

read -r always first second gone late unsure stayed early next unsure_bpf < <("$TESTS/module-code.py" perf.data "$TMP/modules")
kernel_samples "$TMP/modules" >"$TMP/modules-samples"
# samples_of FUNCTION MODULE
samples_of()
{
	grep -cxF "$1 ($2)" "$TMP/modules-samples"
}
ok "modules: samples in each: ${always:-none}" test "${first:-0}" -gt 0 -a "${second:-0}" -gt 0
ok "modules: one that was there all the time" test "$(samples_of always_code '[always]')" -eq "$always"
ok "modules: one that went has its samples of before" test "$(samples_of first_code '[first]')" -eq "$first"
ok "modules: one in its place has those of behind" test "$(samples_of second_code '[second]')" -eq "$second"
for module in gone late unsure; do
	ok "modules: none where it was not there, or nobody knows: $module" \
		test "$(samples_of "${module}_code" "[$module]")" -eq 0
done
ok "modules: all samples of those have no name" \
	test "$(samples_of '[unknown]' '[unknown]')" -ge $((gone + late + unsure + unsure_bpf))
ok "modules: one that stayed is told by its map" test "$(samples_of '[unknown]' '[stayed]')" -eq "$stayed"
ok "BPF: a program that went has its samples of before: ${early:-none}" \
	test "${early:-0}" -gt 0 -a "$(samples_of bpf_prog_1_early bpf_prog_1_early)" -eq "$early"
ok "BPF: one in its place has those of after" \
	test "${next:-0}" -gt 0 -a "$(samples_of bpf_prog_2_next bpf_prog_2_next)" -eq "$next"
ok "BPF: none where nobody knows when it was there" not grep -q bpf_prog_3_unsure "$TMP/modules-samples"
rm -r "${TMP:?}/modules"

# --- files without a build-id ---------------------------------------------------------------------

LIBRARY=$guest_files/lib/x86_64-linux-gnu/libquantum.so.8
# without_id HOW: the profile as if libquantum had none, see without-build-id.py
without_id()
{
	rm -rf "$TMP/no-id"
	cp -r perf.data "$TMP/no-id"
	test "$("$TESTS/without-build-id.py" "$TMP"/no-id/guest_map__* /libquantum.so.8 "$LIBRARY" "$1")" -gt 0 &&
		report -i "$TMP/no-id" --format json >"$TMP/json-no-id"
}
ok "no build-id, the same file: there is a report" without_id print
ok "... all functions have their names" diff "$TMP/json" "$TMP/json-no-id"
ok "... and nothing is said" not grep -q 'without a build-id' "$TMP/warnings"
ok "no build-id, another file of that name: there is a report" without_id other
ok "... no function has a name" not grep -q '"function": "quantum_.*libquantum' "$TMP/json-no-id"
ok "... it is said" grep -q '1 of such names is below --guest-root, and not the guest' "$TMP/warnings"
ok "no build-id, of an older collector: there is a report" without_id none
ok "... no function has a name" not grep -q '"function": "quantum_.*libquantum' "$TMP/json-no-id"
ok "... it is said" grep -q 'user time is in 1 file without a build-id: .*/libquantum.so.8;' "$TMP/warnings"
rm -r "${TMP:?}/no-id"

# --- large files of a guest ------------------------------------------------------------------------

# A copy of the one file that most of the time is in
large=$TMP/large/$(cd "$guest_files" && dirname lib/*/libquantum.so.8)
mkdir -p "$large"
as_it_was()
{
	cp --remove-destination "$guest_files"/lib/*/libquantum.so.8 \
		"$large/libquantum.so.8"
}
# names_of_large OPTION...
names_of_large()
{
	report --format json --guest-root guest1="$TMP/large" "$@" >"$TMP/json-large" &&
		json "$TMP/json-large" "sorted((x['function'], x['samples']) for x in ${VM}['rows']
			if x['module'] == 'libquantum.so.8')"
}
as_it_was
small_names=$(names_of_large)
ok "the functions of one file have names" grep -q quantum_toffoli <<<"$small_names"
truncate -s 1100M "$large/libquantum.so.8"
ok "... with a hole of a gigabyte at its end: the same" test "$(names_of_large)" = "$small_names"
ok "... and nothing is said of it" not grep libquantum <(names_of_large >"$TMP/large-names"; cat "$TMP/warnings")
# over_limit TYPE MIB WORDS: a section of that size, see large-section.py
over_limit()
{
	as_it_was && "$TESTS/large-section.py" "$large/libquantum.so.8" "$1" "$2" && names_of_large || return
	cat "$TMP/warnings"
	[ "$(grep -c '^Guest guest1: ' "$TMP/warnings")" -eq 1 ] &&
		grep -qx "Guest guest1: $large/libquantum.so.8 has more than $3, which is the limit:" "$TMP/warnings"
}
ok "a table of symbols of 65 MiB is over a limit: it is said" over_limit 11 65 '64 MiB in a table'
ok "... and the functions have no names" not grep quantum_toffoli "$TMP/json-large"
ok "code of 257 MiB: the same" over_limit 1 257 '256 MiB of code'
ok "... and the functions have no names" not grep quantum_toffoli "$TMP/json-large"
ok "... with -q, nothing is said" test -z "$(names_of_large -q >"$TMP/large-names"; cat "$TMP/warnings")"
rm -r "$TMP/large"

# --- a unikernel ------------------------------------------------------------------------------------

# Its kernel is at low addresses, and its symbols are what nm or its makers say of it.
cp -r perf.data "$TMP/low"
"$TESTS/low-kernel.py" "$TMP/low/data" perf.data/kcore_dir__*/kallsyms "$TMP/low.kallsyms"
# kernel_names_of KVM-OPTION OPTION...: functions of guest1's kernel, and their samples
kernel_names_of()
{
	kvm_report "$1" --no-guest-maps --format json "${@:2}" >"$TMP/json-low" &&
		json "$TMP/json-low" "sorted((x['function'], x['samples']) for x in ${VM}['rows']
			if x['class'] == 'OS')"
}
high_names=$(kernel_names_of "--guestkallsyms=$(echo perf.data/kcore_dir__*/kallsyms)")
ok "a kernel at high addresses has names, by --guestkallsyms" grep -q clear_page <<<"$high_names"
ok "one at low addresses, without _etext, has the same" test \
	"$(kernel_names_of "--guestkallsyms=$TMP/low.kallsyms" -i "$TMP/low")" = "$high_names"
ok "... and nothing is said of it" not grep kallsyms "$TMP/warnings"
sed 's/ _s*text$/_of_none/' "$TMP/low.kallsyms" >"$TMP/no.kallsyms"
ok "... without _stext and _text: no names" not grep -q clear_page \
	<<<"$(kernel_names_of "--guestkallsyms=$TMP/no.kallsyms" -i "$TMP/low")"
ok "... and it says so" grep -q '/no.kallsyms has neither _stext nor _text, .*, not used' "$TMP/warnings"
ok "--guestvmlinux: refused" not kvm_report "--guestvmlinux=$TREE/host/vmlinux"
ok "... with what is of use" grep -q 'guestvmlinux is of no use here' "$TMP/warnings"
ok "... and is what nm prints" grep -q "guestkallsyms does, for which 'nm FILE'" "$TMP/warnings"
rm -r "$TMP/low" "$TMP"/*.kallsyms

# --- a stream --------------------------------------------------------------------------

# stream FILE OPTION...: a report of it, as JSON if nothing else is said
stream()
{
	case " $* " in
	*' --format '*|*' --stdio '*) ;;
	*)	set -- "$@" --format json ;;
	esac
	# shellcheck disable=SC2002 # a pipe, as perf record has one in front of it
	cat "$1" | "$PERF" kvm unified report -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" "${@:2}" 2>"$TMP/warnings"
}
# streamed DIR OPTION...: what a stream has of it is what the directory has, to the ns, and
# what is to be said of it. Neither maps nor what looks at vCPUs have said are in a stream.
streamed()
{
	local dir=$TMP/unseen

	rm -rf "$dir"
	cp -r "$1" "$dir" && rm -f "$dir/vcpu_looks" || return
	shift
	"$TESTS/to-stream.py" "$dir" >"$TMP/of-dir" && stream "$TMP/of-dir" "$@" >"$TMP/streamed" ||
		return
	case " $* " in
	*' --format '*|*' --stdio '*) ;;
	*)	set -- "$@" --format json ;;
	esac
	"$PERF" kvm unified report -f -i "$dir" -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" --no-guest-maps "$@" 2>"$TMP/of-dir.warnings" |
		diff -q - "$TMP/streamed" && diff "$TMP/of-dir.warnings" "$TMP/warnings"
}
map=$(echo perf.data/guest_map__*)
make_events_data
ok "stream: all of the report is as of the directory" streamed perf.data
ok "stream: in sample mode, too" streamed perf.data --no-timeline
ok "stream: as CSV" streamed perf.data --format csv
ok "stream: as a table" streamed perf.data --format table
ok "stream: in intervals from the same moment on" streamed perf.data --format csv --interval 1s
ok "stream: as perf's text" streamed perf.data --stdio --sort class,vm,sym
ok "stream: with a map that is given, and names" streamed perf.data --guest-map guest1="$map"
ok "... which are those of the guest" grep -q quantum_toffoli "$TMP/streamed"
ok "stream: with several events" streamed "$TMP/events.data"
ok "stream: with call chains" streamed "$chains" --stdio -g
"$TESTS/to-stream.py" perf.data >"$TMP/stream"
# diff_of OLD NEW: as CSV, of what a stream has, too
diff_of()
{
	"$PERF" kvm unified diff -f -k "$TREE/host/vmlinux" --no-guest-maps --format csv "$@" 2>>"$TMP/warnings"
}
rm -rf "$TMP/unseen"
cp -r perf.data "$TMP/unseen"
rm -f "$TMP/unseen/vcpu_looks"
diff_of "$TMP/unseen" "$TMP/unseen" >"$TMP/of-dirs"
at_least 10 "diff: rows" "$(wc -l <"$TMP/of-dirs")"
ok "diff: a function of the host is one row, whatever processes it is of" \
	test -z "$(awk -F, '$1 == "host" { print $4, $5, $6 }' "$TMP/of-dirs" | sort | uniq -d; grep '^host,.*"swapper"' "$TMP/of-dirs")"
ok "diff: the new one as a stream" diff "$TMP/of-dirs" <(diff_of "$TMP/unseen" - < <(cat "$TMP/stream"))
ok "diff: the old one" diff "$TMP/of-dirs" <(diff_of - "$TMP/unseen" < <(cat "$TMP/stream"))
exported_stream()
{
	# shellcheck disable=SC2002 # a pipe, as perf record has one in front of it
	cat "$TMP/stream" | "$PERF" kvm unified export -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" --guest-map guest1="$map" >"$TMP/folded-stream" 2>"$TMP/warnings" &&
		stream "$TMP/stream" --guest-map guest1="$map" >"$TMP/json-stream" &&
		"$TESTS/folded-sums.py" "$TMP/folded-stream" "$TMP/json-stream" &&
		grep -q '^guest1;vCPU 0;shor-[0-9]*;quantum_toffoli' "$TMP/folded-stream"
}
ok "stream: export" exported_stream
"$TESTS/to-stream.py" perf.data late >"$TMP/late"
stream "$TMP/stream" >"$TMP/stream.json"
# Until the first sample or event of the guest, its vCPU's thread is a thread like any other.
stream "$TMP/late" >"$TMP/late.json"
ok "stream: VMs that are known at its end only are the same" diff \
	<(json "$TMP/stream.json" 'guest()') <(json "$TMP/late.json" 'guest()')
within 0.2 "stream: ... and have the same, USER %" "$(json "$TMP/stream.json" 'share("guest1", "USER")')" \
	"$(json "$TMP/late.json" 'share("guest1", "USER")')"
vm_pid=$(json "$TMP/json" 'guest()["pid"]')
# Without a time line, what is over leaves the axis before the VM has its name.
intervals_of()
{
	stream "$1" --no-timeline --interval 2s --format csv "${@:2}" | cut -d, -f1-4
}
ok "stream: ... in intervals, too" diff <(intervals_of "$TMP/late") <(intervals_of "$TMP/late" --vm guest1)
ok "stream: ... and not by what it was called before" not stream "$TMP/late" --no-timeline \
	--interval 2s --vm "vm-$vm_pid"
ok "stream: in a file" diff "$TMP/stream.json" \
	<(kvm_report '' -i "$TMP/stream" --format json)
ok "stream: -i -, in front of unified" diff <(stream "$TMP/stream" --format csv) \
	<("$PERF" kvm -i - unified report -k "$TREE/host/vmlinux" --format csv \
		--guest-root "$guest_files" <"$TMP/stream")
ok "stream: --header-only" grep -q '^# KVM guest : name = guest1, .* vCPUs = 1, map = no$' \
	<(stream "$TMP/stream" --stdio --header-only)
ok "... which has what the recording says" grep -q '^# nrcpus online : 2$' \
	<(stream "$TMP/stream" --stdio --header-only)
ok "... and no more" not grep -q 'Total samples' <(stream "$TMP/stream" --stdio --header-only)
ok "stream: perf script has as many samples" test \
	"$("$PERF" script -i - -F event <"$TMP/stream" 2>/dev/null | wc -l)" -eq \
	"$("$PERF" script -f -i perf.data -F event 2>/dev/null | wc -l)"
ok "stream: perf report tells the guest's address spaces apart" grep -q '%.*\[cr3 0x' \
	<("$PERF" report -i - --stdio --sort comm <"$TMP/stream" 2>/dev/null)
ok "stream: perf kvm unified script" grep -q '\[cr3 0x' \
	<("$PERF" kvm unified script -i - --guest-root "$guest_files" -F comm <"$TMP/stream" 2>/dev/null)
# stream_refused WHAT MESSAGE COMMAND...: of what the command writes
stream_refused()
{
	local what=$1 message=$2
	shift 2

	"$@" >"$TMP/bad-stream"
	ok "refused: $what" not stream "$TMP/bad-stream"
	ok "... and it is said" grep -qE "$message" "$TMP/warnings"
}
no_stream='is no stream of perf kvm unified record -o -'
stream_refused "an empty stream" "$no_stream" true
stream_refused "a stream of something else" "$no_stream" cat "$PERF"
stream_refused "the file of a directory" "$no_stream" cat perf.data/data
stream_refused "the table of VMs alone" 'does not say what was recorded' cat perf.data/vms
stream_refused "the map of a guest" 'does not say what was recorded' cat "$map"
stream_refused "a stream that ends in its header" 'does not say what was recorded' \
	head -c 3000 "$TMP/stream"
ok "refused: a VM that there is not" not stream "$TMP/stream" --vm guest7
ok "... and which there are" grep -q "no VM 'guest7' in standard input. There is: guest1" "$TMP/warnings"
ok "refused: a map of a guest that there is not" not stream "$TMP/stream" --guest-map guest7="$map"
ok "... and which there are, too" grep -q 'There is: guest1' "$TMP/warnings"
ok "refused: --guest-map for perf script" not "$PERF" kvm unified script -i - \
	--guest-map guest1="$map" <"$TMP/stream"
ok "refused: -g without call chains" not stream "$TMP/stream" --stdio -g
ok "... and nothing else is said" test "$(cat "$TMP/warnings")" = \
	"There are no call chains in this profile: record with -g"
head -c "$(($(stat -c %s "$TMP/stream") / 2))" "$TMP/stream" >"$TMP/cut-stream"
stream "$TMP/cut-stream" >"$TMP/cut.json"
ok "a stream that is cut off: what there is adds up" "$TESTS/report-sums.py" "$TMP/cut.json"
ok "... and it is said" grep -q 'The stream ends before the recording did' "$TMP/warnings"
ok "... also in the report, for programs" json "$TMP/cut.json" '1 / (measurement()["complete"] is False)'
ok "... and for people" grep -qx '# the end of the recording is missing: this is of a part of it' \
	<(stream "$TMP/cut-stream" --stdio --summary)
# warns_script FILE: does script, too?
warns_script()
{
	"$PERF" kvm unified script -i - -F event <"$1" 2>&1 >/dev/null |
		grep -q 'The stream ends before the recording did'
}
ok "... and script does" warns_script "$TMP/cut-stream"
ok "... but not of a whole one" not warns_script "$TMP/stream"
stream "$TMP/stream" >"$TMP/whole.json"
ok "... but not of a whole one" json "$TMP/whole.json" '1 / (measurement()["complete"] is True)'
# All but the records that stand in vms, and the one behind them
head -c -"$(($(stat -c %s perf.data/vms) - 16 - 8))" "$TMP/late" >"$TMP/nameless"
stream "$TMP/nameless" >"$TMP/nameless.json"
ok "a VM without a name is called by its pid" json "$TMP/nameless.json" \
	'guest("vm-%s" % guest()["pid"])'
# What a nameless VM did before its first record, and after its last one, is not known. All between is
# the same.
same_meanwhile()
{
	stream "$TMP/nameless" --time +1,-1s >"$TMP/nameless-later.json" &&
		stream "$TMP/late" --time +1,-1s >"$TMP/later.json" || return
	diff <(json "$TMP/nameless-later.json" 'level(guest()["name"])["classes_ns"]') \
		<(json "$TMP/later.json" 'level("guest1")["classes_ns"]')
}
ok "... and has its time, to the ns, but for the first and the last second" same_meanwhile
ok "record: a map has no place in a stream" grep -q 'want a directory for the maps' \
	<("$PERF" kvm unified record -o - --guest-cmd guest1=true 2>&1 | cat)

# --- what perf inject makes of a profile -----------------------------------------------------

# It has no table of VMs: its time line is of no use then.
injected()
{
	"$PERF" inject -f -i perf.data -o "$TMP/injected" 2>"$TMP/warnings" &&
		report -i "$TMP/injected" --summary >"$TMP/output" || return
	cat "$TMP/warnings"
	grep -q '^# sample mode: ' "$TMP/output" && ! grep 'without a column' "$TMP/warnings"
}
ok "perf inject's output: the time line is not called an event without a column" injected
# Its guests' code is VMs' all the same, in the overview as in the table.
vms_not_told_apart()
{
	local share

	report -i "$TMP/injected" --format json >"$TMP/injected.json" || return
	share=$(json "$TMP/injected.json" '"%.2f" % share("host", "VM")')
	test "$(json "$TMP/injected.json" 'r[0].json["costs"]["host"]["guests_ns"]')" -eq \
			"$(json "$TMP/injected.json" 'level("host")["classes_ns"]["VM"] or -1')" &&
		grep -qF ": for VMs $share % (guests, vCPU not known $share %), own work" "$TMP/output"
}
ok "... and what VMs executed is for VMs, and not called lost" vms_not_told_apart
rm -rf "$TMP/injected"

# --- a recorder that was killed ------------------------------------------------------------

# killed NAME SIZE [compressed]: what is left of the profile then, in $TMP/NAME; see killed-profile.py
killed()
{
	cp -r perf.data "$TMP/$1" && "$TESTS/killed-profile.py" "$TMP/$1" "${@:2}"
}
# of_killed NAME OPTION...: its report
of_killed()
{
	"$PERF" kvm unified report -f -i "$TMP/$1" -k "$TREE/host/vmlinux" "${@:2}" \
		2>"$TMP/warnings" </dev/null
}
killed_says='The recorder was killed, or had no room left on its disk'
killed killed all
of_killed killed --format json >"$TMP/killed.json"
ok "killed: a report" test $? -eq 0
ok "killed: all time is there once" "$TESTS/report-sums.py" "$TMP/killed.json"
ok "killed: all samples" test "$(json "$TMP/killed.json" 'measurement()["samples"]')" -eq \
	"$(json "$TMP/json" 'measurement()["samples"]')"
ok "killed: and all of the time line" test "$(json "$TMP/killed.json" 'measurement()["timeline_events"]')" -eq \
	"$(json "$TMP/json" 'measurement()["timeline_events"]')"
ok "killed: the guest is there until the end" \
	json "$TMP/killed.json" '1 / (rows("guest1", "[absent]") == 0)'
ok "killed: the kernel of this machine is not that of the recording" \
	json "$TMP/killed.json" '1 / (measurement()["kernel"] == "")'
ok "killed: it is said once" test "$(grep -c "$killed_says" "$TMP/warnings")" -eq 1
ok "killed: and nothing besides" not grep -E 'WARNING|terminated|truncated' "$TMP/warnings"
killed killed-z all compressed
of_killed killed-z --format json >"$TMP/killed-z.json"
ok "killed, compressed: it is smaller" test "$(stat -c %s "$TMP/killed-z/data")" -lt \
	$(($(stat -c %s "$TMP/killed/data") / 2))
ok "killed, compressed: the same report" diff "$TMP/killed.json" "$TMP/killed-z.json"
ok "killed: perf script reads it" grep -q 'kvm:kvm_vcpu_timeline' \
	<("$PERF" script -f -i "$TMP/killed" -F event 2>/dev/null)
rm "$TMP/killed/data.timeline_format"
of_killed killed --format json >"$TMP/killed.json"
ok "killed, without the format of the time line: all samples" \
	test "$(json "$TMP/killed.json" 'measurement()["samples"]')" -eq \
	"$(json "$TMP/json" 'measurement()["samples"]')"
rm "$TMP/killed/vms"
ok "killed, without VMs: a report" grep -q 'Total samples' <(of_killed killed --format table)
ok "killed, without VMs: both are said" grep -q "$killed_says" "$TMP/warnings"
# The size of no record is odd.
killed killed-half 700001
of_killed killed-half --format json >"$TMP/killed-half.json"
ok "killed within a record: what there is adds up" "$TESTS/report-sums.py" "$TMP/killed-half.json"
ok "killed within a record: what there is" json "$TMP/killed-half.json" \
	"1 / (1000 < measurement()['samples'] < $(json "$TMP/json" 'measurement()["samples"]'))"
if [ "$(id -u)" -eq 0 ]; then
	killed foreign all
	chown -R 65534 "$TMP/foreign"
	ok "killed, and another user's: it is said" grep -q 'not owned by current user' \
		<("$PERF" kvm unified report -i "$TMP/foreign" 2>&1 </dev/null)
fi
killed none 3
ok "killed before the first record: refused" not of_killed none --stdio
ok "killed before the first record: and it is said" \
	grep -q 'has no record: its recorder was killed' "$TMP/warnings"

# --- the host's kernel where it does not run -------------------------------------------

mkdir -p "$TMP/home"
HOME=$TMP/home "$PERF" kvm unified report --format table -f -i perf.data >"$TMP/elsewhere" 2>"$TMP/warnings"
ok "without the host's kernel: a report" test $? -eq 0
ok "without the host's kernel: that is said" grep -q "The host's kernel has no symbols here" "$TMP/warnings"
ok "without the host's kernel: how long it was idle is not known" grep -qE \
	'^# host: .*, own work or idle [0-9.]+ %, lost or unknown' "$TMP/elsewhere"
ok "without the host's kernel: that is above the tables, too" \
	grep -q '^# idle time of the host counts as OS' "$TMP/elsewhere"
ok "without the host's kernel: ... which has which build-id" \
	grep -qE '^\(its build-id is [0-9a-f]{40}\)$' "$TMP/warnings"
HOME=$TMP/home "$PERF" kvm unified report --format json -f -i perf.data >"$TMP/elsewhere.json" 2>/dev/null
ok "without the host's kernel: JSON has that, too" \
	test "$(json "$TMP/elsewhere.json" 'measurement()["idle_known"]')" = False
# Names that are each elsewhere, as those of another kernel are
nm "$TREE/host/vmlinux" | grep -i ' [tw] ' | sort >"$TMP/host-kallsyms"
awk '{ at[NR] = $1; name[NR] = $3 } END { for (i = 1; i <= NR; i++) print at[i], "t", name[(i + 999) % NR + 1] }' \
	"$TMP/host-kallsyms" >"$TMP/others-kallsyms"
# idle_by KALLSYMS: whether idle time is known by them
idle_by()
{
	HOME=$TMP/home "$PERF" kvm unified report --format json -f -i perf.data --kallsyms "$1" \
		>"$TMP/by-kallsyms.json" 2>"$TMP/warnings" &&
		json "$TMP/by-kallsyms.json" 'measurement()["idle_known"]'
}
ok "--kallsyms of the host's kernel: idle time is known" test "$(idle_by "$TMP/host-kallsyms")" = True
ok "--kallsyms of another kernel: it is not" test "$(idle_by "$TMP/others-kallsyms")" = False
ok "... and that is said" grep -q "the file of --kallsyms is no copy of its /proc/kallsyms" "$TMP/warnings"
mkdir "$TMP/many"
cp -r perf.data "$TMP/many/20261201T000000Z.data"
cp -r perf.data "$TMP/many/20261201T000100Z.data"
ok "refused: a directory of profiles, as record --continuous has it" not kvm_report '' -i "$TMP/many"
ok "... and which is the last one" grep -q "give one of them, as the last one, $TMP/many/20261201T000100Z.data\$" \
	"$TMP/warnings"
# Two windows that are all of the time
seam=$(json "$TMP/json" '(measurement()["start_ns"] + measurement()["end_ns"]) // 2')
echo "0 $seam" >"$TMP/many/20261201T000000Z.data/data.window"
echo "$seam 0" >"$TMP/many/20261201T000100Z.data/data.window"
kvm_report '' -i "$TMP/many/20261201T000000Z.data" --format json >"$TMP/first.json"
kvm_report '' -i "$TMP/many/20261201T000100Z.data" --format json >"$TMP/second.json"
kvm_report '' -i perf.data --format json >"$TMP/both.json"
for name in host guest1; do
	time_ns="level(\"$name\")[\"time_ns\"]"
	ok "the parts of two profiles that are their own, $name: together all of the time" test \
		"$(($(json "$TMP/first.json" "$time_ns") + $(json "$TMP/second.json" "$time_ns")))" -eq \
		"$(json "$TMP/both.json" "$time_ns")"
done
ok "... of which the report tells" test "$(json "$TMP/second.json" 'measurement()["selection"]')" = \
	"--time ${seam%?????????}.${seam: -9},"
# diff_of_parts OPTION...: of the two
diff_of_parts()
{
	"$PERF" kvm unified diff -f -k "$TREE/host/vmlinux" "$@" "$TMP/many/20261201T000000Z.data" \
		"$TMP/many/20261201T000100Z.data" 2>"$TMP/warnings"
}
ok "... and diff, too, of each" test "$(diff_of_parts | sed -n 's/^# of that, //p' | paste -sd' ')" = \
	"--time ,${seam%?????????}.${seam: -9} --time ${seam%?????????}.${seam: -9},"
ok "... which does not tell it of --time" test "$(diff_of_parts --time +1,+2 | grep -c '^# of that, --time +1,+2$')" -eq 2
ok "--time goes before that" diff <(kvm_report '' -i perf.data --time +1,+2 --format csv) \
	<(kvm_report '' -i "$TMP/many/20261201T000000Z.data" --time +1,+2 --format csv)
echo "5 4" >"$TMP/many/20261201T000000Z.data/data.window"
kvm_report '' -i "$TMP/many/20261201T000000Z.data" --format json >"$TMP/wrong.json"
ok "a part that makes no sense: it is said" grep -q 'data.window makes no sense: what other profiles have, too' "$TMP/warnings"
ok "... and the report is of all" test "$(json "$TMP/wrong.json" 'level("host")["time_ns"]')" -eq \
	"$(json "$TMP/both.json" 'level("host")["time_ns"]')"
ok "-k of another kernel, with -q: it is said" grep -q 'the file of -k is not its vmlinux' \
	<(HOME=$TMP/home "$PERF" kvm unified report -q --summary -f -i perf.data -k "$PERF" 2>&1)
ok "without the host's kernel: its functions do not get names of the kernel that runs here" \
	not grep -E '^ .* \[kernel\]$' <(awk '/^Host/ { on = 1 } /^$/ { on = 0 } on && !/\[unknown\]/' "$TMP/elsewhere" |
		sed 's/ *$//')
done_testing
