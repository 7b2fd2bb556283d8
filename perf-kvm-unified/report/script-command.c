// SPDX-License-Identifier: GPL-2.0
/*
 * What perf's browser shows samples with: perf kvm unified script, which gets what the report was
 * told of files of the host and of guests, so that both have the same names.
 */
#include <linux/kernel.h>
#include <linux/list.h>

#include "util/hist.h"
#include "util/symbol.h"
#include "kvm-unified/guests/options.h"
#include "kvm-unified/lib/patterns.h"
#include "options.h"
#include "script-command.h"
#include "times.h"

/* ... of a guest, or, if @name is NULL, of all guests */
static int add_of_guest(struct strbuf *text, const char *option, const char *name,
			const char *path)
{
	struct strbuf arg = STRBUF_INIT;
	int ret = strbuf_addf(&arg, "%s%s%s", name ?: "", name ? "=" : "", path);

	ret = ret ?: script_opt__add(text, option, arg.buf);
	strbuf_release(&arg);
	return ret;
}

static int add_left_out(struct strbuf *text, const struct kvm_guests_options *guests)
{
	struct strbuf list = STRBUF_INIT;
	int ret = 0;

	if (!guests->use_maps)
		return strbuf_addstr(text, " --no-guest-maps ");
	if (!guests->left_out)
		return 0;
	for (size_t i = 0; !ret && i < guests->left_out->nr; i++)
		ret = strbuf_addf(&list, "%s%s", i ? "," : "", guests->left_out->entries[i].text);
	ret = ret ?: script_opt__add(text, "--no-guest-maps=", list.buf);
	strbuf_release(&list);
	return ret;
}

static int add_guests(struct strbuf *text, const struct kvm_guests_options *guests)
{
	const struct guest_root *root;
	const struct given_map *map;
	int ret = 0;

	list_for_each_entry(map, &guests->given_maps, node)
		ret = ret ?: add_of_guest(text, "--guest-map ", map->name, map->file);
	/* One that is in perfconfig, too, and another was given in place of it, is left out. */
	list_for_each_entry(root, &guests->roots, node) {
		if (!ret && kvm_guests_options__root(guests, root->name) == root->dir)
			ret = add_of_guest(text, "--guest-root ", root->name, root->dir);
	}
	return ret;
}

/* Open ends are so here, too. */
static int add_times(struct strbuf *text, const struct section_opts *sections)
{
	int ret;

	if (!sections->nr_times)
		return 0;
	ret = strbuf_addstr(text, " --time '") ?:
	      times__to_text(sections->times, sections->nr_times, text);
	return ret ?: strbuf_addstr(text, "' ");
}

/**
 * script_command__set - have the browser run it as the report is
 * @text: gets its options: to stay for as long as there is a browser
 *
 * 0 or -ENOMEM
 */
int script_command__set(struct strbuf *text, const struct report_options *opts)
{
	const struct {
		const char *option;
		const char *value;
	} options[] = {
		{ "-k ", symbol_conf.vmlinux_name },
		{ "--kallsyms ", symbol_conf.kallsyms_name },
		{ "--symfs ", symbol_conf.symfs[0] ? symbol_conf.symfs : NULL },
		{ "-C ", opts->cpus },
	};
	int ret = opts->force ? strbuf_addstr(text, " -f ") : 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (!ret && options[i].value)
			ret = script_opt__add(text, options[i].option, options[i].value);
	}
	ret = ret ?: add_guests(text, &opts->guests) ?: add_left_out(text, &opts->guests) ?:
	      add_times(text, &opts->sections);
	if (!ret)
		script_browser__set_command("kvm unified script", text->buf);
	return ret;
}
