// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of a report for a database of many hosts: a JSON object each, on a line of its own
 * (ClickHouse's JSONEachRow, and what others call JSON lines). Each has all members, in the same
 * order; what is not known is "", 0 or -1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <linux/kernel.h>

#include "util/build-id.h"
#include "util/dso.h"
#include "util/env.h"
#include "util/json.h"
#include "util/map.h"
#include "util/session.h"
#include "util/strbuf.h"
#include "kvm-unified/measure/hits.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/report/print.h"
#include "kvm-unified/report/profile.h"
#include "kvm-unified/report/sections.h"
#include "kvm-unified/report/tables.h"
#include "kvm-unified/report/times.h"
#include "frames.h"
#include "rows.h"

/* FNV-1a, of 64 bits: draft-eastlake-fnv */
#define FNV_OFFSET	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL

/* The profile is read now, from its start. 0 or -errno */
int rows__begin(struct rows *rows)
{
	rows__exit(rows);
	return temp_file__open(&rows->lines);
}

void rows__exit(struct rows *rows)
{
	temp_file__close(&rows->lines);
}

/* ns since 1970; 0: perf has not recorded what the time of day was. */
static u64 time_of_day(const struct measurement *m, u64 time)
{
	const struct perf_env *env = perf_session__env(m->session);

	return env->clock.enabled ? env->clock.tod_ns + (time - env->clock.clockid_ns) : 0;
}

/* The same for the same frames, in all profiles */
static u64 hash_of(const struct strbuf *stack)
{
	u64 hash = FNV_OFFSET;

	for (size_t i = 0; i < stack->len; i++)
		hash = (hash ^ (u8)stack->buf[i]) * FNV_PRIME;
	return hash;
}

static void print_member(const char *name, const char *value, FILE *fp)
{
	fputs(", ", fp);
	print_json_member(name, value, fp);
}

static void print_build_id(const struct hit *hit, FILE *fp)
{
	char build_id[SBUILD_ID_SIZE] = "";

	if (hit && hit->map && dso__has_build_id(map__dso(hit->map)))
		build_id__snprintf(dso__bid(map__dso(hit->map)), build_id, sizeof(build_id));
	print_member("build_id", build_id, fp);
}

/**
 * rows__add - a row of a table
 * @time: that the table is of
 * @ns: the row's
 * @stack: its frames, if call chains were recorded, else empty
 *
 * 0: what goes wrong is found out by rows__print()
 */
int rows__add(struct rows *rows, const struct measurement *m, const struct chosen_time *time,
	      const struct section *section, const struct table_row *row, u64 ns,
	      struct strbuf *stack)
{
	const struct profile_key *key = row->key;
	FILE *fp = rows->lines.fp;

	fputs("{", fp);
	print_json_member("host", perf_session__env(m->session)->hostname ?: "", fp);
	fprintf(fp, ", \"start\": %" PRIu64 ", \"duration\": %" PRIu64,
		time_of_day(m, time->start), time->duration);
	print_member("level", section_level__name(section->level), fp);
	print_member("vm", section__has_vm(section) ? m->vms[section->vm].name : "", fp);
	fprintf(fp, ", \"vcpu\": %d",
		section->level == SECTION_VCPU ? (int)section->vcpu : -1);
	print_member("class", profile_class__name(key->class), fp);
	print_member("function", key->function, fp);
	print_member("module", key->module, fp);
	print_member("process", key->comm, fp);
	fprintf(fp, ", \"pid\": %d", (pid_t)key->pid);
	print_member("cgroup", key->cgroup ?: "", fp);
	print_build_id(row->hit, fp);
	fprintf(fp, ", \"ns\": %" PRIu64 ", \"samples\": %" PRIu64, ns,
		profile__samples(ns, m->period));
	fputs(", \"stack\": \"", fp);
	if (row->hit && row->hit->chain)
		fprintf(fp, "%016" PRIx64, hash_of(stack));
	fputs("\"}\n", fp);
	temp_file__check(&rows->lines);
	return 0;
}

/* 0 or -errno: what is still in the buffer of @fp may fail later. */
int rows__print(struct rows *rows, FILE *fp)
{
	return temp_file__copy(&rows->lines, fp);
}
