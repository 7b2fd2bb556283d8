#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# series of the LTS kernel: the backport.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../common.sh"
on_lts
exec "$TOP/scripts/tests-long/series.t"
