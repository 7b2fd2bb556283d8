// SPDX-License-Identifier: GPL-2.0
/*
 * The collectors of guests: those that follow their guest begin before the measurement, the
 * others are asked after it, so many at a time. One that was not followed to the end, as when it
 * was booted again, is asked after it, too. A guest that does not answer costs its names, not the
 * profile.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "util/debug.h"
#include "util/time-utils.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/guest-reasons.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/warnings.h"
#include "collectors.h"
#include "guest-cmds.h"
#include "guest-maps.h"
#include "interrupts.h"
#include "shell-command.h"

/* Seconds, and how many at a time */
#define DEFAULT_TIMEOUT		60
#define DEFAULT_DEADLINE	300
#define DEFAULT_JOBS		8

/* How often to look whether a guest's command has begun, or ended */
#define POLL_MS			10
/* How often to say that it goes on */
#define PROGRESS_NS		(5 * NSEC_PER_SEC)

enum collector_state {
	COLLECTOR_WAITS,	/* for its turn */
	COLLECTOR_RUNS,		/* and is waited for */
	COLLECTOR_FOLLOWS,	/* its guest, until the measurement ends */
	COLLECTOR_HAS_MAP,
	COLLECTOR_FAILED,
};

/**
 * struct collector - of one guest
 * @vmm: @name: of its VM; @key: its @kvm_vm.pid
 * @cmd: its command as it was given, @text: for this guest
 * @out: the file that it writes to, for as long as it is not known if it has begun; else -1
 * @until: when its time is over, ns
 * @asked_again: nothing has come of following its guest
 * @reason: why it has failed, or NULL
 */
struct collector {
	struct list_head       node;
	pid_t		       vmm;
	pid_t		       key;
	char		       name[KVM_VM_NAME_LEN];
	const struct guest_cmd *cmd;
	char		       *text;
	enum collector_state   state;
	struct shell_command   command;
	int		       out;
	u64		       until;
	bool		       asked_again;
	char		       *reason;
};

/**
 * struct waiting - for what some of the collectors do
 * @begins: those that follow their guest are to begin; false: maps are to come
 * @dir: the profile
 * @until: when the time of all is over, ns
 * @progress: when to say next how far it is, ns
 * @nr_waiting: @nr_running: what is still to be done
 * @nr: of how many, @nr_done: that succeeded
 * @reasons: why others did not
 * @not_followed: why guests were not, to the end
 */
struct waiting {
	struct collectors *collectors;
	bool		  begins;
	const char	  *dir;
	u64		  until;
	u64		  progress;
	size_t		  nr_waiting;
	size_t		  nr_running;
	size_t		  nr;
	size_t		  nr_done;
	struct list_head  reasons;
	struct list_head  not_followed;
};

void collectors__init(struct collectors *collectors)
{
	*collectors = (struct collectors) { .timeout = DEFAULT_TIMEOUT, .jobs = DEFAULT_JOBS };
	INIT_LIST_HEAD(&collectors->cmds);
	INIT_LIST_HEAD(&collectors->list);
}

void collectors__exit(struct collectors *collectors)
{
	struct collector *c, *tmp;

	list_for_each_entry_safe(c, tmp, &collectors->list, node) {
		list_del(&c->node);
		free(c->text);
		free(c->reason);
		free(c);
	}
	guest_cmds__free(&collectors->cmds);
}

/* It may have ended during the measurement; its command could wait long. */
static bool is_gone(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

static unsigned int deadline_of(const struct collectors *collectors)
{
	return collectors->deadline ?: max_t(unsigned int, collectors->timeout, DEFAULT_DEADLINE);
}

/* Which command a guest has that was there at the start. NULL: none */
static const struct guest_cmd *choose(const struct collectors *collectors, const char *name)
{
	const struct guest_cmd *cmd = guest_cmds__find_own(&collectors->cmds, name);

	if (cmd || (collectors->selected && !patterns__match(collectors->selected, name)))
		return cmd;
	return guest_cmds__find(&collectors->cmds, name, /*late=*/false);
}

/* NULL: no memory */
static struct collector *add_collector(struct collectors *collectors, const struct kvm_vm *vm,
				       const struct guest_cmd *cmd)
{
	struct collector *c = zalloc(sizeof(*c));
	int ret = 0;

	if (!c)
		return NULL;
	c->key = vm->pid;
	c->vmm = kvm_vm__vmm(vm);
	strlcpy(c->name, vm->name, sizeof(c->name));
	c->cmd = cmd;
	c->out = -1;
	shell_command__init(&c->command);
	if (!cmd->is_pattern)
		c->text = strdup(cmd->text);
	else
		ret = guest_cmd__expand(cmd->text, vm->name, kvm_vm__vmm(vm), &c->text);
	/* A guest whose name is not fit for it has none, and is told of when its turn comes. */
	if (!c->text && ret != -EPERM) {
		free(c);
		return NULL;
	}
	list_add_tail(&c->node, &collectors->list);
	return c;
}

/* 0 or -ENOMEM */
static int add_collectors(struct collectors *collectors, const struct kvm_vms *vms)
{
	for (size_t i = 0; i < vms->nr; i++) {
		const struct guest_cmd *cmd = choose(collectors, vms->entries[i].name);

		if (cmd && !add_collector(collectors, &vms->entries[i], cmd))
			return -ENOMEM;
	}
	return 0;
}

/* Is @vm one that is recorded, and that nothing is asked of? */
bool collectors__leave_to_memory(const struct collectors *collectors, const struct kvm_vm *vm)
{
	const struct collector *c;

	list_for_each_entry(c, &collectors->list, node) {
		if (c->key == vm->pid)
			return false;
	}
	return !kvm_vm__is_left_out(vm) &&
	       (!collectors->selected || patterns__match(collectors->selected, vm->name));
}

/* Checks what can be checked before the measurement. 0 or -errno with a message */
int collectors__check(struct collectors *collectors, struct kvm_vms *vms)
{
	int ret;

	if (!collectors->jobs) {
		pr_err("--guest-jobs wants the number of guests to be asked at the same time, not 0\n");
		return -EINVAL;
	}
	ret = guest_cmds__check(&collectors->cmds, vms);
	if (ret)
		return ret;
	collectors->nr_at_start = vms->nr;
	ret = add_collectors(collectors, vms);
	if (ret)
		pr_err("Out of memory\n");
	return ret;
}

static void close_out(struct collector *c)
{
	if (c->out >= 0)
		close(c->out);
	c->out = -1;
}

/* Nothing is left of it. */
static void end(struct collector *c, const char *dir)
{
	close_out(c);
	shell_command__end(&c->command);
	guest_map__drop(c->key, dir);
}

static void __printf(3, 4) fail_collector(struct waiting *w, struct collector *c,
					  const char *fmt, ...)
{
	va_list ap;

	if (c->state == COLLECTOR_RUNS)
		w->nr_running--;
	else
		w->nr_waiting--;
	c->state = COLLECTOR_FAILED;
	end(c, w->dir);
	va_start(ap, fmt);
	if (vasprintf(&c->reason, fmt, ap) < 0)
		c->reason = NULL;
	va_end(ap);
	guest_reasons__add(&w->reasons, c->name, c->reason ?: "out of memory");
}

/* A text of how its command has failed; to be freed. NULL: no memory */
static char *reason_of_code(const struct collector *c)
{
	int code = c->command.code, ret;
	char *reason;

	if (code == -1 || !WIFEXITED(code))
		ret = asprintf(&reason, "'%s' was killed", c->cmd->text);
	else if (WEXITSTATUS(code))
		ret = asprintf(&reason, "'%s' failed with %d", c->cmd->text, WEXITSTATUS(code));
	else
		ret = asprintf(&reason, "'%s' has ended and said nothing", c->cmd->text);
	return ret < 0 ? NULL : reason;
}

/* Is it for this part of the recording? */
static bool is_of(const struct collector *c, const struct waiting *w)
{
	return (c->cmd->follow && !c->asked_again) == w->begins;
}

static void run(struct waiting *w, struct collector *c)
{
	c->state = COLLECTOR_RUNS;
	c->until = rdclock() + w->collectors->timeout * NSEC_PER_SEC;
	w->nr_running++;
}

/* Its turn has come. */
static void begin(struct waiting *w, struct collector *c)
{
	int ret;

	w->nr_waiting--;
	run(w, c);
	if (is_gone(c->vmm)) {
		fail_collector(w, c, "not running any more");
		return;
	}
	if (!c->text) {
		fail_collector(w, c, "a name of more than letters, digits, '.', '_' and '-' is not put into a command (%%n): give one for this guest alone");
		return;
	}
	c->out = guest_map__open_new(c->key, w->dir);
	if (c->out < 0) {
		fail_collector(w, c, "its map cannot be stored: %s", strerror(-c->out));
		return;
	}
	ret = shell_command__start(&c->command, c->text, c->cmd->follow, c->out,
				   GUEST_STREAM_MAX_SIZE);
	if (ret) {
		fail_collector(w, c, "cannot start '%s': %s", c->cmd->text, strerror(-ret));
	} else if (!w->begins) {
		close_out(c);
		shell_command__end_input(&c->command);
	}
}

/* Does it follow its guest now? It says something then. */
static void look_if_begun(struct waiting *w, struct collector *c)
{
	bool has_ended = shell_command__has_ended(&c->command);
	struct stat st;

	if (!fstat(c->out, &st) && st.st_size) {
		close_out(c);
		c->state = COLLECTOR_FOLLOWS;
		w->nr_running--;
		w->nr_done++;
	} else if (has_ended) {
		char *reason = reason_of_code(c);

		fail_collector(w, c, "%s", reason ?: "out of memory");
		free(reason);
	}
}

/*
 * It has failed, for @reason. A guest that was not followed to the end, as it was booted again, is
 * asked for a map of the end, which is more than none.
 */
static void fail_or_ask_again(struct waiting *w, struct collector *c, const char *reason)
{
	if (!c->cmd->follow || c->asked_again) {
		fail_collector(w, c, "%s", reason);
		return;
	}
	guest_reasons__add(&w->not_followed, c->name, reason);
	end(c, w->dir);
	shell_command__init(&c->command);
	c->asked_again = true;
	c->state = COLLECTOR_WAITS;
	w->nr_running--;
	w->nr_waiting++;
}

/* Has it answered? Then its map is taken. */
static void look_if_answered(struct waiting *w, struct collector *c)
{
	char err[192], *reason;

	if (!shell_command__has_ended(&c->command))
		return;
	if (c->command.code) {
		reason = reason_of_code(c);
	} else if (!guest_map__take(c->key, w->dir, err, sizeof(err))) {
		shell_command__end(&c->command);
		c->state = COLLECTOR_HAS_MAP;
		w->nr_running--;
		w->nr_done++;
		return;
	} else if (asprintf(&reason, "a map that %s", err) < 0) {
		reason = NULL;
	}
	fail_or_ask_again(w, c, reason ?: "out of memory");
	free(reason);
}

/* Counts jobs. Collectors that follow their guest run already when maps are to come. */
static size_t count_jobs(const struct waiting *w)
{
	const struct collector *c;
	size_t nr = 0;

	list_for_each_entry(c, &w->collectors->list, node)
		nr += c->state == COLLECTOR_RUNS && is_of(c, w);
	return nr;
}

static void begin_next(struct waiting *w)
{
	size_t nr_jobs = count_jobs(w);
	struct collector *c;

	list_for_each_entry(c, &w->collectors->list, node) {
		if (nr_jobs >= w->collectors->jobs)
			return;
		if (c->state != COLLECTOR_WAITS || !is_of(c, w))
			continue;
		begin(w, c);
		nr_jobs += c->state == COLLECTOR_RUNS;
	}
}

static void look(struct waiting *w)
{
	struct collector *c;

	list_for_each_entry(c, &w->collectors->list, node) {
		if (interrupts__came())
			return;
		if (c->state != COLLECTOR_RUNS)
			continue;
		if (w->begins)
			look_if_begun(w, c);
		else
			look_if_answered(w, c);
		if (c->state == COLLECTOR_RUNS && rdclock() >= c->until)
			fail_collector(w, c, "no answer in %u s (--guest-timeout)",
				       w->collectors->timeout);
	}
}

static void say_progress(struct waiting *w)
{
	size_t nr_failed = w->nr - w->nr_done - w->nr_waiting - w->nr_running;
	u64 now = rdclock();

	if (quiet || now < w->progress)
		return;
	w->progress = now + PROGRESS_NS;
	fprintf(stderr, "[ perf kvm unified: %zu of %zu guests %s", w->nr_done, w->nr,
		w->begins ? "are followed" : "have sent their maps");
	if (nr_failed)
		fprintf(stderr, ", %zu did not", nr_failed);
	fprintf(stderr, ", %zu asked now, %zu waiting ]\n", w->nr_running, w->nr_waiting);
}

/* Gives up what there is no time for, or no patience. */
static void give_up(struct waiting *w)
{
	struct collector *c;

	list_for_each_entry(c, &w->collectors->list, node) {
		if (c->state != COLLECTOR_RUNS &&
		    (c->state != COLLECTOR_WAITS || !is_of(c, w)))
			continue;
		if (interrupts__came())
			fail_collector(w, c, "interrupted");
		else
			fail_collector(w, c, "%s in the %u s for all guests (--guest-deadline)",
				       c->state == COLLECTOR_WAITS ? "not asked" : "no answer",
				       deadline_of(w->collectors));
	}
}

/* Which of them are to do something now */
static void say_begin(const struct waiting *w)
{
	struct name_list names = { };
	const struct collector *c;

	list_for_each_entry(c, &w->collectors->list, node) {
		if (c->state == COLLECTOR_RUNS ||
		    (c->state == COLLECTOR_WAITS && is_of(c, w)))
			name_list__add(&names, c->name);
	}
	if (quiet || !names.nr)
		return;
	fprintf(stderr, "[ perf kvm unified: %s ", w->begins ? "Following" : "Asking");
	if (names.nr == 1)
		fprintf(stderr, "guest %s%s ]\n", name_list__end(&names),
			w->begins ? "" : " for its map");
	else
		fprintf(stderr, "%zu guests%s: %s ]\n", names.nr,
			w->begins ? "" : " for their maps", name_list__end(&names));
}

/* Waits until each has succeeded or failed. */
static void wait_for_all(struct waiting *w)
{
	say_begin(w);
	w->nr = w->nr_waiting + w->nr_running;
	w->until = rdclock() + deadline_of(w->collectors) * NSEC_PER_SEC;
	w->progress = rdclock() + PROGRESS_NS;
	for (;;) {
		begin_next(w);
		look(w);
		if (!w->nr_waiting && !w->nr_running)
			return;
		if (interrupts__came() || rdclock() >= w->until)
			break;
		say_progress(w);
		poll(NULL, 0, POLL_MS);
	}
	give_up(w);
}

/*
 * Before the measurement: those that follow their guest are to have begun with it. 0,
 * or -EINTR: there is to be none
 */
int collectors__start(struct collectors *collectors, const char *dir)
{
	struct waiting w = { .collectors = collectors, .begins = true, .dir = dir };
	struct interrupt_handlers before = interrupts__note();
	struct collector *c;

	INIT_LIST_HEAD(&w.reasons);
	INIT_LIST_HEAD(&w.not_followed);
	list_for_each_entry(c, &collectors->list, node)
		w.nr_waiting += c->cmd->follow;
	wait_for_all(&w);
	if (!interrupts__came())
		guest_reasons__warn(&w.reasons, "No map of");
	guest_reasons__free(&w.reasons);
	interrupts__leave_to(&before);
	if (!interrupts__came())
		return 0;
	collectors__cancel(collectors, dir);
	return -EINTR;
}

/* All of them now, so that none follows its guest for longer than it has to. */
static void end_following(struct waiting *w)
{
	struct collector *c;
	char *reason;

	list_for_each_entry(c, &w->collectors->list, node) {
		if (c->state != COLLECTOR_FOLLOWS)
			continue;
		run(w, c);
		if (is_gone(c->vmm)) {
			fail_collector(w, c, "not running any more");
			continue;
		}
		/* One that has failed is told of when its turn comes. */
		if (shell_command__has_ended(&c->command) && !c->command.code &&
		    asprintf(&reason, "'%s' has ended before", c->cmd->text) >= 0) {
			guest_reasons__add(&w->not_followed, c->name, reason);
			free(reason);
		}
		shell_command__end_input(&c->command);
	}
}

/* One that has come since the start: it is asked, if it need not have been followed. */
static void add_late(struct waiting *w, const struct kvm_vm *vm)
{
	const struct list_head *cmds = &w->collectors->cmds;
	const struct guest_cmd *cmd = guest_cmds__find(cmds, vm->name, /*late=*/true);
	struct collector *c;

	if (!cmd)
		cmd = guest_cmds__find(cmds, vm->name, /*late=*/false);
	if (!cmd)
		return;
	c = add_collector(w->collectors, vm, cmd);
	if (!c) {
		guest_reasons__add(&w->reasons, vm->name, "out of memory");
	} else if (cmd->follow) {
		c->state = COLLECTOR_FAILED;
		c->reason = strdup("started meanwhile, and no --guest-cmd is for it");
		guest_reasons__add(&w->reasons, vm->name, c->reason ?: "out of memory");
	}
}

/* Adds VMs that came late, unless only some VMs are recorded. */
static void add_all_late(struct waiting *w, const struct kvm_vms *vms)
{
	if (w->collectors->selected)
		return;
	for (size_t i = w->collectors->nr_at_start; i < vms->nr; i++)
		add_late(w, &vms->entries[i]);
}

/* Why guests have no map is kept with their VMs. */
static void keep_reasons(const struct collectors *collectors, struct kvm_vms *vms)
{
	const struct collector *c;

	list_for_each_entry(c, &collectors->list, node) {
		if (c->reason)
			kvm_vms__set_no_map(vms, c->key, c->reason);
	}
}

/* "187 of 200", where there are several; why not the others has been said. */
static void say_result(const struct collectors *collectors)
{
	struct name_list missing = { };
	const struct collector *c;
	size_t nr = 0;

	list_for_each_entry(c, &collectors->list, node) {
		nr++;
		if (c->state != COLLECTOR_HAS_MAP)
			name_list__add(&missing, c->name);
	}
	if (missing.nr)
		unified_warning("Without a map, the functions of a guest have no names. One made by hand can be given\n"
				"to the report as long as the guest runs: perf kvm unified report --guest-map NAME=FILE\n");
	if (quiet || nr < 2)
		return;
	fprintf(stderr, "[ perf kvm unified: Maps of %zu of %zu guests", nr - missing.nr, nr);
	if (missing.nr)
		fprintf(stderr, "; missing: %s", name_list__end(&missing));
	fprintf(stderr, " ]\n");
}

/*
 * After the measurement: gets all maps into the directory. @vms: with those that came since; gets
 * why there are none
 */
void collectors__fetch(struct collectors *collectors, struct kvm_vms *vms, const char *dir)
{
	struct waiting w = { .collectors = collectors, .dir = dir };
	struct collector *c;

	INIT_LIST_HEAD(&w.reasons);
	INIT_LIST_HEAD(&w.not_followed);
	interrupts__note();
	end_following(&w);
	add_all_late(&w, vms);
	list_for_each_entry(c, &collectors->list, node)
		w.nr_waiting += c->state == COLLECTOR_WAITS;
	wait_for_all(&w);
	guest_reasons__warn(&w.not_followed, "Not followed to the end:");
	guest_reasons__free(&w.not_followed);
	guest_reasons__warn(&w.reasons, "No map of");
	guest_reasons__free(&w.reasons);
	keep_reasons(collectors, vms);
	say_result(collectors);
}

/* There is no measurement: ends what was started for it. */
void collectors__cancel(struct collectors *collectors, const char *dir)
{
	struct collector *c;

	list_for_each_entry(c, &collectors->list, node) {
		if (c->command.session)
			end(c, dir);
	}
}
