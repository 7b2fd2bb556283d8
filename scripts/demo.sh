#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh: from nothing to a report of a host and its guest. KERNEL_MODE=bpf: the host has Debian's
# kernel, as it comes, and none is built.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

KERNEL_MODE=${KERNEL_MODE:-series}
case $KERNEL_MODE in
series)	SCENARIO=libquantum PROFILE=demo REPORT=demo-report RECORDED=demo-recorded ;;
bpf)	SCENARIO=stock-demo PROFILE=perf REPORT=report RECORDED=recorded ;;
*)	die "KERNEL_MODE is series or bpf, not '$KERNEL_MODE'" ;;
esac
OUT=${LAB_OUT#"$TOP"/}/$SCENARIO

say "perf kvm unified, demo. What is downloaded and built goes to $KVMU_CACHE."
# On a virtual clock, what it shows does not depend on how fast this machine is, or how busy.
LAB_CLOCK=${LAB_CLOCK:-virtual} "$TOP/scripts/lab.sh" "$SCENARIO"
say ""
cat "$TOP/$OUT/$REPORT-short.txt"
say "The guest's own accounting of its two processes in user mode, while it was recorded:"
"$TOP/scripts/lab/cpu-shares" "$TOP/$OUT/$RECORDED" user | sed 's/^/  /'
say "The same of the report, which has been made on the host alone:"
"$TOP/scripts/lab/report-shares" "$TOP/$OUT/$REPORT.txt" guest1 shor | sed 's/^/  /'
say "All rows are in $OUT/$REPORT.txt, the profile is $OUT/$PROFILE.data, for"
symbols=
[ "$KERNEL_MODE" = bpf ] || symbols=" -k $TREE/host/vmlinux"
say "  $MAIN_TREE/perf/perf kvm unified report -f$symbols \\"
say "    --guest-root $MAIN_TREE/guest/root -i $OUT/$PROFILE.data"
say "with the files of the lab's host and guest, as they are not this machine's."
if [ "$KERNEL_MODE" = series ] && command -v npm >/dev/null; then
	if "$TOP/scripts/page.sh" -f -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" \
		-i "$TOP/$OUT/$PROFILE.data" -o "$TOP/$OUT/report.html"; then
		say "For a browser, there is $OUT/report.html."
	fi
fi
say "(The process 'agent' is how the lab talks to its guest, not part of the tool; [cr3 ...] is"
say "one that has begun and ended between two looks at the guest's memory.)"
