# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests, after tap.sh.

# What has passed, an empty file each
PASSED=$KVMU_CACHE/passed

# key_of FILE... -- COMMAND...: the same for the same command and files of the same content,
# wherever the checkout is
key_of()
{
	local files=() command

	while [ "$1" != -- ]; do
		files+=("$1")
		shift
	done
	shift
	command=$*
	{
		printf '%s\n' "${command//"$TOP"/}"
		! declare -f "$1" || :
		sha256sum -- "${files[@]}" | cut -d' ' -f1
	} | sha256sum | cut -d' ' -f1
}

# once FILE... -- COMMAND...: where the result depends on these files alone, what has passed
# before passes.
once()
{
	local key

	key=$(key_of "$@") || return
	[ ! -e "$PASSED/$key" ] || return 0
	while [ "$1" != -- ]; do shift; done
	shift
	"$@" || return
	mkdir -p "$PASSED" && : >"$PASSED/$key"
}
