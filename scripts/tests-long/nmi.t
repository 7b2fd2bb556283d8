#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The test of the same name of every day, with five times as many NMIs.

NMI_COUNT=${NMI_COUNT:-100000} exec "$(dirname "$0")/../tests/nmi.t"
