# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# bash completion of perf-kvm-unified: commands, their options, and files

_perf_kvm_unified()
{
	local perf=/usr/lib/perf-kvm-unified/perf cur=${COMP_WORDS[COMP_CWORD]} command='' word words

	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[[ $word == -* ]] || { command=$word; break; }
	done
	COMPREPLY=()
	if [[ $cur == --* ]]; then
		# Expansion of the command, if any, is deliberate.
		# shellcheck disable=SC2086
		words=$($perf kvm unified $command --list-opts 2>/dev/null)
	elif [ -z "$command" ]; then
		words=$($perf kvm unified --list-cmds 2>/dev/null)
	else
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -o bashdefault -F _perf_kvm_unified perf-kvm-unified
