#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh: from nothing to a report of a host and its guest.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

OUT=${LAB_OUT#"$TOP"/}/libquantum

say "perf kvm unified, demo. What is downloaded and built goes to $KVMU_CACHE."
# On a virtual clock, what it shows does not depend on how fast this machine is, or how busy.
LAB_CLOCK=${LAB_CLOCK:-virtual} "$TOP/scripts/lab.sh" libquantum
say ""
cat "$TOP/$OUT/demo-report-short.txt"
say "The guest's own accounting of its two processes in user mode, while it was recorded:"
"$TOP/scripts/lab/cpu-shares" "$TOP/$OUT/demo-recorded" user | sed 's/^/  /'
say "The same of the report, which has been made on the host alone:"
"$TOP/scripts/lab/report-shares" "$TOP/$OUT/demo-report.txt" guest1 shor | sed 's/^/  /'
say "All rows are in $OUT/demo-report.txt, the profile is $OUT/demo.data, for"
say "  $MAIN_TREE/perf/perf kvm unified report -f -k $TREE/host/vmlinux \\"
say "    --guest-root $MAIN_TREE/guest/root -i $OUT/demo.data"
say "with the files of the lab's host and guest, as they are not this machine's."
say "(The process 'agent' is how the lab talks to its guest, not part of the tool; [cr3 ...] is"
say "one that has begun and ended between two looks at the guest's memory.)"
