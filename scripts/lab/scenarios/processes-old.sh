# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: processes, in a guest with the oldest kernel that the collector is for

# shellcheck source=scripts/lab/scenarios/processes.sh
. "$(dirname "${BASH_SOURCE[0]}")/processes.sh"
guest1_KERNEL=5.10
# See guests.sh.
guest1_CMDLINE="cryptomgr.notests noxsave"
