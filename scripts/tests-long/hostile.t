#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# zz-hostile of every day, with all kinds of maps, and with a profile to start from.

"$(dirname "$0")/../lab.sh" libquantum >&2 || exit
HOSTILE_KINDS=$("$(dirname "$0")/../tests/bad-map.py" list | cut -f1 | tr '\n' ' ')
export HOSTILE_KINDS
exec "$(dirname "$0")/../tests/zz-hostile.t"
