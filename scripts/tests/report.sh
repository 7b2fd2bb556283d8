# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by report*.t, after tap.sh: reports of the profile that profile.t has recorded. The tests go
# on in the directory that has it; $TMP/json is its report in JSON.

# shellcheck disable=SC2034 # the tests use these
PERF=$MAIN_TREE/perf/perf
guest_files=$MAIN_TREE/guest/root
# A profile that refusals.t has recorded, with call chains
chains=$LAB_OUT/refusals/chains.data
# Levels of a report, for json
VM='level("guest1")'
HOST='level("host")'

# kvm_report KVM-OPTION OPTION...: with an option of perf kvm, or with "", without
kvm_report()
{
	"$PERF" kvm ${1:+"$1"} unified report -f -i perf.data -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" "${@:2}" 2>"$TMP/warnings"
}

# report OPTION...: as JSON, CSV or table
report()
{
	case " $* " in
	*' --format '*) kvm_report "" "$@" ;;
	*)		kvm_report "" --format table "$@" ;;
	esac
}

# json FILE EXPRESSION
json()
{
	"$TESTS/report-value.py" "$2" "$1"
}

# exit_code CODE OPTION...
exit_code()
{
	report "${@:2}"
	[ $? -eq "$1" ]
}

# nothing_there OPTION VALUE REGEX: refused, with what there is or is wanted.
nothing_there()
{
	! report "$1" "$2" || return 1
	cat "$TMP/warnings"
	grep -qE -e "$3" "$TMP/warnings"
}

# make_events_data: $TMP/events.data, a profile in which samples of the clock are those of cycles and
# instructions: the lab has no counters.
make_events_data()
{
	"$TESTS/add-events.py" perf.data "$TMP/events.data"
}

cd "$LAB_OUT/libquantum" || exit 1
report --format json >"$TMP/json"
report_code=$?
