// SPDX-License-Identifier: GPL-2.0
/*
 * What went wrong with guests, said once for all that it went wrong with.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/warnings.h"
#include "guest-reasons.h"

/* Different ones that are said: what a guest sends can be wrong in many ways. */
#define REASONS_SHOWN	8
#define OTHER_REASONS	"for other reasons"

struct guest_reason {
	struct list_head node;
	char		 *text;
	struct name_list guests;
};

static struct guest_reason *find(struct list_head *reasons, const char *text)
{
	struct guest_reason *reason;

	list_for_each_entry(reason, reasons, node) {
		if (!strcmp(reason->text, text))
			return reason;
	}
	return NULL;
}

static size_t count(const struct list_head *reasons)
{
	struct list_head *pos;
	size_t nr = 0;

	list_for_each(pos, reasons)
		nr++;
	return nr;
}

/* NULL: no memory */
static struct guest_reason *add(struct list_head *reasons, const char *text)
{
	struct guest_reason *reason = zalloc(sizeof(*reason));

	if (!reason)
		return NULL;
	reason->text = strdup(text);
	if (!reason->text) {
		free(reason);
		return NULL;
	}
	list_add_tail(&reason->node, reasons);
	return reason;
}

/* Without memory, it is not said why: that there is no map is known in any case. */
void guest_reasons__add(struct list_head *reasons, const char *guest, const char *text)
{
	struct guest_reason *reason = find(reasons, text);

	if (!reason && count(reasons) >= REASONS_SHOWN) {
		text = OTHER_REASONS;
		reason = find(reasons, text);
	}
	if (!reason)
		reason = add(reasons, text);
	if (reason)
		name_list__add(&reason->guests, guest);
}

/* A line for each, "@what guest a: reason" */
void guest_reasons__warn(struct list_head *reasons, const char *what)
{
	struct guest_reason *reason;

	list_for_each_entry(reason, reasons, node) {
		const char *names = name_list__end(&reason->guests);

		if (reason->guests.nr == 1)
			unified_warning("%s guest %s: %s.\n", what, names, reason->text);
		else
			unified_warning("%s %zu guests, %s: %s.\n", what, reason->guests.nr, names,
					reason->text);
	}
}

/* A line for each, "# @what a, b: reason": each fit for a terminal */
void guest_reasons__fprintf(struct list_head *reasons, const char *what, FILE *fp)
{
	struct guest_reason *reason;

	list_for_each_entry(reason, reasons, node)
		fprintf(fp, "# %s %s: %s\n", what, name_list__end(&reason->guests), reason->text);
}

void guest_reasons__free(struct list_head *reasons)
{
	struct guest_reason *reason, *tmp;

	list_for_each_entry_safe(reason, tmp, reasons, node) {
		list_del(&reason->node);
		free(reason->text);
		free(reason);
	}
}
