#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# memory.t of every day, of all kernels that the lab has, with 100,000 mutants in all.

export MEMORY_GUESTS="6.1 5.10 6.12 7.3" FUZZ_LOOKS=25000 SANITIZED=10
exec "$(dirname "$0")/../tests/memory.t"
