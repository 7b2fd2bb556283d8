#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Samples taken in NMI context on VMX: 5,000 NMIs, 1,000 of them in the guest.

# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

lab_runs vmx-nmi
cd "$LAB_OUT/vmx-nmi" || { done_testing; }

hand_on nmi.tap nmi.err
grep -E '^# (sent|[0-9]+ samples|the vCPU)' nmi.tap
# "5000 samples: 1450 in the guest (...), ..."
at_least 5000 "NMIs that were sampled" "$(sed -n 's/^# \([0-9]*\) samples: .*/\1/p' nmi.tap)"
at_least 1000 "of them in the guest" "$(sed -n 's/^# [0-9]* samples: \([0-9]*\) in the guest.*/\1/p' nmi.tap)"
done_testing
