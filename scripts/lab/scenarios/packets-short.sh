# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: a guest that receives some packets by virtio, and one that does nothing

# shellcheck source=scripts/lab/scenarios/packets.sh
. "$(dirname "${BASH_SOURCE[0]}")/packets.sh"
COUNT=4000

measure()
{
	go_first
	copy_programs
	perf kvm unified record -q -o /run/warm-up.data -- true
	warm_up guest1
	record_packets virtio guest1 guest1
	cp /run/packets/* .
}
