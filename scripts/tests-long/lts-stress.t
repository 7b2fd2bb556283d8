#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# stress on the LTS kernel.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../common.sh"
on_lts
exec "$TOP/scripts/tests-long/stress.t"
