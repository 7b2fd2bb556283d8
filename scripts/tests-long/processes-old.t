#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# processes of every day in a 5.10 guest, whose kernel does not say the build-ids of what
# begins while it is followed.

SCENARIO=processes-old RELEASE=5.10 exec "$(dirname "$0")/processes.t"
