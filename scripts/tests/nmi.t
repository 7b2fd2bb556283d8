#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Samples taken in NMI context: 20,000 NMIs, or as many as NMI_COUNT says.

# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

lab_runs nmi
cd "$LAB_OUT/nmi" || { done_testing; }

hand_on nmi.tap nmi.err
grep -E '^# (sent|[0-9]+ samples|the vCPU)' nmi.tap
done_testing
