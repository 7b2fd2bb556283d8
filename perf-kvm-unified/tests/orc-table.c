// SPDX-License-Identifier: GPL-2.0
/* collector/orc-table.c: tables for unwinding, out of a kernel's memory */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <perf/event.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "kvm-unified/collector/guest-mem.h"
#include "kvm-unified/collector/orc-table.h"
#include "kvm-unified/format/records.h"
#include "orc-table.h"

#define NR		4
/* Where the offsets are in the guest, and after them the entries */
#define BASE		0xffffffff82000000ULL
/* Functions of so many bytes */
#define CODE(_i)	(0xffffffff81000000ULL + (_i) * 0x100)

struct table {
	s32	offsets[NR];
	struct guest_orc_entry entries[NR];
};

/* @ret: what reads fail with */
struct made_up {
	struct guest_mem mem;
	struct table table;
	int	ret;
};

static int made_up__read(struct guest_mem *mem, u64 va, void *buf, size_t len)
{
	struct made_up *m = container_of(mem, struct made_up, mem);

	if (m->ret)
		return m->ret;
	if (va < BASE || va - BASE > sizeof(m->table) || len > sizeof(m->table) - (va - BASE))
		return -EFAULT;
	memcpy(buf, (char *)&m->table + (va - BASE), len);
	return 0;
}

/* The one record, or how often there was one */
struct written {
	struct perf_record_guest_orc rec;
	char	data[sizeof(struct table) + sizeof(u64)];
	int	nr;
};

static int write_one(void *arg, struct perf_record_guest_orc *rec)
{
	struct written *written = arg;

	written->nr++;
	if (rec->header.size > sizeof(rec[0]) + sizeof(written->data))
		return -E2BIG;
	written->rec = *rec;
	memcpy(written->data, rec->data, rec->header.size - sizeof(*rec));
	return 0;
}

static int check_layouts(void)
{
	TEST_ASSERT_EQUAL("6.1", orc_layout(false, "6.1.0-56-cloud-amd64"), GUEST_ORC_TYPE2_END);
	TEST_ASSERT_EQUAL("6.3", orc_layout(false, "6.3.13"), GUEST_ORC_TYPE2_SIGNAL);
	TEST_ASSERT_EQUAL("with a header", orc_layout(true, "6.3.13"), GUEST_ORC_TYPE3);
	TEST_ASSERT_EQUAL("no release", orc_layout(false, "x"), GUEST_ORC_TYPE2_END);
	return TEST_OK;
}

/* The entries from @first on are written, @nr of them. */
static int check_part(const struct made_up *m, const struct written *written, u32 first, u32 nr)
{
	static const char zeros[sizeof(u64)];
	const size_t used = nr * (sizeof(s32) + sizeof(struct guest_orc_entry));
	const size_t room = written->rec.header.size - sizeof(written->rec);

	TEST_ASSERT_EQUAL("one record", written->nr, 1);
	TEST_ASSERT_EQUAL("its kind", written->rec.header.type, PERF_RECORD_GUEST_ORC);
	TEST_ASSERT_EQUAL("its layout", written->rec.layout, GUEST_ORC_TYPE3);
	TEST_ASSERT_EQUAL("its entries", written->rec.nr, nr);
	TEST_ASSERT_VAL("its address", written->rec.addr == BASE + first * sizeof(s32));
	TEST_ASSERT_VAL("the offsets",
			!memcmp(written->data, &m->table.offsets[first], nr * sizeof(s32)));
	TEST_ASSERT_VAL("the entries", !memcmp(written->data + nr * sizeof(s32),
					       &m->table.entries[first],
					       nr * sizeof(struct guest_orc_entry)));
	TEST_ASSERT_VAL("aligned", !(written->rec.header.size % sizeof(u64)));
	TEST_ASSERT_VAL("no longer", room >= used && room - used < sizeof(u64));
	TEST_ASSERT_VAL("padded", !memcmp(written->data + used, zeros, room - used));
	return TEST_OK;
}

static int check_tables(struct made_up *m)
{
	const u64 entries = BASE + offsetof(struct table, entries);
	const struct orc_place whole = orc_place__between(BASE, entries, entries,
							  BASE + sizeof(struct table));
	struct orc_place place = whole;
	struct written written = { };
	int ret;

	ret = orc_place__write(&whole, &m->mem, GUEST_ORC_TYPE3, write_one, &written);
	TEST_ASSERT_EQUAL("a table", ret, 0);
	ret = check_part(m, &written, 0, NR);
	if (ret)
		return ret;

	/* A module's table does not have what its place was begun with. */
	TEST_ASSERT_EQUAL("cut", orc_place__cut(&place, &m->mem, CODE(1), CODE(2)), 0);
	written = (struct written) { };
	ret = orc_place__write(&place, &m->mem, GUEST_ORC_TYPE3, write_one, &written);
	TEST_ASSERT_EQUAL("a part", ret, 0);
	ret = check_part(m, &written, 1, 2);
	if (ret)
		return ret;

	written.nr = 0;
	place = orc_place__of(BASE, entries, 1ULL << 30);
	ret = orc_place__write(&place, &m->mem, GUEST_ORC_TYPE3, write_one, &written);
	TEST_ASSERT_VAL("more than any has: none", !ret && !written.nr);
	place = orc_place__between(BASE, entries, entries, BASE + sizeof(struct table) - 1);
	TEST_ASSERT_VAL("arrays of two lengths: none", !place.nr);
	place = orc_place__between(entries, BASE, entries, entries);
	TEST_ASSERT_VAL("the end before the start: none", !place.nr);
	place = orc_place__of(BASE, entries + sizeof(struct guest_orc_entry), NR);
	ret = orc_place__write(&place, &m->mem, GUEST_ORC_TYPE3, write_one, &written);
	TEST_ASSERT_VAL("not there: none", !ret && !written.nr);
	place = orc_place__of(0x1000, entries, NR);
	ret = orc_place__write(&place, &m->mem, GUEST_ORC_TYPE3, write_one, &written);
	TEST_ASSERT_VAL("not the kernel's: none", !ret && !written.nr);

	m->ret = -EDQUOT;
	ret = orc_place__write(&whole, &m->mem, GUEST_ORC_TYPE3, write_one, &written);
	TEST_ASSERT_VAL("it takes too long", ret == -EDQUOT && !written.nr);
	place = whole;
	TEST_ASSERT_EQUAL("nor cut", orc_place__cut(&place, &m->mem, 0, ~0ULL), -EDQUOT);
	return TEST_OK;
}

int test__orc_table(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct made_up m = { .mem.read = made_up__read };

	for (int i = 0; i < NR; i++) {
		m.table.offsets[i] = CODE(i) - (BASE + i * sizeof(s32));
		m.table.entries[i] = (struct guest_orc_entry) { .sp_offset = 8 * i, .bits = i };
	}
	return check_layouts() ?: check_tables(&m);
}
