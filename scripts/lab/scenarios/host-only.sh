# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# about: no guest: the host boots, perf counts, and the host powers off

measure()
{
	perf --version
	perf stat -e cpu-clock -- true
}
