#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# zz-fuzz of every day, with more mutants, and with a profile to start from.

"$(dirname "$0")/../lab.sh" libquantum >&2 || exit
exec "$(dirname "$0")/../tests/zz-fuzz.t"
