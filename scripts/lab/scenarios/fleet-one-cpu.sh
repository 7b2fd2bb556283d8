# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: the same causes in a small fleet on one CPU, with odd duty cycles

# shellcheck source=scripts/lab/scenarios/fleet.sh
. "$(dirname "${BASH_SOURCE[0]}")/fleet.sh"
# Where CPUs take turns, one may have to stand still between two looks at the clock. Alone, what is
# said of a time by one and by the other is the same, and short cycles may be many.
HOST_CPUS=1
HOG_CPU=0
TOOLS_CPUS=0
GUESTS=
TINY_VMS="
alder	0	1000	300	23700	map
ash	0	150	50	19300	map
aspen	0	190	60	16100	map
beech	0	310	90	34700	map
hazel	0	6000	2000	7300	map
larch	0	3900	1100	26900	map
elm	0	70	20	23900	-
"

start_guests()
{
	:
}
