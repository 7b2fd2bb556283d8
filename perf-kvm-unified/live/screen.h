/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIVE_SCREEN_H
#define __PERF_KVM_UNIFIED_LIVE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/**
 * struct screen - a text that is longer than the terminal, and is replaced by another one
 * @is_terminal: standard output is one; else each text is printed whole, after the last one
 * @has_keys: standard input is a terminal; @saved: as it was
 * @text: what is shown, or NULL; @nr: its lines
 * @first: the line of it that is shown first
 * @title: of @text, for the terminal's last line
 */
struct screen {
	bool	is_terminal;
	bool	has_keys;
	struct termios saved;
	char	*text;
	size_t	nr;
	size_t	first;
	char	title[64];
};

void screen__open(struct screen *screen);
int screen__show(struct screen *screen, char *text, const char *title);
int screen__redraw(struct screen *screen);
bool screen__key(struct screen *screen, int *ret);
void screen__close(struct screen *screen);

#endif /* __PERF_KVM_UNIFIED_LIVE_SCREEN_H */
