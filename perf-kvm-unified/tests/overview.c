// SPDX-License-Identifier: GPL-2.0
/*
 * Who had the CPU, by name, and what VMs cost the host, with literal input.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "tests/tests.h"
#include "util/addr_location.h"
#include "util/debug.h"
#include "util/hashmap.h"
#include "util/machine.h"
#include "util/thread.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/measure/who.h"
#include "kvm-unified/report/class-columns.h"
#include "kvm-unified/report/costs.h"
#include "kvm-unified/report/thieves.h"

/* The VMs of the tests, and the pids of their VMMs */
enum { ALPHA, GAMMA, NR_VMS };

#define ALPHA_PID	100
#define GAMMA_PID	200

/* Their vCPUs, by index: alpha has two */
enum { ALPHA_0, ALPHA_1, GAMMA_3, NR_VCPUS };

/* Tasks of the host, by number */
enum { VCPU_OF_GAMMA, IOTHREAD_OF_GAMMA, VHOST_OF_ALPHA, MAIN_OF_ALPHA, CC1, OTHER_CC1, RSYNC,
	NO_VHOST, NO_NAME, OTHER_NO_NAME, IDLE, NR_TASKS };

static const struct {
	u32	vm;
	u32	id;
} vcpus[NR_VCPUS] = {
	[ALPHA_0] = { ALPHA, 0 }, [ALPHA_1] = { ALPHA, 1 }, [GAMMA_3] = { GAMMA, 3 },
};

static struct measured_task tasks[NR_TASKS] = {
	[VCPU_OF_GAMMA] = { 203, GAMMA_PID, "CPU 3/KVM", 0, GAMMA_3 },
	[IOTHREAD_OF_GAMMA] = { 210, GAMMA_PID, "IO io0", 0, TIME_AXIS_NONE },
	[VHOST_OF_ALPHA] = { 77, 77, "vhost-100", 0, TIME_AXIS_NONE, true },
	[MAIN_OF_ALPHA] = { 100, ALPHA_PID, "qemu", 0, TIME_AXIS_NONE },
	[CC1] = { 301, 301, "cc1", 0, TIME_AXIS_NONE },
	[OTHER_CC1] = { 302, 302, "cc1", 0, TIME_AXIS_NONE },
	[RSYNC] = { 303, 303, "rsync", 0, TIME_AXIS_NONE },
	/* A program that calls itself so */
	[NO_VHOST] = { 304, 304, "vhost-100", 0, TIME_AXIS_NONE },
	[NO_NAME] = { 305, 305, "", 0, TIME_AXIS_NONE },
	[OTHER_NO_NAME] = { 306, 306, "", 0, TIME_AXIS_NONE },
	[IDLE] = { 0, 0, "idle", 0, TIME_AXIS_NONE },
};

static const struct measured_vm vms[NR_VMS] = {
	[ALPHA] = { .name = "alpha", .pid = ALPHA_PID },
	[GAMMA] = { .name = "gamma", .pid = GAMMA_PID },
};

/* For measurement__exit(), as far as there is something of it. 0 or an error */
static int make_measurement(struct measurement *m)
{
	*m = (struct measurement) { };
	if (measurement__init(m))
		return -1;
	m->vms = memdup(vms, sizeof(vms));
	m->nr_vms = NR_VMS;
	m->tasks = calloc(NR_TASKS, sizeof(*m->tasks));
	if (!m->vms || !m->tasks)
		return -1;
	for (int i = 0; i < NR_VMS; i++) {
		if (hashmap__add(m->vm_by_pid, vms[i].pid, i))
			return -1;
	}
	for (int i = 0; i < NR_VCPUS; i++) {
		if (time_axis__findnew_vcpu(&m->axis, vcpus[i].vm, vcpus[i].id) != i)
			return -1;
	}
	for (; m->nr_tasks < NR_TASKS; m->nr_tasks++) {
		struct measured_task *task = memdup(&tasks[m->nr_tasks], sizeof(*task));

		if (!task)
			return -1;
		m->tasks[m->nr_tasks] = task;
	}
	return 0;
}

/* Who had the CPU that vCPU 0 of alpha wanted? */
static bool is_called(const struct measurement *m, struct thieves *thieves, u32 task,
		      bool woken, const char *name, const char *owner)
{
	const struct vcpu_interval interval = {
		.kind = VCPU_TIME_PREEMPTED, .vcpu = TIME_AXIS_NONE, .task = task, .woken = woken,
	};
	const struct thief thief = thief__find(m, &m->axis.vcpus[ALPHA_0], &interval);
	char buf[128];

	thief__name(m, &thief, thieves, buf, sizeof(buf));
	if (strcmp(buf, name)) {
		pr_debug("'%s', not '%s'\n", buf, name);
		return false;
	}
	thief__owner_name(m, &thief, buf, sizeof(buf));
	if (!strcmp(buf, owner))
		return true;
	pr_debug("'%s', not '%s'\n", buf, owner);
	return false;
}

static int check_names(struct measurement *m, struct thieves *thieves)
{
	for (u32 task = 0; task < NR_TASKS; task++) {
		const struct vcpu_interval interval = {
			.kind = VCPU_TIME_PREEMPTED, .vcpu = TIME_AXIS_NONE, .task = task,
		};
		const struct thief thief = thief__find(m, &m->axis.vcpus[ALPHA_0], &interval);

		/* Twice is once. */
		TEST_ASSERT_VAL("add", !thieves__add(thieves, &thief));
		TEST_ASSERT_VAL("add", !thieves__add(thieves, &thief));
	}
	TEST_ASSERT_VAL("another VM's vCPU", is_called(m, thieves, VCPU_OF_GAMMA, false,
						       "on VM gamma: vcpu3", "VM gamma"));
	TEST_ASSERT_VAL("another VM's thread", is_called(m, thieves, IOTHREAD_OF_GAMMA, false,
							 "on VM gamma: IO io0", "VM gamma"));
	TEST_ASSERT_VAL("its own vhost", is_called(m, thieves, VHOST_OF_ALPHA, false,
						   "on its VMM: vhost", "its VMM"));
	TEST_ASSERT_VAL("its own VMM", is_called(m, thieves, MAIN_OF_ALPHA, false,
						 "on its VMM: qemu", "its VMM"));
	TEST_ASSERT_VAL("two of a name", is_called(m, thieves, CC1, false,
						   "on 2 tasks cc1", "task cc1"));
	TEST_ASSERT_VAL("one of a name", is_called(m, thieves, RSYNC, false,
						   "on task rsync, pid 303", "task rsync"));
	TEST_ASSERT_VAL("no vhost", is_called(m, thieves, NO_VHOST, false,
					      "on task vhost-100, pid 304", "task vhost-100"));
	TEST_ASSERT_VAL("no name", is_called(m, thieves, NO_NAME, false,
					     "on task pid 305", "task 305"));
	TEST_ASSERT_VAL("woken up", is_called(m, thieves, IDLE, true, "waking up", "waking up"));
	TEST_ASSERT_VAL("a quota", is_called(m, thieves, IDLE, false, "CPU idle: quota",
					     "CPU idle: quota"));
	TEST_ASSERT_VAL("nobody", is_called(m, thieves, TIME_AXIS_NONE, false,
					    "on something not sampled", "something not sampled"));
	m->tasks[CC1]->vcpu = ALPHA_1;
	TEST_ASSERT_VAL("a vCPU of its own", is_called(m, thieves, CC1, false, "on vcpu1",
						       "its other vCPUs"));
	return TEST_OK;
}

static int test__thieves(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct measurement m;
	struct thieves thieves;
	int ret = TEST_FAIL;

	if (!make_measurement(&m) && !thieves__init(&thieves)) {
		ret = check_names(&m, &thieves);
		thieves__exit(&thieves);
	}
	measurement__exit(&m);
	return ret;
}

static int test__thief_sums(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct thief_sums sums;
	struct thief_sum *sorted;
	size_t nr;
	char name[] = "VM b";

	TEST_ASSERT_VAL("init", !thief_sums__init(&sums));
	TEST_ASSERT_VAL("none", !thief_sums__sorted(&sums, &sorted, &nr) && !nr);
	thief_sums__free(sorted, nr);
	TEST_ASSERT_VAL("add", !thief_sums__add(&sums, name, NULL, 3));
	name[3] = 'a';
	TEST_ASSERT_VAL("add", !thief_sums__add(&sums, name, NULL, 5));
	name[3] = 'b';
	TEST_ASSERT_VAL("add", !thief_sums__add(&sums, name, NULL, 4));
	name[3] = 'c';
	TEST_ASSERT_VAL("sorted", !thief_sums__sorted(&sums, &sorted, &nr) && nr == 2);
	TEST_ASSERT_VAL("most first", sorted[0].ns == 7 && !strcmp(sorted[0].owner, "VM b"));
	TEST_ASSERT_VAL("then the other", sorted[1].ns == 5 && !strcmp(sorted[1].owner, "VM a"));
	thief_sums__free(sorted, nr);
	for (u32 vm = 1; vm <= 2; vm++) {
		TEST_ASSERT_VAL("from", !thief_sums__add_from(&sums, vm, "VM b", NULL, 1));
		TEST_ASSERT_VAL("again", !thief_sums__add_from(&sums, vm, "VM b", NULL, 1));
	}
	TEST_ASSERT_VAL("from one", !thief_sums__add_from(&sums, 2, "VM a", NULL, 1));
	TEST_ASSERT_VAL("sorted", !thief_sums__sorted(&sums, &sorted, &nr) && nr == 2);
	TEST_ASSERT_VAL("from two VMs", sorted[0].ns == 11 && sorted[0].nr_vms == 2);
	TEST_ASSERT_VAL("from one", sorted[1].ns == 6 && sorted[1].nr_vms == 1);
	thief_sums__free(sorted, nr);
	thief_sums__exit(&sums);
	return TEST_OK;
}

#define NR_CATS			(THIEF_MAX_TASKS + 2)

/* If several tasks have one name, those with most time are told apart. */
static int test__thief_tasks(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct measured_task cats[NR_CATS] = { }, cut = { .tid = 99 };
	struct thief_sums sums;
	struct thief_sum *sorted;
	u64 ns = 0;
	size_t nr;

	TEST_ASSERT_VAL("init", !thief_sums__init(&sums));
	for (u32 i = 0; i < NR_CATS; i++) {
		cats[i].tid = 100 + i;
		TEST_ASSERT_VAL("add", !thief_sums__add(&sums, "task cat", &cats[i], i + 1));
		TEST_ASSERT_VAL("once more", !thief_sums__add(&sums, "task cat", &cats[i], 10));
	}
	TEST_ASSERT_VAL("another", !thief_sums__add(&sums, "task cut", &cut, 1));
	TEST_ASSERT_VAL("sorted", !thief_sums__sorted(&sums, &sorted, &nr) && nr == 2);
	TEST_ASSERT_VAL("tasks", sorted[0].nr_tasks == THIEF_MAX_TASKS);
	TEST_ASSERT_VAL("most first", sorted[0].tasks[0].task == &cats[NR_CATS - 1]);
	TEST_ASSERT_VAL("its time", sorted[0].tasks[0].ns == NR_CATS + 10);
	for (u32 i = 0; i < sorted[0].nr_tasks; i++)
		ns += sorted[0].tasks[i].ns;
	TEST_ASSERT_VAL("more", sorted[0].nr_more == NR_CATS - THIEF_MAX_TASKS);
	TEST_ASSERT_VAL("all", ns + sorted[0].more_ns == sorted[0].ns);
	TEST_ASSERT_VAL("one task", !sorted[1].several && !sorted[1].tasks);
	thief_sums__free(sorted, nr);
	thief_sums__exit(&sums);
	return TEST_OK;
}

static bool cut_is(const char *path, const char *other, const char *common)
{
	char buf[32];

	strlcpy(buf, path, sizeof(buf));
	cgroup_path__cut(buf, other);
	return !strcmp(buf, common);
}

/* Which VM's a cgroup is */
static int test__vm_cgroups(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char *const paths[] = {
		"/a.scope", "/b", "/b/inner", "/both", "/both", "/", NULL,
	};
	struct vm_cgroups cgroups = { .by_path = name_map__new() };

	TEST_ASSERT_VAL("vCPUs", cut_is("/a/vcpu0", "/a/vcpu1", "/a"));
	TEST_ASSERT_VAL("a part", cut_is("/a/vcpu0", "/a", "/a") && cut_is("/a", "/a/b", "/a"));
	TEST_ASSERT_VAL("the same", cut_is("/a/b", "/a/b", "/a/b"));
	TEST_ASSERT_VAL("others", cut_is("/a", "/ab", "") && cut_is("/a", "/", ""));
	TEST_ASSERT_VAL("map", cgroups.by_path);
	TEST_ASSERT_VAL("set", !vm_cgroups__set(&cgroups, (char *const *)paths,
						ARRAY_SIZE(paths)));
	TEST_ASSERT_VAL("its own", vm_cgroups__find(&cgroups, "/a.scope") == 0);
	TEST_ASSERT_VAL("a part", vm_cgroups__find(&cgroups, "/a.scope/helpers/fs") == 0);
	TEST_ASSERT_VAL("not its", vm_cgroups__find(&cgroups, "/a.scope2") == TIME_AXIS_NONE);
	TEST_ASSERT_VAL("has another VM in it",
			vm_cgroups__find(&cgroups, "/b/fs") == TIME_AXIS_NONE);
	TEST_ASSERT_VAL("that one", vm_cgroups__find(&cgroups, "/b/inner/fs") == 2);
	TEST_ASSERT_VAL("two VMs'", vm_cgroups__find(&cgroups, "/both") == TIME_AXIS_NONE);
	TEST_ASSERT_VAL("the root", vm_cgroups__find(&cgroups, "/") == TIME_AXIS_NONE);
	vm_cgroups__exit(&cgroups);
	return TEST_OK;
}

/* A sample of a task or vCPU stands for @time ns. */
static int add_sample(struct costs *costs, const struct measurement *m, u32 hit, u32 task, u32 vcpu,
		      enum axis_sample_kind kind, u64 time)
{
	const struct axis_sample sample = {
		.hit = hit, .task = task, .vcpu = vcpu, .kind = kind,
	};
	const struct cpu_interval interval = { .kind = CPU_TIME_SAMPLE, .sample = &sample };

	return costs__add(costs, m, &interval, time);
}

static int check_costs(struct measurement *m, struct costs *costs)
{
	const struct profile_key work_key = { PROFILE_OS, "work", "[kernel]", "", -1, 0, NULL };
	const struct profile_key idle_key = { PROFILE_IDLE, "idle", "[kernel]", "", -1, 0, NULL };
	const struct profile_key vm_key = { PROFILE_VM, "[gamma]", "(VM pid 1)", "", -1, 0, NULL };
	const struct hit *work = hits__findnew(&m->hits, &work_key, 0, NULL);
	const struct hit *idle = hits__findnew(&m->hits, &idle_key, 0, NULL);
	const struct hit *vm = hits__findnew(&m->hits, &vm_key, 0, NULL);
	const struct cpu_interval guest = { .kind = CPU_TIME_GUEST, .vcpu = GAMMA_3 };
	const struct cpu_interval lost = { .kind = CPU_TIME_LOST };
	struct vm_costs *costs_by_vm;
	u64 host[HOST_COST_NR];

	TEST_ASSERT_VAL("hits", work && idle && vm);
	TEST_ASSERT_VAL("guest", !costs__add(costs, m, &guest, 1));
	TEST_ASSERT_VAL("lost", !costs__add(costs, m, &lost, 2));
	TEST_ASSERT_VAL("exit", !add_sample(costs, m, work->idx, VCPU_OF_GAMMA, GAMMA_3,
					    AXIS_SAMPLE_EXIT, 4));
	TEST_ASSERT_VAL("VMM", !add_sample(costs, m, work->idx, VCPU_OF_GAMMA, GAMMA_3,
					   AXIS_SAMPLE_VMM, 8));
	TEST_ASSERT_VAL("before it was known to be a vCPU's",
			!add_sample(costs, m, work->idx, VCPU_OF_GAMMA, TIME_AXIS_NONE,
				    AXIS_SAMPLE_HOST, 16));
	TEST_ASSERT_VAL("another thread", !add_sample(costs, m, work->idx, IOTHREAD_OF_GAMMA,
						      TIME_AXIS_NONE, AXIS_SAMPLE_HOST, 32));
	TEST_ASSERT_VAL("vhost", !add_sample(costs, m, work->idx, VHOST_OF_ALPHA,
					     TIME_AXIS_NONE, AXIS_SAMPLE_HOST, 64));
	TEST_ASSERT_VAL("the host's", !add_sample(costs, m, work->idx, RSYNC, TIME_AXIS_NONE,
						  AXIS_SAMPLE_HOST, 128));
	TEST_ASSERT_VAL("idle", !add_sample(costs, m, idle->idx, IDLE, TIME_AXIS_NONE,
					    AXIS_SAMPLE_IDLE, 256));

	TEST_ASSERT_VAL("no vCPU known", !add_sample(costs, m, vm->idx, VCPU_OF_GAMMA,
						     TIME_AXIS_NONE, AXIS_SAMPLE_HOST, 512));

	costs_by_vm = costs__by_vm(costs, m, host);
	TEST_ASSERT_VAL("by VM", costs_by_vm);
	TEST_ASSERT_VAL("most first", costs_by_vm[0].vm == ALPHA && costs_by_vm[1].vm == GAMMA);
	TEST_ASSERT_VAL("alpha", costs_by_vm[0].ns[VM_COST_KERNEL] == 64 &&
			costs_by_vm[0].sum == 64);
	TEST_ASSERT_VAL("gamma", costs_by_vm[1].ns[VM_COST_GUEST] == 1 &&
			costs_by_vm[1].ns[VM_COST_EXITS] == 4 &&
			costs_by_vm[1].ns[VM_COST_VCPU_THREADS] == 24 &&
			costs_by_vm[1].ns[VM_COST_VMM] == 32 && costs_by_vm[1].sum == 61);
	TEST_ASSERT_VAL("the host", host[HOST_COST_OWN] == 128 && host[HOST_COST_IDLE] == 256 &&
			host[HOST_COST_UNKNOWN] == 2 && host[HOST_COST_GUESTS] == 512);
	free(costs_by_vm);
	return TEST_OK;
}

static int test__costs(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct costs costs = { };
	struct measurement m;
	int ret = make_measurement(&m) ? TEST_FAIL : check_costs(&m, &costs);

	costs__exit(&costs);
	measurement__exit(&m);
	return ret;
}

/* Thread @tid calls itself @comm at @time; NULL: perf does not know what it is called */
static void call_thread(struct machine *machine, pid_t tid, const char *comm, u64 time)
{
	struct thread *thread = machine__findnew_thread(machine, tid, tid);

	if (comm)
		thread__set_comm(thread, comm, time);
	thread__put(thread);
}

/* Thread @tid has ended, and perf has forgotten it. */
static void end_thread(struct measurement *m, struct machine *machine, pid_t tid)
{
	struct thread *thread = machine__find_thread(machine, tid, tid);

	measurement__end_thread(m, machine, tid);
	machine__remove_thread(machine, thread);
	thread__put(thread);
}

/* Is task number @task the one of thread @tid, and called @comm? */
static bool is_task(struct measurement *m, struct machine *machine, pid_t tid, u32 task,
		    const char *comm)
{
	return measurement__findnew_task(m, machine, tid, tid) == task &&
	       !strcmp(m->tasks[task]->comm, comm);
}

static int check_last_names(struct measurement *m, struct machine *machine)
{
	u32 task = measurement__findnew_task(m, machine, 401, 401), next;

	TEST_ASSERT_VAL("nothing is known of it", is_task(m, machine, 401, task, ""));
	call_thread(machine, 401, NULL, 0);
	TEST_ASSERT_VAL("perf's \":401\" is no name", is_task(m, machine, 401, task, ""));
	call_thread(machine, 401, "sh", 1);
	TEST_ASSERT_VAL("a name", is_task(m, machine, 401, task, "sh"));
	call_thread(machine, 401, "backup", 2);
	TEST_ASSERT_VAL("execve()", is_task(m, machine, 401, task, "backup"));
	call_thread(machine, 402, "sh", 2);
	next = measurement__findnew_task(m, machine, 402, 402);
	TEST_ASSERT_VAL("another thread", next != task && is_task(m, machine, 402, next, "sh"));

	end_thread(m, machine, 401);
	TEST_ASSERT_VAL("its last moments", is_task(m, machine, 401, task, "backup"));
	call_thread(machine, 401, NULL, 3);
	TEST_ASSERT_VAL("... of which there are samples", is_task(m, machine, 401, task, "backup"));

	measurement__new_thread(m, 401);
	next = measurement__findnew_task(m, machine, 401, 401);
	TEST_ASSERT_VAL("another one of that number", next != task);
	call_thread(machine, 401, "cron", 4);
	TEST_ASSERT_VAL("... has its own name", is_task(m, machine, 401, next, "cron") &&
			!strcmp(m->tasks[task]->comm, "backup"));
	return TEST_OK;
}

/* A thread that nobody has looked for by the time that it ends */
static int check_short_lived(struct measurement *m, struct machine *machine)
{
	u32 task, next;

	call_thread(machine, 601, "true", 1);
	end_thread(m, machine, 601);
	task = measurement__findnew_task(m, machine, NO_PID, 601);
	TEST_ASSERT_VAL("its name is known", is_task(m, machine, 601, task, "true"));
	TEST_ASSERT_EQUAL("its process is, too", m->tasks[task]->pid, 601);

	/* Once more under another name, which has not been looked for either */
	call_thread(machine, 602, "sh", 1);
	task = measurement__findnew_task(m, machine, 602, 602);
	call_thread(machine, 602, "grep", 2);
	end_thread(m, machine, 602);
	TEST_ASSERT_VAL("its last name", is_task(m, machine, 602, task, "grep"));

	call_thread(machine, 603, "true", 1);
	end_thread(m, machine, 603);
	measurement__new_thread(m, 603);
	next = measurement__findnew_task(m, machine, NO_PID, 603);
	TEST_ASSERT_VAL("another one has none of it", is_task(m, machine, 603, next, ""));
	return TEST_OK;
}

/* The record that another thread begins was lost, or may have been. */
static int check_lost_forks(struct measurement *m, struct machine *machine)
{
	u32 task, named, next;

	call_thread(machine, 501, "make", 1);
	task = measurement__findnew_task(m, machine, 501, 501);
	end_thread(m, machine, 501);
	call_thread(machine, 501, "cc1", 2);
	named = measurement__findnew_task(m, machine, 501, 501);
	TEST_ASSERT_VAL("a new name after its end", named != task &&
			is_task(m, machine, 501, named, "cc1") &&
			!strcmp(m->tasks[task]->comm, "make"));
	end_thread(m, machine, 501);
	m->nr_lost++;
	next = measurement__findnew_task(m, machine, 501, 501);
	TEST_ASSERT_VAL("lost records after its end", next != named &&
			is_task(m, machine, 501, next, ""));

	/* That it has ended was lost, too. */
	call_thread(machine, 502, "make", 1);
	task = measurement__next_task(m, machine, 502);
	next = measurement__findnew_task(m, machine, 777, 502);
	TEST_ASSERT_VAL("another process", next != task && !strcmp(m->tasks[next]->comm, ""));
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_VAL("... once, by its number",
				measurement__findnew_task(m, machine, NO_PID, 502) == next);
		TEST_ASSERT_VAL("... and by its process",
				measurement__findnew_task(m, machine, 777, 502) == next);
	}

	/* Who is in the memo may be gone. */
	call_thread(machine, 503, "make", 1);
	task = measurement__next_task(m, machine, 503);
	end_thread(m, machine, 503);
	TEST_ASSERT_VAL("its end", measurement__next_task(m, machine, 503) == task);
	m->nr_lost++;
	TEST_ASSERT_VAL("lost records", measurement__next_task(m, machine, 503) != task);
	return TEST_OK;
}

/* What it is called when it is called @comm, and something that is called so is hit in it */
static const char *called_in_rows(struct hits *hits, struct machine *machine, const char *comm,
				  u64 time)
{
	const struct profile_key key = { PROFILE_USER, "work", "work.so", comm, 701, 0, NULL };
	struct addr_location al;
	struct thread *thread;
	const char *name = NULL;

	call_thread(machine, 701, comm, time);
	thread = machine__find_thread(machine, 701, 701);
	addr_location__init(&al);
	al.thread = thread__get(thread);
	if (thread && !hits__rename_thread(hits, thread) && hits__findnew(hits, &key, 0, &al))
		name = thread__comm_str(hits__thread_of_rows(hits, thread, /*by_name=*/false));
	addr_location__exit(&al);
	thread__put(thread);
	return name ?: "";
}

/* Rows of a process have its last name, also if it had that before. */
static int check_names_of_rows(struct measurement *m, struct machine *machine)
{
	TEST_ASSERT_VAL("first name", !strcmp(called_in_rows(&m->hits, machine, "sh", 1), "sh"));
	TEST_ASSERT_VAL("execve()", !strcmp(called_in_rows(&m->hits, machine, "true", 2), "true"));
	TEST_ASSERT_VAL("once more", !strcmp(called_in_rows(&m->hits, machine, "sh", 3), "sh"));
	return TEST_OK;
}

/* A thread is one task, by its last name. */
static int test__last_names(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct machines machines;
	struct measurement m;
	int ret = TEST_FAIL;

	machines__init(&machines);
	if (!make_measurement(&m))
		ret = check_last_names(&m, &machines.host);
	if (ret == TEST_OK)
		ret = check_lost_forks(&m, &machines.host);
	if (ret == TEST_OK)
		ret = check_short_lived(&m, &machines.host);
	if (ret == TEST_OK)
		ret = check_names_of_rows(&m, &machines.host);
	measurement__exit(&m);
	machines__exit(&machines);
	return ret;
}

/* A class in no column would be in no overview, and nobody would miss it. */
static int test__class_columns(struct test_suite *test __maybe_unused,
			       int subtest __maybe_unused)
{
	u32 columns[PROFILE_NR_CLASSES] = { };

	for (u32 i = 0; i < NR_CLASS_COLUMNS; i++) {
		for (u32 j = 0; j < class_columns[i].nr; j++)
			columns[class_columns[i].classes[j]]++;
	}
	for (u32 i = 0; i < PROFILE_NR_CLASSES; i++)
		TEST_ASSERT_EQUAL(profile_class__name(i), columns[i], 1);
	return TEST_OK;
}

static struct test_case kvm_unified_overview_tests[] = {
	TEST_CASE("kvm unified: who had the CPU, by name", thieves),
	TEST_CASE("kvm unified: threads that change their names", last_names),
	TEST_CASE("kvm unified: who had most", thief_sums),
	TEST_CASE("kvm unified: several who had most", thief_tasks),
	TEST_CASE("kvm unified: whose a cgroup is", vm_cgroups),
	TEST_CASE("kvm unified: what VMs cost the host", costs),
	TEST_CASE("kvm unified: each class in one column", class_columns),
	{ .name = NULL, }
};

struct test_suite suite__kvm_unified_overview = {
	.desc = "kvm unified: overview",
	.test_cases = kvm_unified_overview_tests,
};
