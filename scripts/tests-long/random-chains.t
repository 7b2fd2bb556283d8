#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Callchains of a guest, as the KVM selftest of every day has them, of 100,000 states with random
# registers, or as many as CHAIN_STATES says.

# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

lab_runs random-chains
cd "$LAB_OUT/random-chains" || { done_testing; }

hand_on chains.tap chains.err
grep '^# [0-9]* samples' chains.tap | tail -n 1
done_testing
