#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# VMs of any VMM are found, and none is taken for another: the scenario tiny-vmm, in
# which they have the same CR3s and addresses, and what each does is known.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PERF=$MAIN_TREE/perf/perf
CSV=$TMP/report.csv

lab_runs tiny-vmm
cd "$LAB_OUT/tiny-vmm" || { done_testing; }

# --- the VMs ---------------------------------------------------------------------

"$TESTS/vms-table.py" perf.data >"$TMP/vms"
cat "$TMP/vms" >&2

vm_is_known()
{
	[ "$(awk -v vm="$1" -v pid="$(cat "$1.pid")" '$1 == vm && $2 == pid' "$TMP/vms" | wc -l)" -eq "$2" ]
}
ok "VM one is known by name, pid and vCPU" vm_is_known one 1
ok "VM two is known by name, pid and vCPU" vm_is_known two 1
ok "VM three is known by name, pid and two vCPUs" vm_is_known three 2

# In KVM's debugfs: ./<pid>-<fd>/vcpu<id>/pid:<tid>
kernels_threads()
{
	sed -n 's|^\./\([0-9]*\)-[0-9]*/vcpu\([0-9]*\)/pid:\([0-9]*\)$|\1 \2 \3|p' vcpu-threads | sort
}
known_threads()
{
	awk '{ print $2, $3, $4 }' "$TMP/vms" | sort
}
ok "there are four vCPUs" test "$(kernels_threads | wc -l)" -eq 4
ok "their threads are those that KVM says" diff <(known_threads) <(kernels_threads)

# --- each sample, by the VMM's pid -------------------------------------------------

# VM, vCPU, CR3, ring, whether it is at an address of the kernel, and whose it is said
# to be: pid:comm, or [cr3 ...]; and how many of them.
"$PERF" script -f -i perf.data -F misc,machine_pid,vcpu,comm,pid,ip,vcpu_ctx 2>/dev/null |
	awk -v one="$(cat one.pid)" -v two="$(cat two.pid)" -v three="$(cat three.pid)" '
		BEGIN { vm[one] = "one"; vm[two] = "two"; vm[three] = "three" }
		sub(/^VM: */, "") && / guest cr3 / {
			sub(/\[cr3 /, "[cr3_")
			# pid, VCPU:id, comm, pid, misc, address, id, guest, cr3, its value, ...
			print vm[$1], substr($2, 6) + 0, $10, ($5 ~ /g/ ? "user" : "kernel"),
				($6 ~ /^ffffffff/ ? "high" : "low"), ($4 < 1073741824 ? $4 ":" $3 : $3)
		}' | sort | uniq -c | awk '{ print $2, $3, $4, $5, $6, $7, $1 }' >"$TMP/samples"
cat "$TMP/samples" >&2

# owner VM CR3: the samples with that CR3, of both rings, are of
owner()
{
	awk -v vm="$1" -v cr3="$2" '$1 == vm && $3 == cr3 { print $4, $6 }' "$TMP/samples" |
		sort -u | paste -sd,
}
owned_by()
{
	echo "$1 $2: $(owner "$1" "$2")"
	[ "$(owner "$1" "$2")" = "kernel $3,user $3" ]
}
ok "CR3 2000 of VM one is process left (10)" owned_by one 0x2000 10:left
ok "CR3 2000 of VM two is process right (20)" owned_by two 0x2000 20:right
ok "CR3 2000 of VM three has no name" owned_by three 0x2000 '[cr3_0x2000]'
ok "CR3 6000 of VM one is process other (11)" owned_by one 0x6000 11:other
ok "CR3 6000 of VM two, which only the map of VM one knows, has no name" \
	owned_by two 0x6000 '[cr3_0x6000]'
ok "CR3 a000 has no name in VM one" owned_by one 0xa000 '[cr3_0xa000]'
ok "CR3 a000 has no name in VM two" owned_by two 0xa000 '[cr3_0xa000]'
ok "and there is nothing else: not one sample under a wrong name" \
	test "$(awk '{ print $1, $3, $6 }' "$TMP/samples" | sort -u | wc -l)" -eq 7
ok "what is at the kernel's addresses is ring 0, and nothing else is" \
	test "$(awk '{ print $4, $5 }' "$TMP/samples" | sort -u | paste -sd,)" = 'kernel high,user low'
ok "both vCPUs of VM three have samples" \
	test "$(awk '$1 == "three" { print $2 }' "$TMP/samples" | sort -u | paste -sd,)" = 0,1

# --- the report --------------------------------------------------------------------

"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --format csv >"$CSV" 2>/dev/null
ok "perf kvm unified report reads it" test $? -eq 0

# rows VM CLASS COMM PID: the modules of what there is in that VM
rows()
{
	awk -F, -v key="vm,\"$1\",,$2,\"$3\",$4" \
		'$1 "," $2 "," $3 "," $4 "," $7 "," $8 == key { print $6 }' "$CSV" | sort -u | paste -sd,
}
ok "report: VM one has left (10) in its own module" test "$(rows one USER left 10)" = '"left"'
ok "report: VM two has right (20) in its own module" test "$(rows two USER right 20)" = '"right"'
ok "report: VM one has the CR3 without a name" test "$(rows one USER '[cr3 0xa000]' '')" = '"[unknown]"'
ok "report: VM one has nothing of VM two" not grep -q '"one",.*"right"' "$CSV"
ok "report: VM two has nothing of VM one" not grep -qE '"two",.*"(left|other)"' "$CSV"
ok "report: VM three has nothing of either" not grep -qE '"three",.*"(left|other|right)"' "$CSV"
for vm in one two; do
	ok "report: the kernel of VM $vm has names" grep -q "^vm,\"$vm\",,OS,\"guest_kernel_work\"" "$CSV"
done
ok "report: that of VM three, without a map, has none" not grep -q '"three",.*guest_kernel_work' "$CSV"
ok "report: a row for each vCPU of VM three" \
	test "$(awk -F, '$2 == "\"three\"" && $3 != "" { print $3 }' "$CSV" | sort -u | paste -sd,)" = 0,1

"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --stdio --vm one \
	>"$TMP/one" 2>"$TMP/one.err"
ok "--vm: a line of it in front" grep -q '^# guest one: ' "$TMP/one"
ok "... and of no other" not grep -qE '^# guest (two|three): ' "$TMP/one"
ok "... of no other's map" grep -qx '# 1 of 1 guest is mapped' "$TMP/one"
ok "... a word of its files" grep -q " of one's user time " "$TMP/one.err"
ok "... and of no other's" not grep -qE "two|three" "$TMP/one.err"

# --- what the guests did, which is known -------------------------------------------

# about WHAT PART OF TOLERANCE: PART is half, a third or so of what both are, in percent.
about()
{
	echo "$1: $2 of $3, which is to be $4 %"
	awk -v part="$2" -v all="$3" -v want="$4" \
		'BEGIN { p = all ? 100 * part / all : 0; print p; exit !(all && p > want - 3 && p < want + 3) }'
}

# samples VM [CR3 [RING]]: how many
samples()
{
	awk -v vm="$1" -v cr3="${2:-.}" -v ring="${3:-.}" \
		'$1 == vm && $3 ~ cr3 && $4 ~ ring { n += $7 } END { print n + 0 }' "$TMP/samples"
}
for vm in one two; do
	for cr3 in 2000 6000 a000; do
		ok "VM $vm: CR3 $cr3 has a third of its samples" \
			about "$cr3" "$(samples "$vm" "0x$cr3")" "$(samples "$vm")" 33.3
	done
	ok "VM $vm: a third is its kernel's" \
		about kernel "$(samples "$vm" . kernel)" "$(samples "$vm")" 33.3
done
ok "VM three: a quarter is its kernel's" \
	about kernel "$(samples three . kernel)" "$(samples three)" 25

time_of()
{
	awk -F, -v vm="\"$1\"" -v class="$2" '$1 == "vm" && $2 == vm && ($4 == class || class == "") { n += $9 }
		END { printf "%.0f", n }' "$CSV"
}
# From the timeline, and not from the samples.
mostly_idle()
{
	echo "$(time_of three IDLE) of $(time_of three '') ns"
	[ $(($(time_of three IDLE) * 2)) -gt "$(time_of three '')" ]
}
ok "VM three is halted most of the time" mostly_idle

# --- two VMs in one process ----------------------------------------------------------

PAIR=$TMP/pair.json
"$PERF" kvm unified report -f -i pair.data -k "$TREE/host/vmlinux" --format json >"$PAIR" 2>"$TMP/pair.err"
ok "two in one process: a report" test $? -eq 0
ok "each is known by its descriptor and its thread" \
	diff <("$TESTS/vms-table.py" pair.data | grep ^pair | sort) \
		<(awk -v pid="$(cat pair.pid)" '{ print "pair-" $1, pid, 0, $2 }' pair.after | sort)
ok "there are two" test "$(wc -l <pair.after)" -eq 2
# of_pair OPTION...
of_pair()
{
	"$PERF" kvm unified report -f -i pair.data -k "$TREE/host/vmlinux" "$@" >"$TMP/of-pair" 2>&1
}
no_such_vcpu()
{
	! of_pair --vm 'pair*' --vcpu 1 || return
	cat "$TMP/of-pair"
	grep -qx -e '--vcpu: no VM of --vm has a vCPU 1.' "$TMP/of-pair"
}
ok "--vcpu: one that another VM has" no_such_vcpu
# Of the table of costs: the VMs' and the host's lines have the sum and a share.
costs_of()
{
	of_pair --costs --summary "$@"
	sed -n '/^# CPU time of the host/,/^$/p' "$TMP/of-pair"
}
costs_add_up()
{
	costs_of --vm 'pair*' >"$TMP/costs"
	cat "$TMP/costs"
	[ "$(grep -c '^pair-' "$TMP/costs")" -eq 2 ] && grep -q '^(other VMs)' "$TMP/costs" &&
		awk '/^# CPU/ { all = $(NF - 1) } /^[^#]/ { sum += $(NF - 1) }
			END { d = sum - all; exit !(d < 0.01 && d > -0.01) }' "$TMP/costs"
}
ok "--costs --vm: these, the others together, and all of the time" costs_add_up
ok "no event of the time line is lost" \
	test "$("$TESTS/report-value.py" 'measurement()["timeline_lost"]' "$PAIR")" = 0
ok "nor are they those of several vCPUs" not grep -q 'several VMs' "$TMP/pair.err"
ok "all time of each vCPU is there once" "$TESTS/report-sums.py" "$PAIR"

# Of the time that both VMs had a CPU, the part of one, in percent: by the scheduler, and in the report
scheduled_part()
{
	awk -v fd="$1" '{ ns = (FILENAME ~ /before/ ? -1 : 1) * $3; all += ns }
		$1 == fd { s += ns }
		END { printf "%.3f", 100 * s / all }' pair.before pair.after
}
ran()
{
	"$TESTS/report-value.py" "100 - share('pair-$1', 'IDLE') - share('pair-$1', 'steal')" "$PAIR"
}
reported_part()
{
	local fd all=0

	while read -r fd _; do
		all="$all + $(ran "$fd")"
	done <pair.after
	awk "BEGIN { printf \"%.3f\", 100 * $(ran "$1") / ($all) }"
}
# The processes in user mode: by CR3
pair_processes()
{
	"$TESTS/report-value.py" \
		'",".join(sorted({x["comm"] for x in vm_rows("pair-'"$1"'") if x["class"] == "USER"}))' "$PAIR"
}
while read -r -u 3 fd cr3; do
	ok "pair-$fd: the process is that of CR3 $cr3, and no other's" \
		test "$(pair_processes "$fd")" = "[cr3 $cr3]"
	# The scheduler's are of the recorder's start and end, too.
	within 5 "pair-$fd: its part of the time with a CPU, and what the scheduler says, %" \
		"$(reported_part "$fd")" "$(scheduled_part "$fd")"
done 3< <(cut -d' ' -f1 pair.after | sort -n | paste -d' ' - <(printf '0x2000\n0x6000\n'))

# --- a vCPU that is plugged, and unplugged 1.5 s later ------------------------------------------------

"$PERF" kvm unified report -f -i grows.data -k "$TREE/host/vmlinux" --format json \
	>"$TMP/grows.json" 2>"$TMP/grows.err"
ok "a vCPU comes and goes: a report" test $? -eq 0
ok "... all time is there once" "$TESTS/report-sums.py" "$TMP/grows.json"
# grows VCPU ROWS: percent of its time
grows()
{
	"$TESTS/report-value.py" "rows('grows', '$2', $1)" "$TMP/grows.json"
}
# What the shell needs for its parts is of that time, too.
within 8 "... its time before and after it was there, and 2.5 of 4 s, %" "$(grows 1 '[absent]')" 62.5
at_most 1 "... and of the rest, what is lost, %" "$(grows 1 '[lost]')"
within 0.5 "... nothing else of it is not known, %" "$(grows 1 '[absent]')" \
	"$("$TESTS/report-value.py" 'share("grows", "unknown", 1)' "$TMP/grows.json")"
ok "... the other one is there all the time" test "$(grows 0 '[absent]')" = 0.000

# --- a time line ---------------------------------------------------------------------

"$PERF" kvm unified export -f -i perf.data -k "$TREE/host/vmlinux" --format trace >"$TMP/trace" 2>/dev/null
"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --format json >"$TMP/trace-json" 2>/dev/null
ok "a time line of several VMs has the time of the report, and flows" \
	"$TESTS/trace.py" "$TMP/trace" "$TMP/trace-json"
at_least 100 "flows from steal to who had the CPU" "$(grep -c '^{"ph":"f","bp":"e",' "$TMP/trace")"
done_testing
