// SPDX-License-Identifier: GPL-2.0
/*
 * In a guest: modules of its kernel that come or go while it is followed. A map has the modules of
 * its start, and the kernel's symbols of its end: of modules that were not there all the time,
 * it gets from when to when they were, with their symbols.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/event.h"
#include "util/symbol.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "modules.h"
#include "symbols.h"

/* Kernels with all their modules have half of that. */
#define KALLSYMS_MAX_SIZE	(32U << 20)

#define LINE_MAX_LEN		2048
#define TEXT_MAX_LEN		(UINT16_MAX - sizeof(u64) -				\
				 sizeof(struct perf_record_guest_symbols))
#define PAGE			4096

struct module_list {
	struct module_look *modules;
	size_t	allocated;
};

static int add_module(void *_list, const char *name, u64 start, u64 size)
{
	struct module_list *list = _list;
	struct module_look *modules = list->modules;
	struct guest_module *module;
	size_t len = strlen(name);

	/* It comes as "[name]". Without privilege, all of them are at 0. */
	if (!start || len < 3 || len - 2 >= sizeof(module->name))
		return 0;
	if (grow_array(modules->entries, modules->nr, list->allocated))
		return -ENOMEM;
	module = &modules->entries[modules->nr++];
	memset(module, 0, sizeof(*module));
	memcpy(module->name, name + 1, len - 2);
	module->start = start;
	module->len = size;
	return 0;
}

static int module__cmp(const void *_a, const void *_b)
{
	const struct guest_module *a = _a, *b = _b;

	return sort_cmp(a->start, b->start);
}

/*
 * Cuts each module at the next one: the size in /proc/modules is of code and data, which lie
 * apart.
 */
static void cut_at_next(struct module_look *modules)
{
	for (size_t i = 0; i + 1 < modules->nr; i++) {
		struct guest_module *module = &modules->entries[i];

		module->len = min(module->len, module[1].start - module->start);
	}
}

static int read_kallsyms(struct module_look *modules, const char *path)
{
	FILE *file = fopen(path, "re"), *text;
	size_t size = 0, text_size = 0, len = 0;
	char *line = NULL;
	int ret = 0;

	if (!file)
		return -errno;
	text = open_memstream(&modules->kallsyms, &text_size);
	while (text && len < KALLSYMS_MAX_SIZE && getline(&line, &size, file) > 0) {
		if (strchr(line, '\t') && fputs(line, text) >= 0)
			len += strlen(line);
	}
	if (!text || fclose(text))
		ret = -ENOMEM;
	free(line);
	fclose(file);
	return ret;
}

/* As module_look__read(), without their symbols */
int module_look__list(struct module_look *modules, const char *modules_path)
{
	struct module_list list = { .modules = modules };

	*modules = (struct module_look) { };
	if (modules__parse(modules_path, &list, add_module) == -ENOMEM)
		return -ENOMEM;
	sort_array(modules->entries, modules->nr, sizeof(*modules->entries), module__cmp);
	cut_at_next(modules);
	return 0;
}

/**
 * module_look__read - note which modules there are now
 * @modules: result; overwritten, to be released with module_look__exit()
 * @modules_path: as /proc/modules
 * @kallsyms_path: as /proc/kallsyms
 *
 * 0 or -errno. A kernel without modules has none.
 */
int module_look__read(struct module_look *modules, const char *modules_path,
		      const char *kallsyms_path)
{
	int ret = module_look__list(modules, modules_path);

	return ret ?: read_kallsyms(modules, kallsyms_path);
}

void module_look__exit(struct module_look *modules)
{
	zfree(&modules->entries);
	zfree(&modules->kallsyms);
	modules->nr = 0;
}

/* 0 or -ENOMEM */
int guest_module_events__add(struct guest_module_events *events,
			     const struct guest_module_event *event)
{
	if (grow_array(events->entries, events->nr, events->allocated))
		return -ENOMEM;
	events->entries[events->nr++] = *event;
	return 0;
}

void guest_module_events__exit(struct guest_module_events *events)
{
	zfree(&events->entries);
	events->nr = 0;
	events->allocated = 0;
}

static const struct guest_module *find_module(const struct module_look *modules,
					      const struct guest_module *like)
{
	for (size_t i = 0; i < modules->nr; i++) {
		const struct guest_module *module = &modules->entries[i];

		if (module->start == like->start && !strcmp(module->name, like->name))
			return module;
	}
	return NULL;
}

/* The first one at all, or that says that it is @gone; or NULL */
static const struct guest_module_event *first_event(const struct guest_module_events *events,
						    const char *name, bool gone)
{
	for (size_t i = 0; i < events->nr; i++) {
		if (!strcmp(events->entries[i].name, name) && (events->entries[i].gone || !gone))
			return &events->entries[i];
	}
	return NULL;
}

static const struct guest_module_event *last_event(const struct guest_module_events *events,
						   const char *name)
{
	for (size_t i = events->nr; i--;) {
		if (!strcmp(events->entries[i].name, name))
			return &events->entries[i];
	}
	return NULL;
}

/* A function of @module, as a line of kallsyms has it */
struct module_symbol {
	u64	start;
	const char *name;
};

static int symbol__cmp(const void *_a, const void *_b)
{
	const struct module_symbol *a = _a, *b = _b;

	return sort_cmp(a->start, b->start);
}

/* Is @line, of "address type name\t[module]", a function of @module? It is cut after its name. */
static bool parse_line(char *line, const struct guest_module *module, struct module_symbol *sym)
{
	size_t len = strlen(module->name);
	char *end = NULL, *tab = strchr(line, '\t');

	sym->start = strtoull(line, &end, 16);
	if (!tab || end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3] ||
	    !strchr("tw", tolower((unsigned char)end[1])) ||
	    tab[1] != '[' || strncmp(tab + 2, module->name, len) || tab[2 + len] != ']' ||
	    sym->start < module->start || sym->start - module->start >= module->len)
		return false;
	*tab = '\0';
	sym->name = end + 3;
	return true;
}

/* The functions of @module out of @text, which is changed: by address, or NULL */
static struct module_symbol *find_symbols(char *text, const struct guest_module *module,
					  size_t *nr)
{
	struct module_symbol *symbols = NULL, symbol;
	size_t allocated = 0;
	char *line;

	*nr = 0;
	while ((line = strsep(&text, "\n"))) {
		if (!parse_line(line, module, &symbol))
			continue;
		if (grow_array(symbols, *nr, allocated)) {
			free(symbols);
			return NULL;
		}
		symbols[(*nr)++] = symbol;
	}
	sort_array(symbols, *nr, sizeof(*symbols), symbol__cmp);
	return symbols;
}

struct module_record {
	struct perf_record_guest_symbols rec;
	struct guest_symbols_module module;
};

/* Writes the symbols, in as many records as it takes, one at least. 0 or -errno */
static int write_symbols(struct module_record *record, const struct module_symbol *symbols,
			 size_t nr, int fd)
{
	const struct guest_symbols_module *module = &record->module;
	char *lines = (char *)(record + 1);
	size_t len = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i++) {
		u64 offset = symbols[i].start - module->start, next = offset;
		char line[LINE_MAX_LEN];
		size_t line_len;

		for (size_t j = i + 1; j < nr && next == offset; j++)
			next = symbols[j].start - module->start;
		/*
		 * The last symbol has no successor: the rest of its page is sure to be the
		 * module's.
		 */
		if (next == offset)
			next = min_t(u64, module->len, round_up(offset + 1, PAGE));
		line_len = scnprintf(line, sizeof(line), "%" PRIx64 " %" PRIx64 " %s\n", offset,
				     next - offset, symbols[i].name);
		if (sizeof(*module) + len + line_len > TEXT_MAX_LEN) {
			ret = guest_symbols__write(fd, &record->rec, sizeof(*module) + len);
			len = 0;
		}
		memcpy(lines + len, line, line_len);
		len += line_len;
	}
	return ret ?: guest_symbols__write(fd, &record->rec, sizeof(*module) + len);
}

/* @module was there from @from to @until, its symbols are in @kallsyms. 0 or -errno */
static int write_module(const struct guest_module *module, u64 from, u64 until,
			const char *kallsyms, int fd)
{
	struct module_record *record = zalloc(UINT16_MAX);
	char *text = strdup(kallsyms ?: "");
	struct module_symbol *symbols;
	int ret = -ENOMEM;
	size_t nr;

	if (record && text) {
		record->rec.pid = GUEST_SYMBOLS_OF_MODULE;
		record->module = (struct guest_symbols_module) {
			.start = module->start, .len = module->len, .from = from, .until = until,
		};
		strlcpy(record->module.name, module->name, sizeof(record->module.name));
		/* Never there: it is not known when */
		symbols = from < until ? find_symbols(text, module, &nr) : NULL;
		ret = write_symbols(record, symbols, symbols ? nr : 0, fd);
		free(symbols);
	}
	free(record);
	free(text);
	return ret;
}

static int write_gone(const struct guest_module *module, const struct module_look *before,
		      const struct module_look *after, const struct guest_module_events *events,
		      int fd)
{
	const struct guest_module_event *event = first_event(events, module->name, false);
	const struct guest_module_event *end = first_event(events, module->name, true);

	if (!events->known && !find_module(after, module))
		return write_module(module, 0, 0, NULL, fd);
	if (!events->known || !end)
		return 0;
	/* It may have come after the first event was noted, and before the first look. */
	return write_module(module, event->gone ? 0 : event->time, end->time, before->kallsyms, fd);
}

static int write_new(const struct guest_module *module, const struct module_look *after,
		     const struct guest_module_events *events, int fd)
{
	const struct guest_module_event *event = last_event(events, module->name);

	if (!events->known || !event || event->gone)
		return 0;
	return write_module(module, event->time, ~0ULL, after->kallsyms, fd);
}

/**
 * module_looks__write_changes - write what a reader needs of modules that came or went
 * @before: the modules of the start, which are in the map already
 * @after: those of the end
 * @events: what has happened meanwhile; if that is not known, of those that have changed it
 *	    is only written that nothing is known
 *
 * 0 or -errno
 */
int module_looks__write_changes(const struct module_look *before,
				const struct module_look *after,
				const struct guest_module_events *events, int fd)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < before->nr; i++)
		ret = write_gone(&before->entries[i], before, after, events, fd);
	for (size_t i = 0; !ret && i < after->nr; i++)
		ret = write_new(&after->entries[i], after, events, fd);
	return ret;
}
