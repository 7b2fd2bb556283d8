#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vmx of every day, without EPT and without VPIDs.

VMX="vmx-shadow vmx-no-vpid" exec "$(dirname "$0")/../tests/vmx.t"
