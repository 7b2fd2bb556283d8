# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: overhead, at one period, on the host only

# shellcheck source=scripts/lab/scenarios/overhead.sh
. "$(dirname "${BASH_SOURCE[0]}")/overhead.sh"
PERIODS=1000000
EXITS=
WAYS="plain unified"
