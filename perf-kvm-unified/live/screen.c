// SPDX-License-Identifier: GPL-2.0
/*
 * The terminal of perf kvm unified top: as much of a text as it has lines, and keys to scroll.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <linux/kernel.h>

#include "util/term.h"
#include "screen.h"

/* Sequences of ECMA-48 and of DEC's terminals, which all emulators have */
#define CLEAR		"\033[H\033[2J"
#define CUT_LINES	"\033[?7l"
#define WRAP_LINES	"\033[?7h"
#define REVERSE		"\033[7m"
#define NORMAL		"\033[m"

#define HELP		"q: end, space, b, j, k: scroll"

static void take_keys(struct screen *screen)
{
	struct termios ignored;

	if (screen->has_keys)
		set_term_quiet_input(&ignored);
}

void screen__open(struct screen *screen)
{
	*screen = (struct screen) { .is_terminal = isatty(STDOUT_FILENO) };
	screen->has_keys = screen->is_terminal && !tcgetattr(STDIN_FILENO, &screen->saved);
	take_keys(screen);
}

/* Lines for the text: the last one is for keys. */
static size_t height(void)
{
	struct winsize size;

	get_term_dimensions(&size);
	return size.ws_row > 2 ? size.ws_row - 1 : 1;
}

/* The start of line @nr, or of the end */
static const char *line_at(const char *text, size_t nr)
{
	while (nr--)
		text = strchrnul(text, '\n') + !!*strchrnul(text, '\n');
	return text;
}

/* Who reads it may have gone: 0 or -errno */
static int flush(void)
{
	return fflush(stdout) || ferror(stdout) ? -errno : 0;
}

/* After the terminal's size has changed, and where something else has used it, too. 0 or -errno */
int screen__redraw(struct screen *screen)
{
	const char *from, *to;
	size_t lines = height();

	if (!screen->is_terminal || !screen->text)
		return 0;
	take_keys(screen);
	if (screen->first + lines > screen->nr)
		screen->first = screen->nr > lines ? screen->nr - lines : 0;
	from = line_at(screen->text, screen->first);
	to = line_at(from, lines);
	fputs(CLEAR CUT_LINES, stdout);
	fwrite(from, 1, to - from, stdout);
	printf(REVERSE " %s, lines %zu to %zu of %zu   %s " NORMAL WRAP_LINES, screen->title,
	       screen->first + !!screen->nr, min(screen->first + lines, screen->nr), screen->nr,
	       screen->has_keys ? HELP : "");
	return flush();
}

/**
 * screen__show - show another text
 * @text: is the screen's from now on; each line of it ends with a newline
 *
 * 0 or -errno: nobody sees it
 */
int screen__show(struct screen *screen, char *text, const char *title)
{
	free(screen->text);
	screen->text = text;
	screen->nr = 0;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		screen->nr++;
	snprintf(screen->title, sizeof(screen->title), "%s", title);
	if (screen->is_terminal)
		return screen__redraw(screen);
	printf("# %s\n%s\n", title, text);
	return flush();
}

/*
 * Takes the keys that were pressed. @ret: 0 or -errno, as screen__redraw(). true: one of them ends
 * all, or there will be no more
 */
bool screen__key(struct screen *screen, int *ret)
{
	size_t page = height();
	char key;

	*ret = 0;
	while (read(STDIN_FILENO, &key, 1) == 1) {
		switch (key) {
		case 'q':
		/* Ctrl-D */
		case 4:
			return true;
		case 'j':
			screen->first++;
			break;
		case 'k':
			screen->first -= !!screen->first;
			break;
		case ' ':
			screen->first += page;
			break;
		case 'b':
			screen->first -= min(screen->first, page);
			break;
		default:
			break;
		}
	}
	*ret = screen__redraw(screen);
	return false;
}

void screen__close(struct screen *screen)
{
	if (screen->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen->saved);
	if (screen->is_terminal)
		putchar('\n');
	fflush(stdout);
	free(screen->text);
}
