#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# time-axis of a guest that waits for its VMM: the scenario packets-short.

TIME_AXIS=packets-short exec "$(dirname "$0")/../tests/time-axis.t"
