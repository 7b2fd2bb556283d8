// SPDX-License-Identifier: GPL-2.0
/*
 * What --guest-cmd and --guest-follow say: which guest has which command.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/warnings.h"
#include "guest-cmds.h"

const char *guest_cmd__option(const struct guest_cmd *cmd)
{
	return cmd->follow ? "guest-follow" : "guest-cmd";
}

static void guest_cmd__delete(struct guest_cmd *cmd)
{
	free(cmd->name);
	free(cmd);
}

void guest_cmds__free(struct list_head *cmds)
{
	struct guest_cmd *cmd, *tmp;

	list_for_each_entry_safe(cmd, tmp, cmds, node) {
		list_del(&cmd->node);
		guest_cmd__delete(cmd);
	}
}

/*
 * A name is of whoever has started the VM. No quoting makes any name safe: ssh hands what it is
 * given on to another shell, and takes a name that begins with a dash for an option. So: nothing
 * that a shell, ssh or socat takes for more than a name, no option, and no hidden file nor "..".
 */
static bool is_fit_for_command(const char *name)
{
	if (*name == '-' || *name == '.')
		return false;
	for (; *name; name++) {
		if (!isalnum((unsigned char)*name) && !strchr("._-", *name))
			return false;
	}
	return true;
}

/**
 * guest_cmd__expand - a pattern's command for one guest
 * @text: with %n for @name, %p for @pid, and %% for a percent sign
 * @expanded: gets the command, to be freed
 *
 * 0, -EINVAL: there is another % in it, -EPERM: @name is not one to be put in a command, or
 * -ENOMEM
 */
int guest_cmd__expand(const char *text, const char *name, pid_t pid, char **expanded)
{
	size_t size;
	FILE *fp = open_memstream(expanded, &size);
	int ret = 0;

	if (!fp)
		return -ENOMEM;
	for (; !ret && *text; text++) {
		if (*text != '%')
			fputc(*text, fp);
		else if (*++text == '%')
			fputc('%', fp);
		else if (*text == 'p')
			fprintf(fp, "%d", pid);
		else if (*text != 'n')
			ret = -EINVAL;
		else if (!is_fit_for_command(name))
			ret = -EPERM;
		else
			fputs(name, fp);
	}
	if (fclose(fp) && !ret)
		ret = -ENOMEM;
	if (ret)
		zfree(expanded);
	return ret;
}

/* 0, or -errno with a message */
static int check_text(const char *option, const char *text)
{
	char *expanded;
	int ret = guest_cmd__expand(text, "name", 1, &expanded);

	if (!ret)
		free(expanded);
	else if (ret == -EINVAL)
		pr_err("--%s: in a command for several guests, %%n is the name, %%p the pid of the VMM, and %%%% a percent sign, but not '%s'\n",
		       option, text);
	return ret;
}

static int parse(struct list_head *cmds, const char *option, const char *arg, bool follow)
{
	const char *eq = strchr(arg, '=');
	struct guest_cmd *cmd;
	int ret;

	if (!eq || eq == arg || !eq[1]) {
		pr_err("--%s wants NAME='COMMAND', not '%s'\n", option, arg);
		return -EINVAL;
	}
	cmd = zalloc(sizeof(*cmd));
	if (!cmd)
		return -ENOMEM;
	cmd->name = strndup(arg, eq - arg);
	if (!cmd->name) {
		free(cmd);
		return -ENOMEM;
	}
	cmd->text = eq + 1;
	cmd->follow = follow;
	cmd->is_pattern = pattern__is_glob(cmd->name);
	ret = cmd->is_pattern ? check_text(option, cmd->text) : 0;
	if (ret) {
		guest_cmd__delete(cmd);
		return ret;
	}
	list_add_tail(&cmd->node, cmds);
	return 0;
}

int guest_cmds__parse(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	return parse(opt->value, "guest-cmd", arg, /*follow=*/false);
}

int guest_cmds__parse_follow(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	return parse(opt->value, "guest-follow", arg, /*follow=*/true);
}

/*
 * Of a pattern's commands, one that follows guests can be in front of one for those that come too
 * late for it. 0 or -EINVAL with a message
 */
static int check_once(const struct list_head *cmds, const struct guest_cmd *cmd)
{
	const struct guest_cmd *earlier;

	list_for_each_entry(earlier, cmds, node) {
		if (earlier == cmd)
			break;
		if (strcmp(earlier->name, cmd->name))
			continue;
		if (!cmd->is_pattern || earlier->follow == cmd->follow) {
			pr_err("--%s: guest '%s' has two commands, for one map.\n",
			       guest_cmd__option(cmd), cmd->name);
			return -EINVAL;
		}
		if (cmd->follow) {
			pr_err("--guest-follow '%s': give it before the --guest-cmd, which takes all of these guests.\n",
			       cmd->name);
			return -EINVAL;
		}
	}
	return 0;
}

/* The whole name in place of what is short for it. 0 or -errno with a message */
static int complete(struct guest_cmd *cmd, const struct kvm_vms *vms)
{
	const struct kvm_vm *vm = kvm_vms__find_short(vms, cmd->name);
	char *name;

	if (!vm) {
		kvm_vms__pr_no_such(vms, guest_cmd__option(cmd), cmd->name);
		return -ENOENT;
	}
	name = strdup(vm->name);
	if (!name)
		return -ENOMEM;
	free(cmd->name);
	cmd->name = name;
	return 0;
}

static bool matches_any(const struct guest_cmd *cmd, const struct kvm_vms *vms)
{
	for (size_t i = 0; i < vms->nr; i++) {
		if (pattern__match(cmd->name, vms->entries[i].name))
			return true;
	}
	return false;
}

/* Is there a VM for each, and one command for each VM? 0 or -errno with a message */
int guest_cmds__check(struct list_head *cmds, const struct kvm_vms *vms)
{
	struct guest_cmd *cmd;

	list_for_each_entry(cmd, cmds, node) {
		int ret = cmd->is_pattern ? 0 : complete(cmd, vms);

		if (!ret)
			ret = check_once(cmds, cmd);
		if (ret)
			return ret;
		/* There may be one later; that there is none at all is said elsewhere. */
		if (cmd->is_pattern && vms->nr && !matches_any(cmd, vms))
			unified_warning("--%s: no VM that runs is called '%s'.\n",
					guest_cmd__option(cmd), cmd->name);
	}
	return 0;
}

/* The one that is given for this guest alone, or NULL */
const struct guest_cmd *guest_cmds__find_own(const struct list_head *cmds, const char *name)
{
	const struct guest_cmd *cmd;

	list_for_each_entry(cmd, cmds, node) {
		if (!cmd->is_pattern && !strcmp(cmd->name, name))
			return cmd;
	}
	return NULL;
}

/*
 * The first pattern's that stands for the guest, or NULL. @late: which was not there at the
 * start, and cannot be followed any more
 */
const struct guest_cmd *guest_cmds__find(const struct list_head *cmds, const char *name, bool late)
{
	const struct guest_cmd *cmd;

	list_for_each_entry(cmd, cmds, node) {
		if (cmd->is_pattern && !(late && cmd->follow) && pattern__match(cmd->name, name))
			return cmd;
	}
	return NULL;
}
