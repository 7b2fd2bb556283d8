#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What the evaluation finds of accuracy, on the LTS kernel, with the tool of mainline.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
on_lts

"$TOP/scripts/evaluation.sh" --quick native_and_guest two_processes >"$TMP/evaluation.out"
ok "scripts/evaluation.sh gets to its end" grep -q ' properties do not hold$' "$TMP/evaluation.out"
hand_on_properties "$TMP/evaluation.out"
ok "there are properties" grep -qE '^(holds|FAILS)' "$TMP/evaluation.out"
done_testing
