#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# clean.sh: remove what this checkout made; name what it shares with others.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

rm -rf "$TOP/build"
say "Removed build/. Kernel tree and builds are kept in $KVMU_CACHE ($(du -sh "$KVMU_CACHE" 2>/dev/null | cut -f1 || :)); remove it by hand if you want the space."
