#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# fleet of every day, with 24 VMs on four CPUs.

FLEETS=fleet exec "$(dirname "$0")/../tests/fleet.t"
