# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by what looks at a program's screens: a terminal of its own, by tmux. $TMP is a
# directory that it may use. Whoever sources this ends it: terminal kill-server.

TERMINAL_COLUMNS=120
TERMINAL_LINES=30
# A screen that has not come after so many s, some fifty times what it takes, does not come. After one
# such screen, the test has failed: the others are not waited for as long.
TERMINAL_PATIENCE=60
TERMINAL_LESS_PATIENCE=3
# How often the screen is looked at, s
TERMINAL_LOOK=0.1

terminal_run=0
terminal()
{
	tmux -S "$TMP/tmux.$terminal_run" "$@" 2>/dev/null
}

# terminal_start COMMAND...: in another terminal, which says "exit code N" at its end. What it
# has to say to stderr is in $TMP/stderr.
terminal_start()
{
	local command

	terminal kill-server || :
	terminal_run=$((terminal_run + 1))
	printf -v command '%q ' "$@"
	terminal -f /dev/null new-session -d -s report -x $TERMINAL_COLUMNS -y $TERMINAL_LINES \
		"env HOME=$TMP PAGER='less -X' $command 2>$TMP/stderr; echo exit code \$?; sleep 1000"
}

look()
{
	terminal capture-pane -p -t report >"$TMP/screen"
}

# shows PATTERN: sooner or later. $TMP/screen has the screen, when two looks have seen the same: it is
# drawn piece by piece.
shows()
{
	local end=$((SECONDS + TERMINAL_PATIENCE)) before=

	until look && grep -qE -- "$1" "$TMP/screen" && [ "$before" = "$(cat "$TMP/screen")" ]; do
		if [ "$SECONDS" -ge "$end" ]; then
			cat "$TMP/screen"
			TERMINAL_PATIENCE=$TERMINAL_LESS_PATIENCE
			return 1
		fi
		before=$(cat "$TMP/screen")
		sleep "$TERMINAL_LOOK"
	done
}

# press KEY... as tmux calls them
press()
{
	terminal send-keys -t report "$@"
}
