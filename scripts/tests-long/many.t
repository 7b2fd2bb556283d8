#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Commands for all guests at once: the scenario many.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

lab_runs many
cd "$LAB_OUT/many" || { done_testing; }

# says NAME TEXT: that recording has said so, as a whole line.
says()
{
	cat "many-$1.err"
	grep -qxF -e "$2" "many-$1.err"
}
# leaves NAME NUMBER: so many maps, and nothing half done
leaves()
{
	cat "many-$1.files"
	[ "$(grep -c '^guest_map__[0-9]*$' "many-$1.files")" -eq "$2" ] && ! grep tmp "many-$1.files"
}
done_is()
{
	echo "[ perf kvm unified: $1 ]"
}
ok "one command for three guests, by %n" says real "$(done_is 'Maps of 3 of 3 guests')"
ok "... their maps are there" leaves real 3

# shellcheck disable=SC2016 # not to expand
NAMES='x;touch${IFS}injected, $(touch${IFS}injected)'
ok "many: those that have sent a map, and those that have not" says asked \
	"$(done_is "Maps of 11 of 14 guests; missing: db-1, $NAMES")"
ok "... and no other file" leaves asked 11
ok "... a guest's own command comes first, and fails" says asked "No map of guest db-1: 'exit 3' failed with 3."
ok "... names that a shell could take for more are not put into a command" grep -qF "No map of 2 guests, $NAMES: a name" many-asked.err
ok "... and no shell has" not test -e injected
at_once()
{
	awk '{ n += $1; if (n > most) most = n } END { print most + 0, n + 0 }' many-jobs
}
ok "--guest-jobs: so many at once, and no more" test "$(at_once)" = "3 0"
ok "followed, asked, and asked as it came later, by %p" says followed "$(done_is 'Maps of 15 of 15 guests')"
ok "... their maps are there" leaves followed 15
ok "too late to be followed" says late "No map of guest later: started meanwhile, and no --guest-cmd is for it."
ok "... which does not harm the others" leaves late 15
ok "--guest-deadline: who was asked" says deadline \
	"No map of 2 guests, web-1, web-2: no answer in the 6 s for all guests (--guest-deadline)."
ok "--guest-deadline: and who was not, with --vm only of these" says deadline \
	"No map of 6 guests, web-3, web-4, web-5, web-6, ... 2 more: not asked in the 6 s for all guests (--guest-deadline)."
ok "... and how far it was meanwhile" says deadline \
	"$(done_is '0 of 8 guests have sent their maps, 2 asked now, 6 waiting')"
ok "--guest-timeout, and a pattern of --vm" says timeout \
	"No map of 4 guests, web-1, web-2, web-3, db-1: no answer in 1 s (--guest-timeout)."
ok "--vm: there is no such VM" says no-such "--vm: no VM that runs is called 'web-9'. Like it: web-1, web-2, web-3, web-4"
ok "Ctrl-C" grep -q '^No map of 8 guests, .*: interrupted.$' many-interrupted.err
ok "... nothing is left running" test -e many-left-behind -a ! -s many-left-behind
ok "... and the profile is whole" grep -qx vms many-interrupted.files
for name in deadline timeout interrupted; do
	ok "$name: no map, and nothing of one" leaves $name 0
	ok "$name: the recording is one" grep -qx 'exit code 0' many-$name.err
done

done_testing
