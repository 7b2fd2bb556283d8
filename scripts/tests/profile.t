#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The whole path, on a real guest: what the profile of the scenario libquantum
# says, held against what the guest says of itself; and what is refused.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

LAB=$LAB_OUT
PERF=$MAIN_TREE/perf/perf
ROOT=$MAIN_TREE/guest/root
REPORT=$TMP/report

lab_runs libquantum
cd "$LAB/libquantum" || { done_testing; }

# --- the report ----------------------------------------------------------------

"$PERF" kvm unified report --format table -f -i perf.data -k "$TREE/host/vmlinux" \
	--guest-root "$ROOT" --percent-limit 0 >"$REPORT" 2>"$TMP/warnings"
rc=$?
cat "$REPORT" "$TMP/warnings" >&2
ok "perf kvm unified report reads it on another machine" test "$rc" -eq 0
# perf's own symbols are at another path on the lab's host, the guest's are not.
ok "of the guest it says what the report on the lab's host says" \
	cmp <(sed -n '/^guest1 .*Total samples/,$p' report.txt) \
	<(sed -n '/^guest1 .*Total samples/,$p' "$REPORT")

# section NAME: a table's rows.
section()
{
	awk -v name="$1" '$1 == name && /Total samples:/ { on = 1; next }
		/^$/ { on = 0 } on && $1 ~ /^[0-9]+$/' "$REPORT"
}

total()
{
	awk -v name="$1" '$1 == name && /Total samples:/ { print $4 }' "$REPORT"
}

sum()
{
	awk '{ n += $1 } END { print n + 0 }'
}

toffoli_pids()
{
	section guest1 | awk '$3 ~ /^quantum_toffoli/ && $4 ~ /^libquantum/ { print $NF }' |
		sort -u | wc -l
}
ok "quantum_toffoli in libquantum, under two guest pids" test "$(toffoli_pids)" -eq 2

kernel_functions()
{
	section guest1 | awk '$NF == "[k]" && $3 != "[unknown]"' | wc -l
}
ok "at least 10 guest kernel functions by name" test "$(kernel_functions)" -ge 10

most_of_guest_kernel_is_named()
{
	section guest1 | awk '$NF == "[k]" { all += $1; if ($3 != "[unknown]") named += $1 }
		END { print named "/" all; exit !(named >= 0.95 * all) }'
}
ok "95 % of the guest kernel's samples have a name" most_of_guest_kernel_is_named

vm_row()
{
	section Host | grep -E '\[guest1\] +\(VM pid [0-9]+\)'
}
ok "the VM is a row of the host level" vm_row

# Whatever this kernel calls them: the functions of KVM's own object files.
kvm_functions()
{
	find "$TREE/host/arch/x86/kvm" "$TREE/host/virt/kvm" -name '*.o' \
		! -name 'kvm*.o' -exec nm {} + 2>/dev/null | awk '$2 ~ /^[tT]$/ { print $3 }' | sort -u
}
host_kvm_rows()
{
	section Host | awk '$4 == "[kernel]" { print $3 }' | sort -u |
		comm -12 - <(kvm_functions) | grep .
}
ok "KVM's functions are among the host's" host_kvm_rows
ok "nothing was lost" grep -q ' lost 0,' "$REPORT"

ok "the host's rows add up to its total" test "$(section Host | sum)" -eq "$(total Host)"
ok "the guest's rows add up to its total" test "$(section guest1 | sum)" -eq "$(total guest1)"

# Total samples of a vCPU = duration / period (1 ms).
total_is_duration()
{
	local ms

	ms=$(sed -n 's/^# perf kvm unified report: \([0-9]*\)\.\([0-9]*\) s .*/\1\2/p' "$REPORT")
	echo "$ms ms, $(total guest1) samples"
	[ $((ms - $(total guest1))) -le 1 ] && [ $(($(total guest1) - ms)) -le 1 ]
}
ok "the vCPU's total is duration / period" total_is_duration

# --- the guest tells its own truth ------------------------------------------------

named_percent()
{
	sed -n 's/^# guest guest1: .* user samples (\([0-9]*\)\.[0-9]* %)/\1/p' "$REPORT"
}
ok "99 % of guest user samples belong to a process by name" test "$(named_percent)" -ge 99

# G: of a guest, g: its user mode; those that interrupted it, and not exit handling
user_samples()
{
	"$PERF" script -f -i perf.data -F misc,vcpu_ctx 2>/dev/null |
		grep -cE '^ *[A-Z]*Gg .* guest .* exit (interrupt|nmi)'
}
ok "the header counts the user samples that there are" test \
	"$(sed -n 's/^# guest guest1: .* of \([0-9]*\) user samples .*/\1/p' "$REPORT")" -eq \
	"$(user_samples)"

RECORDED=recorded
# Percent of process $2's CPU time ($1: user, cpu) in that of both.
cpu_share()
{
	"$TOP/scripts/lab/cpu-shares" "$RECORDED" "$1" | awk -v pid="$2" '$1 == pid { print $2 }'
}

# The rows of the report, which are of user mode.
user_sample_share()
{
	"$TOP/scripts/lab/report-shares" "$REPORT" guest1 shor | awk -v pid="$1" '$1 == pid { print $2 }'
}

# All samples with the CR3 of the process, which are of kernel mode, too.
sample_share()
{
	"$PERF" script -f -i perf.data -F comm,pid,vcpu_ctx 2>/dev/null |
		awk -v pid="$1" '$1 == "shor" && / guest cr3 .* exit interrupt/ { all++; if ($2 == pid) own++ }
		END { printf "%.2f", 100 * own / all }'
}

# user_shares PROFILE PID: percent of both processes' user time that it can have had by its samples, least
# and most, and what its samples in user mode are of both's. To the guest, an interrupt is the user time of
# whom it interrupts; to samples it is not, and on a virtual clock a process may meet many more than the
# other.
user_shares()
{
	"$PERF" script -f -i "$1" -F misc,comm,pid,vcpu_ctx 2>/dev/null | awk -v pid="$2" '
		$1 != "shor" || !/ guest cr3 .* exit interrupt/ { next }
		{ user = $3 ~ /g$/ }
		$2 == pid { user ? own++ : own_kernel++; next }
		{ user ? other++ : other_kernel++ }
		END {
			printf "%.2f %.2f %.2f\n", 100 * own / (own + other + other_kernel),
				100 * (own + own_kernel) / (own + own_kernel + other), 100 * own / (own + other)
		}'
}

# can_be POINTS PROFILE PID SHARE: the guest's figure is one that its samples can be of.
can_be()
{
	local least most user

	read -r least most user < <(user_shares "$2" "$3")
	echo "process $3, user mode: $4 % of the CPU time; by samples $user %, $least to $most"
	[[ $4 =~ ^[0-9.]+$ ]] && awk -v points="$1" -v least="$least" -v most="$most" -v share="$4" \
		'BEGIN { exit !(most > 0 && share >= least - points && share <= most + points) }'
}

# is_of PROFILE PID SHARE: the report's figure is that of the samples.
is_of()
{
	local user

	read -r _ _ user < <(user_shares "$1" "$2")
	agree 1 "process $2, user mode, of the report" "$user" "$3"
}

# agree POINTS WHAT A B: within so many percentage points.
agree()
{
	echo "$2: $3 % of the CPU time, $4 % of the samples"
	# No samples at all make no number.
	[[ $3 =~ ^[0-9.]+$ && $4 =~ ^[0-9.]+$ ]] &&
		awk -v most="$1" -v a="$3" -v b="$4" 'BEGIN { d = a - b; exit !(d <= most && d >= -most) }'
}

# Of user and kernel together; and of user mode, what is not explained by interrupts
POINTS=4
USER_POINTS=2

pids=$(sed -n 's/^cpu pid=\([0-9]*\) .*/\1/p' guest1-cpu.after)
ok "two workload processes" test "$(wc -w <<<"$pids")" -eq 2
for pid in $pids; do
	both=("process $pid, user and kernel" "$(cpu_share cpu "$pid")" "$(sample_share "$pid")")
	agree "$POINTS" "${both[@]}" >&2
	ok "process $pid, user mode: the guest's own share is one that its samples can be of" \
		can_be "$USER_POINTS" perf.data "$pid" "$(cpu_share user "$pid")"
	ok "process $pid, user mode: the report's share is that of its samples" \
		is_of perf.data "$pid" "$(user_sample_share "$pid")"
	ok "${both[0]}: share of samples within $POINTS points of the guest's own" \
		agree "$POINTS" "${both[@]}"
	# Shares that are equal would agree even if the processes were mixed up.
	ok "process $pid: not just half" test "$(sample_share "$pid" | cut -d. -f1)" -ne 50
done

# --- by default: out of the guest's memory, which nothing runs in for it -------------

REPORT=$TMP/demo-report
"$PERF" kvm unified report --format table -f -i demo.data -k "$TREE/host/vmlinux" \
	--guest-root "$ROOT" --percent-limit 0 >"$REPORT" 2>"$TMP/warnings"
ok "by default: there is a report" test $? -eq 0
cat demo.err "$REPORT" "$TMP/warnings" >&2
ok "by default: the guest's memory was read" grep -q ': guest1, out of its memory: [0-9]* kernel symbols, ' demo.err
ok "by default: quantum_toffoli in libquantum, under two guest pids" test "$(toffoli_pids)" -eq 2
ok "by default: at least 10 guest kernel functions by name" test "$(kernel_functions)" -ge 10
at_least 99 "by default: percent of user samples that belong to a process by name" "$(named_percent)"
RECORDED=demo-recorded
for pid in $pids; do
	ok "by default: process $pid, user mode: the guest's own share is one that its samples can be of" \
		can_be "$USER_POINTS" demo.data "$pid" "$(cpu_share user "$pid")"
	ok "by default: process $pid, user mode: the report's share is that of its samples" \
		is_of demo.data "$pid" "$(user_sample_share "$pid")"
done
REPORT=$TMP/report RECORDED=recorded

# --- the rest of perf ---------------------------------------------------------------

# They have no --guest-root: the guest's files come from a build-id cache.
"$PERF" --buildid-dir "$TMP/debug" buildid-cache --add "$(find "$ROOT" -name 'libquantum.so.8')"
"$PERF" --buildid-dir "$TMP/debug" script -f -i perf.data -F comm,pid,ip,sym,dso,vcpu_ctx >"$TMP/script" 2>&1
ok "perf script reads it" test $? -eq 0
for pid in $pids; do
	ok "perf script: process $pid in quantum_toffoli" \
		grep -qE "^ *shor +$pid .* quantum_toffoli.*libquantum.*cr3 0x.* exit interrupt" "$TMP/script"
done
"$PERF" report -f --stdio -i perf.data >"$TMP/perf-report" 2>&1
ok "perf report reads it" test $? -eq 0
ok "perf report: the guest's process" grep -qE '^ +[0-9.]+% +shor ' "$TMP/perf-report"
ok "perf evlist -v shows the bit" grep -q 'sample_type: .*|VCPU' <("$PERF" evlist -v -i perf.data)
ok "perf script -D shows the context" \
	grep -qE '^ \.\. vcpu: 0 guest cr3 0x[0-9a-f]+ asid [0-9]+ exit ' \
	<("$PERF" script -f -D -i perf.data 2>/dev/null)
timeline()
{
	"$PERF" script -f -i perf.data -F event,trace | grep -E "kvm:kvm_vcpu_timeline: +vcpu 0 $1"
}
ok "timeline: preempted for a while, with the task that took the CPU" \
	timeline 'preempted ns [1-9][0-9]+ wait [1-9][0-9]+ why 0 cpu [01] next_pid [1-9][0-9]* .* isa 2'
# The numbers of a vCPU's events, one after the other
# shellcheck disable=SC2016 # awk's $
ok "timeline: and none is missing" awk '
	{ seq = $NF; if (NR > 1 && seq != last + 1) exit bad = 1; last = seq }
	END { exit bad || NR < 2 }' \
	<("$PERF" script -f -i perf.data -F event,trace 2>/dev/null |
		sed -n 's/.*kvm:kvm_vcpu_timeline: *vcpu 0 .*\( seq [0-9]*\)/\1/p')

# The first VM's record starts behind the file header and a record of 16 bytes each, its
# first vCPU is at 80 in it: id and thread, see perf-kvm-unified/format/records.h.
vcpu_thread()
{
	od -An -tu4 -j 116 -N 4 perf.data/vms | tr -d ' '
}
timeline_thread()
{
	"$PERF" script -f -i perf.data -F tid,event | awk '/kvm_vcpu_timeline/ { print $1; exit }'
}
ok "the table of VMs has the guest's name" grep -qa guest1 perf.data/vms
ok "and the vCPU's thread" test "$(vcpu_thread)" -eq "$(timeline_thread)"
ok "the guest map is perf.data that perf script reads" \
	grep -q 'PERF_RECORD_MMAP2 .*libquantum' \
	<("$PERF" script -i perf.data/guest_map__* --show-mmap-events 2>/dev/null)

# --- what is refused --------------------------------------------------------------

lab_runs refusals
cd "$LAB/refusals" || { done_testing; }

went_on()
{
	cat "$1.out"
	grep -q -- "$2" "$1.out" && grep -qx 'exit code 0' "$1.out"
}

ok "refused: a kernel without the patches" refused unpatched 'This kernel has no PERF_SAMPLE_VCPU'
ok "... and that a BPF program cannot do it" refused unpatched 'Nor can a BPF program: kvm_amd is not loaded'
ok "refused: perf record --sample-vcpu on it" refused unpatched-record "This kernel has no PERF_SAMPLE_VCPU"
ok "refused: no root" refused no-root 'No permission to profile the whole host'
ok "refused: no /dev/kvm" refused no-kvm 'No /dev/kvm'
ok "refused: a guest that is not there" refused no-such-guest "no VM that runs is called 'guest9'. There is: guest2"
ok "refused: --guest-cmd without a command" refused bad-guest-cmd "wants NAME='COMMAND'"
ok "refused: --guest-cmd with standard output" refused map-to-stdout 'want a directory for the maps'
ok "refused: --guest-follow, too" refused follow-to-stdout 'want a directory for the maps'
ok "no VM: a warning" went_on no-vm 'No VM is running: this will be a profile of the host alone'
ok "no VM: a host level" went_on no-vm-report 'Host  .*Total samples'
ok "no VM: where its CPUs were" went_on no-vm-report '^# host: [0-9]* CPUs: for VMs 0.00 %'
ok "an event that is not of time is said to be none" went_on faults-report '^page-faults does not count time or all cycles'
ok "a guest command that fails costs the names only" went_on map-fails "'exit 3' failed with 3"
ok "... and not a word with -q" test "$(cat quiet.out)" = "exit code 0"
ok "an error is said with -q, too" refused quiet-error 'Cannot write .*/vms: '
ok "standard error is closed: a profile" grep -qx 'exit code 0' no-stderr.out
ok "... with nothing of a message in it" not grep -rqa 'Captured and wrote' no-stderr.data
ok "the directory is another one in the end: an error" refused moved '/run/moved.data is not the directory any more .*: that is /run/away.data'
ok "... with nothing in it" not grep . moved.ls
ok "and there is a report, by CR3" went_on map-fails-report '\[cr3 0x'
ok "... which says why there is no map" went_on map-fails-report "^# no map of guest2: 'exit 3' failed with 3\$"
ok "a truncated map costs the names only" went_on map-truncated 'a map that is truncated'
ok "a guest that does not answer costs the names only" went_on map-hangs 'No map of guest guest2: no answer in 1 s'
ok "refused: a guest with two commands" refused follow-twice "guest 'guest2' has two commands"
ok "refused: --guest-follow without a command" refused bad-follow "guest-follow wants NAME='COMMAND'"
ok "following: a command that fails costs the names only" went_on follow-fails "'exit 3' failed with 3"
ok "following: one that says nothing, too" went_on follow-silent "'true' has ended and said nothing"
ok "following: one that does not begin, too" went_on follow-hangs 'No map of guest guest2: no answer in 1 s'
ok "following: one that ends with half a map, too" went_on follow-ends 'a map that is truncated'
ok "following: one that ends early is asked again" went_on follow-again 'Not followed to the end: guest guest2: .*failed with 1'
ok "... for a map of the end" grep -q '^guest_map__' follow-again.out
ok "following: one that does not end, too" went_on follow-stays 'no answer in 2 s'
ok "following: nothing of them is left running" test -e left-behind.out -a ! -s left-behind.out
ok "following: nor any file" not grep -v 'No such file' left-files.out
ok "a VM that dies during the record costs its names only" went_on vm-dies 'No map of guest guest2: not running any more'

# has ROW GUEST FROM UNTIL FILE: its vCPU has rows that begin so for that much of the time, %.
has()
{
	"$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --format json -i "$5" \
		>"$TMP/has.json" 2>/dev/null &&
		"$TESTS/report-sums.py" "$TMP/has.json" &&
		"$TESTS/report-value.py" "rows('$2', '$1')" "$TMP/has.json" |
			tee /dev/stderr | awk -v from="$3" -v until="$4" '{ exit !($1 >= from && $1 <= until) }'
}
ok "one that is stopped is that until it dies" has "[stopped]" guest2 25 60 vm-dies.data
ok "... and absent from then on" has "[absent]" guest2 25 60 vm-dies.data
ok "a VM that starts during the record is found" grep -qa guest3 vm-starts.data/vms
# How long that was depends on the machine.
ok "and was absent before" has "[absent]" guest3 0.1 99.9 vm-starts.data
ok "the one beside it was there" has "[absent]" guest2 0 0 vm-starts.data
# streamed FILE: a report of it as JSON, to $TMP/json
streamed()
{
	# shellcheck disable=SC2002 # a pipe, as perf record has one in front of it
	cat "$1" | "$PERF" kvm unified report -k "$TREE/host/vmlinux" --format json \
		>"$TMP/json" 2>"$TMP/warnings"
}
json()
{
	"$TESTS/report-value.py" "$1" "$TMP/json"
}
# has_guest: a report in which all time is there once, and guest2 has most of its vCPU
has_guest()
{
	"$TESTS/report-sums.py" "$TMP/json" && json 'guest("guest2")' &&
		json '1 / (measurement()["mode"] == "timeline")' && json '1 / guest("guest2")["vcpus"]' &&
		json '1 / (share("guest2", "USER") + share("guest2", "OS") > 20)'
}
ok "a stream: the command's exit code is handed on" refused to-stdout 'of the command'
ok "a stream: a report" streamed to-stdout.stream
ok "a stream: nothing is missing" not grep 'stream' "$TMP/warnings"
ok "a stream: all time is there once, and the guest" has_guest
cp piped.json "$TMP/json"
ok "record and report in one: an exit code of 0" grep -qx 'exit code 0' piped.out
ok "record and report in one: all time is there once, and the guest" has_guest
cp interrupted-pipe.json "$TMP/json"
ok "Ctrl-C ends the recording, and there is a report" grep -qx 'exit code 0' interrupted-pipe.out
ok "... in which all time is there once, and the guest" has_guest
ok "... of all of it" not grep 'The stream ends before' interrupted-pipe.out
ok "who reads ends: so does the recording" grep -qx 'exit codes 141 0' cut-pipe.out
ok "a stream has a VM that starts meanwhile" streamed vm-starts-too.stream
ok "... which was absent before" json '1 / (0.1 < rows("guest3", "[absent]") < 99.9)'
ok "... beside one that was there" json '1 / (rows("guest2", "[absent]") == 0)'
ok "... and all time is there once" "$TESTS/report-sums.py" "$TMP/json"
# has_guest2 NAME: a report in which all time is there once, and guest2 is not absent
has_guest2()
{
	"$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --format json -i "$1.data" \
		>"$TMP/json" 2>"$TMP/warnings" &&
		"$TESTS/report-sums.py" "$TMP/json" && json '1 / (measurement()["mode"] == "timeline")' &&
		json '1 / (rows("guest2", "[absent]") == 0)'
}
was_killed='The recorder was killed, or had no room left on its disk'
ok "killed: that is what it ended by" grep -qx 'exit code 137' killed-hard.out
ok "killed: what there is, with the guest" has_guest2 killed-hard
ok "killed: it is said" grep -q "$was_killed" "$TMP/warnings"
at_least 1000 "killed: samples" "$(json 'measurement()["samples"]')"
ok "hung up: ends by SIGTERM" grep -qx 'exit code 143' hung-up.out
ok "hung up: all of it, with the guest" has_guest2 hung-up
ok "hung up: nothing is missing" not grep "$was_killed" "$TMP/warnings"
ok "hung up: the map, too" grep -qa libc hung-up.data/guest_map__*
ok "messages that nobody reads: a profile all the same" grep -qx 0 unread.code
ok "a full disk: an error" refused full-disk 'No space left on device'
ok "a full disk: what there is, with the guest" has_guest2 full-disk
ok "a full disk: it is said" grep -q "$was_killed" "$TMP/warnings"
at_least 1000 "a full disk: samples" "$(json 'measurement()["samples"]')"
ok "refused: a guest that cannot be looked for" refused closed-guest "no VM that is seen is called 'guest2'"
ok "... and what it takes" grep -q 'processes may not be looked at' closed-guest.out
ok "processes that may not be looked at: a warning" went_on closed 'It takes root, or both of CAP_SYS_PTRACE and'
ok "... nor the tracefs" went_on closed 'The tracefs may not be read'
ok "with the capabilities, the VM is found" went_on open 'Captured and wrote'
ok "... and the time line" not grep -E 'may not be (looked|read)|tracepoint here' open.out
ok "refused: a guest among hidden processes" refused hidepid '/proc is mounted with hidepid'
ok "refused: another pid namespace" refused pid-namespace 'a container with pids of its own'
ok "no tracefs: a warning" went_on no-tracefs 'No tracefs is mounted here'
ok "no debugfs: a profile" went_on no-debugfs 'Captured and wrote'
ok "no debugfs: with the guest" has_guest2 no-debugfs

# samples NAME: of its event, how many perf report counts
samples()
{
	"$PERF" script -f -i "$1.data" -F event 2>/dev/null | grep -c "^ *$2"
}
ok "a mediated vPMU: cycles is refused, which is said" \
	went_on mediated-refuses 'No cycles event of guests here, as one has a mediated vPMU'
at_least 100 "a mediated vPMU: samples of cpu-clock in its place" "$(samples mediated-refuses cpu-clock)"
ok "a mediated vPMU: cpu-clock is not refused" went_on mediated-cpu-clock 'Captured and wrote'
ok "... and there is nothing to say" not grep -q 'mediated vPMU\|enable_mediated' mediated-cpu-clock.out
ok "a mediated vPMU: why there are no cycles that were asked for is said" \
	went_on mediated-asked 'cycles: The PMU does not count guests: does one of them have a mediated vPMU'
ok "none yet: that none can start is said" \
	went_on mediated-takes 'enable_mediated_pmu is on: no VM with a vPMU can start'
at_least 100 "none yet: samples of cycles" "$(samples mediated-takes cycles)"
ok "the parameter is off: not a word of it" not grep -q 'mediated vPMU\|enable_mediated' mediated-off.out
ok "the command's exit code is handed on" grep -qx 'exit code 7' exit-code.out
for name in no-such-event no-such-event-again interrupted; do
	ok "$name: an error" not grep -qx 'exit code 0' "$name.out"
done
ok "interrupted: it is said" grep -q 'Interrupted before the measurement' interrupted.out
ok "the profiles from before are where they were" diff -u - kept.out < <(printf '%s\n' /run/kept.data{,.old})
ok "ended early: it is a profile, and takes the place of the last" \
	diff -u - killed.ls < <(printf '%s\n' /run/killed.data{,.old})
ok "killed before it began: nothing of it is kept" diff -u - left.ls <<<"/run/left.data"
ok "of the one before the last, what is not a profile's stays" \
	grep -q '^/run/killed.data.old.[0-9]*/notes$' more.ls
ok "... and it is said where" grep -q 'What was /run/killed.data.old is .* more in it than a profile' \
	more.out

# --- the sample type ---------------------------------------------------------------

# From the raw dump: without a table of VMs, perf script leaves out guest samples.
contexts()
{
	"$PERF" script -f -D -i "$1" 2>/dev/null | sed -n 's/^ \.\. vcpu: //p'
}
ok "context: CR3 of the guest" test "$(contexts context.data | grep -c 'guest cr3 0x')" -ge 100
ok "context: none on a CPU without a vCPU" test "$(contexts context.data | grep -c '^none')" -ge 10
ok "exclude_guest: the vCPU in the host" grep -q '^0 host asid' <(contexts host-only.data)
ok "exclude_guest: nothing of the guest" not grep -q 'guest\|cr3' <(contexts host-only.data)

# Each fault makes a sample of both events, and those of one are all the same size.
samples_of_one_size()
{
	local sizes

	sizes=$("$PERF" script -f -D -i two-events.data 2>/dev/null |
		sed -n 's/.* \[\(0x[0-9a-f]*\)\]: PERF_RECORD_SAMPLE.*/\1/p')
	sort <<<"$sizes" | uniq -c
	[ "$(sort <<<"$sizes" | uniq -c | sort -n | awk 'END { print 2 * $1 }')" -ge "$(wc -l <<<"$sizes")" ]
}
ok "two software events do not share what one needs" samples_of_one_size

# report_refused MESSAGE OPTION...: on this machine.
perf_kvm_refused()
{
	local message=$1
	shift

	! "$PERF" kvm "$@" unified report -f -i ../libquantum/perf.data >"$TMP/out" 2>&1 &&
		grep -q -- "$message" "$TMP/out"
}
report_refused()
{
	local message=$1 rc=0
	shift

	"$PERF" kvm unified report -f "$@" >"$TMP/out" 2>&1 || rc=$?
	cat "$TMP/out"
	grep -q -- "$message" "$TMP/out" && [ "$rc" -eq 1 ]
}

other_map=$(echo perf.data/guest_map__*)
map=$(echo ../libquantum/perf.data/guest_map__*)
# Of some 500 places that a kernel may be at, 2 MiB apart, this one's may be next to the other's.
said_to_be_another_guests()
{
	"$PERF" kvm unified report -f -i ../libquantum/perf.data --no-guest-maps \
		--guest-map "guest1=$other_map" >"$TMP/out" 2>&1 || :
	cat "$TMP/out"
	grep -q 'map .*is of another guest' "$TMP/out"
}
ok "the map of another guest: it is said" said_to_be_another_guests
"$TESTS/other-boot.py" "$map" 64 1 "$TMP/other.map"
ok "refused: the map of another boot, 64 MiB away" report_refused \
	'is of another guest, or of another boot' \
	-i ../libquantum/perf.data --no-guest-maps --guest-map "guest1=$TMP/other.map"
# Kernels that are so near lie over each other: where all samples are in both, as when the guest spins
# in one function, only the processes tell.
refused_or_in_doubt()
{
	report_refused 'is of another guest, or of another boot' "$@" ||
		grep -q 'no process of its map was seen running' "$TMP/out"
}
for mib in 10 -10; do
	"$TESTS/other-boot.py" "$map" $mib 0 "$TMP/other.map"
	ok "refused, or in doubt: the map of another boot, $mib MiB away" refused_or_in_doubt \
		-i ../libquantum/perf.data --no-guest-maps --guest-map "guest1=$TMP/other.map"
done
ok "the right map by hand gives the names" grep -q 'quantum_toffoli.* shor (' \
	<("$PERF" kvm unified report --format table -f -i ../libquantum/perf.data --no-guest-maps \
		--guest-map "guest1=$map" --guest-root "$ROOT" 2>&1)
head -c 1000000 "$map" >"$TMP/truncated.map"
ok "refused: a truncated map" report_refused 'truncated.map is truncated' \
	-i ../libquantum/perf.data --no-guest-maps --guest-map "guest1=$TMP/truncated.map"
ok "refused: a map for a guest that is not in the profile" report_refused "no guest 'guest7'" \
	-i ../libquantum/perf.data --guest-map "guest7=$map"
ok "refused: two maps for a guest" report_refused 'was given two maps' \
	-i ../libquantum/perf.data --guest-map "guest1=$map" --guest-map "guest1=$map"
ok "refused: --guestmount that is not there" perf_kvm_refused "guestmount /nowhere: No such file" \
	--guestmount /nowhere
ok "refused: --guestkallsyms that is not there" perf_kvm_refused "guestkallsyms /nowhere: No such file" \
	--guestkallsyms /nowhere
ok "refused: a map that is not there" report_refused 'cannot be opened: No such file' \
	-i ../libquantum/perf.data --no-guest-maps --guest-map "guest1=$TMP/nowhere"

cp -r ../libquantum/perf.data "$TMP/cut.data"
# In the middle of the samples: what comes after them, the features, is gone too.
truncate -s "$(($(stat -c %s "$TMP/cut.data/data") / 2))" "$TMP/cut.data/data"
ok "refused: a truncated perf.data" report_refused '' -i "$TMP/cut.data"
ok "and it is said" report_refused 'truncated\|damaged\|failed to process\|Cannot read' -i "$TMP/cut.data"
truncate -s 100 "$TMP/cut.data/data"
ok "refused: next to nothing of a perf.data" report_refused 'Cannot read' -i "$TMP/cut.data"
ok "refused: no perf.data" report_refused 'Cannot read\|failed to open' -i "$TMP/nowhere.data"

# --- without the new bit, all is as it was -----------------------------------------

ok "perf builds without the series" env PERF_VARIANT=orig "$TOP/scripts/build-perf.sh"
ORIG=$MAIN_TREE/perf-orig/perf

same_output()
{
	"$ORIG" "$@" >"$TMP/orig.out" 2>"$TMP/orig.err"
	"$PERF" "$@" >"$TMP/new.out" 2>"$TMP/new.err.all"
	wc -c "$TMP/orig.out"
	# That it leaves out samples of guests it says now, in a warning of three lines.
	sed '/^Warning:$/ { N; /samples of guests were left out/ { N; N; d } }' \
		"$TMP/new.err.all" >"$TMP/new.err"
	diff "$TMP/orig.err" "$TMP/new.err"
	# Times of the reading itself, and nothing else, may differ.
	[ -s "$TMP/orig.out" ] && cmp "$TMP/orig.out" "$TMP/new.out" && cmp "$TMP/orig.err" "$TMP/new.err"
}
# The base's perf would name the lab's kernel by the /proc/kallsyms of this machine.
KERNEL=(-k "$TREE/host/vmlinux")
ok "without the bit: perf script as before" same_output script -f "${KERNEL[@]}" -i plain.data
ok "without the bit: perf script -D as before" same_output script -f "${KERNEL[@]}" -D -i plain.data
REPORT=(report -f "${KERNEL[@]}" --stdio -i plain.data)
ok "without the bit: perf report as before" same_output "${REPORT[@]}" --no-children
# The base's perf has [.] in front of callers in the kernel, too.
same_but_for_levels()
{
	"$ORIG" "${REPORT[@]}" 2>/dev/null | sed 's/\[[.k]\]/[]/' >"$TMP/levels"
	[ -s "$TMP/levels" ] && cmp "$TMP/levels" <("$PERF" "${REPORT[@]}" 2>/dev/null | sed 's/\[[.k]\]/[]/')
}
ok "without the bit: callers, too" same_but_for_levels
ok "without the bit: perf evlist -v as before" same_output evlist -v -f -i plain.data
# --- a profile of the kernels that had PERF_SAMPLE_VCPU first ------------------------

# Of a virtual clock, so that there are as many samples on any machine
new=$LAB_OUT/libquantum/perf.data
cp -r "$new" "$TMP/old.data"
at_least 500 "samples of a vCPU made as the first kernels had them" \
	"$("$TESTS/old-profile.py" "$TMP/old.data/data")"
for profile in "$new" "$TMP/old.data"; do
	"$PERF" script -f -i "$profile" -F misc,pid,ip,vcpu_ctx 2>/dev/null
	"$PERF" kvm unified report --format table -f -i "$profile" -k "$TREE/host/vmlinux" --no-timeline 2>/dev/null |
		grep -v '^#'
done >"$TMP/both"
ok "perf script and the report show the same of it" \
	cmp <(head -n "$(($(wc -l <"$TMP/both") / 2))" "$TMP/both") \
	<(tail -n "$(($(wc -l <"$TMP/both") / 2))" "$TMP/both")
done_testing
