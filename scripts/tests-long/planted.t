#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The sanitized kernel reports faults, and the lab fails with them: scripts/lab/planted.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

log=$LAB_OUT/planted/lab.log
dir=$TOP/build/planted

rm -rf "$dir"
mkdir -p "$dir"
cp "$TOP"/scripts/lab/planted/* "$dir"
KERNEL_VARIANT=sanitized "$TOP/scripts/build-kernel.sh" >&2
ok "the module builds" make -C "$TREE/host-sanitized" M="$dir" modules

ok "a scenario with planted faults fails" not "$TOP/scripts/lab.sh" planted
ok "they were planted" grep -q '^lab: .* measured' "$log"
ok "the lab fails because of them" grep -q "the lab's host kernel complained" "$log"
# The lines that the lab has picked, behind all that the host's console has.
sed '1,/^lab: .* measured/d' "$log" >"$TMP/picked"
found()
{
	ok "found: $1" grep -q "$2" "$TMP/picked"
}
found "a write after free" 'BUG: KASAN: slab-use-after-free'
found "an index out of bounds" 'UBSAN: array-index-out-of-bounds'
found "a pointer of RCU without its lock" 'WARNING: suspicious RCU usage'
found "what may sleep, in atomic context" 'BUG: sleeping function called from invalid context'
found "a CPU's number that may change" 'BUG: using smp_processor_id() in preemptible'
found "locks in both orders" 'WARNING: possible circular locking dependency detected'
done_testing
