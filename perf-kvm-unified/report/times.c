// SPDX-License-Identifier: GPL-2.0
/*
 * The times that users ask for, as they type them.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "util/debug.h"
#include "util/evlist.h"
#include "util/session.h"
#include "util/strbuf.h"
#include "util/time-utils.h"
#include "kvm-unified/axis/types.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/measure/measurement.h"
#include "times.h"

/* Between two parts, as in perf */
#define BLANKS		" \t\n"
/* What is between parts in percent */
#define PARTS		"," BLANKS
/* More digits than that are no time. */
#define TIME_LEN	64

/* Times that cannot be are none: what is counted from them is not to come around. */
struct recorded recorded__of(const struct perf_session *session)
{
	const struct recorded rec = {
		.first = evlist__first_sample_time(session->evlist),
		.last = evlist__last_sample_time(session->evlist),
	};

	if (rec.last < rec.first || rec.last > LLONG_MAX)
		return (struct recorded) { };
	return rec;
}

/*
 * When "seconds since the start" are 0: at the first sample, as perf has it for its percent. The
 * axis begins with the period that this sample stands for. When it has begun
 */
u64 measurement__zero(const struct measurement *m)
{
	struct recorded rec = recorded__of(m->session);

	/* A stream has it nowhere but in the sample itself. */
	return rec.first ?: m->first <= m->last ? m->first : m->axis.span.start;
}

/* "1.5", "1.5s", "500ms", "100us", "100ns". 0 or -EINVAL */
int parse_duration(const char *str, u64 *ns)
{
	static const struct {
		const char	*name;
		double		ns;
	} units[] = {
		{ "", NSEC_PER_SEC }, { "s", NSEC_PER_SEC }, { "ms", NSEC_PER_MSEC },
		{ "us", NSEC_PER_USEC }, { "ns", 1 },
	};
	size_t len = strspn(str, "0123456789.");
	char *end;
	double number = strtod(str, &end);

	if (!len || end != str + len)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].name))
			continue;
		number = round(number * units[i].ns);
		if (number >= (double)LLONG_MAX)
			return -EINVAL;
		*ns = number;
		return 0;
	}
	return -EINVAL;
}

/* Is there a time that begins with a sign? perf knows none of them. */
static bool times__are_relative(const char *str)
{
	for (const char *c = str; *c; c++) {
		if ((*c == '+' || *c == '-') && (c == str || strchr("," BLANKS, c[-1])))
			return true;
	}
	return false;
}

/*
 * One of the two ends of a part: @all is the sign of the one that is all of that side. 0 is no
 * limit. 0 or -EINVAL
 */
static int parse_end(const char *str, size_t len, char all, const struct recorded *rec, u64 *time)
{
	char buf[TIME_LEN];
	u64 ns;

	*time = 0;
	if (!len)
		return 0;
	if (len >= sizeof(buf))
		return -EINVAL;
	strlcpy(buf, str, len + 1);
	if (isdigit(buf[0]))
		return parse_nsec_time(buf, time) ? -EINVAL : 0;
	if ((buf[0] != '+' && buf[0] != '-') || parse_duration(buf + 1, &ns))
		return -EINVAL;
	/* The period of the first sample is before it. */
	if (!ns)
		return buf[0] == all ? 0 : -EINVAL;
	if (buf[0] == '+')
		*time = min_t(u64, ns, LLONG_MAX - rec->first) + rec->first;
	else
		*time = rec->last > ns ? rec->last - ns : 1;
	return 0;
}

/* "+10,+15": @len bytes. 0 or -EINVAL */
static int parse_part(const char *str, size_t len, const struct recorded *rec,
		      struct perf_time_interval *time)
{
	const char *comma = memchr(str, ',', len), *stop;

	if (!comma)
		return -EINVAL;
	stop = comma + 1;
	if (parse_end(str, comma - str, '+', rec, &time->start) ||
	    parse_end(stop, str + len - stop, '-', rec, &time->end))
		return -EINVAL;
	return 0;
}

/* Parts with blanks between them. How many there are, -EINVAL or -ENOMEM */
static int parse_parts(const char *str, const struct recorded *rec,
		       struct perf_time_interval **times)
{
	int nr = 0;

	/* More than there can be: a part has a blank after it, or is the last. */
	*times = calloc(strlen(str) + 1, sizeof(**times));
	if (!*times)
		return -ENOMEM;
	for (str += strspn(str, BLANKS); *str; str += strspn(str, BLANKS)) {
		size_t len = strcspn(str, BLANKS);

		if (parse_part(str, len, rec, &(*times)[nr++]))
			return -EINVAL;
		str += len;
	}
	return nr ?: -EINVAL;
}

/**
 * times__parse_relative - "+12,", "+10,+15", "-10s,", "100.5,+15", several with blanks between
 * @times: gets them, for free()
 *
 * How many there are, -EINVAL, -ENODATA if @rec does not say when samples were, or -ENOMEM
 */
int times__parse_relative(const char *str, const struct recorded *rec,
			  struct perf_time_interval **times)
{
	return rec->first ? parse_parts(str, rec, times) : -ENODATA;
}

/* An end of 0 is that of the file, and 1 is before all that can be. */
static bool has_early_end(const struct perf_time_interval *times, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (times[i].end > 1 && times[i].start >= times[i].end)
			return true;
	}
	return false;
}

/* Are they written in a way that perf script does not know? */
bool times__are_own(const char *str)
{
	return times__are_relative(str) || (strchr(str, '%') && strpbrk(str, BLANKS));
}

/* Is there a part that ends before it begins, or where it begins? perf says that it is invalid. */
bool times__end_too_early(const char *str, const struct recorded *rec)
{
	struct perf_time_interval *times = NULL;
	int nr = times__are_relative(str) ? times__parse_relative(str, rec, &times) :
					    parse_parts(str, rec, &times);
	bool found = has_early_end(times, nr);

	free(times);
	return found;
}

static int time_interval__cmp(const void *_a, const void *_b)
{
	const struct perf_time_interval *a = _a, *b = _b;

	return sort_cmp(a->start, b->start);
}

/* Parts that overlap are not to be counted twice. An end of 0 is that of the file. */
static int merge_times(struct perf_time_interval *times, int nr)
{
	int merged = 0;

	qsort(times, nr, sizeof(*times), time_interval__cmp);
	for (int i = 1; i < nr; i++) {
		struct perf_time_interval *last = &times[merged];

		if (last->end && times[i].start > last->end) {
			times[++merged] = times[i];
			continue;
		}
		if (last->end)
			last->end = times[i].end ? max(last->end, times[i].end) : 0;
	}
	return merged + 1;
}

/*
 * As all parts here: the end is the first ns after it, and perf's is the last in it. 0 % and
 * 100 % are no limit: the period of the first sample is before it.
 */
static void convert_percent(struct perf_time_interval *time, const struct recorded *rec)
{
	/* Is refused */
	if (time->start >= time->end)
		return;
	if (time->start <= rec->first)
		time->start = 0;
	time->end = time->end < rec->last ? time->end + 1 : 0;
}

/*
 * perf has commas between parts in percent, and no blanks: it would take the first one alone. How
 * many there are, -EINVAL or -ENOMEM
 */
static int parse_percent(const char *str, struct perf_session *session,
			 const struct recorded *rec, struct perf_time_interval **times)
{
	char *list = zalloc(strlen(str) + 1);
	int nr = -EINVAL, size;
	size_t len = 0;

	if (!list)
		return -ENOMEM;
	for (str += strspn(str, PARTS); *str; str += strspn(str, PARTS)) {
		size_t part = strcspn(str, PARTS);

		/* "10%-20%" or "10%/2": perf looks for the other half of one in a list. */
		if (!memchr(str, '-', part) && !memchr(str, '/', part) &&
		    (len || str[part + strspn(str + part, PARTS)]))
			goto out;
		if (len)
			list[len++] = ',';
		memcpy(list + len, str, part);
		len += part;
		str += part;
	}
	if (!len || perf_time__parse_for_ranges(list, session, times, &size, &nr))
		nr = -EINVAL;
	for (int i = 0; i < nr; i++)
		convert_percent(&(*times)[i], rec);
out:
	free(list);
	return nr;
}

/**
 * times__parse - the value of --time
 * @times: gets the parts, in order and without an overlap, for free(), whatever comes of it; an
 *	end is the first ns after its part, or 0: there is none
 *
 * How many there are, or -EINVAL with a message
 */
int times__parse(const char *str, struct perf_session *session, struct perf_time_interval **times)
{
	struct recorded rec = recorded__of(session);
	int nr = 0, size;

	if (times__end_too_early(str, &rec)) {
		pr_err("--time: '%s' ends before it begins, or where it begins.\n", str);
		return -EINVAL;
	}
	if (times__are_relative(str))
		nr = times__parse_relative(str, &rec, times);
	else if (strchr(str, '%'))
		nr = rec.first ? parse_percent(str, session, &rec, times) : -ENODATA;
	else if (perf_time__parse_for_ranges(str, session, times, &size, &nr))
		nr = -EINVAL;
	if (nr == -ENODATA) {
		pr_err("--time: the profile does not say when its first and last samples were, so '%s'\n"
		       "is of no use: give times of the host's clock, as perf kvm unified script has them. A stream\n"
		       "has no such times, nor has a profile that was recorded with -B (--no-buildid),\n"
		       "or whose recorder was killed.\n",
		       str);
		return -EINVAL;
	}
	if (nr > 0 && !has_early_end(*times, nr))
		return merge_times(*times, nr);
	pr_err("--time wants start,stop in seconds of the host's clock, since the start (+10,+15) or from\n"
	       "the end (-10s,), or parts such as 10%%-20%%, not '%s'\n", str);
	return -EINVAL;
}

/**
 * times__to_text - as --time of perf's own commands takes them
 * @times: @nr of them, as times__parse() gives them; an open end is so in the text, too
 * @text: gets them, in seconds of the host's clock; perf's ends are the last ns of a part
 *
 * 0 or -ENOMEM
 */
int times__to_text(const struct perf_time_interval *times, int nr, struct strbuf *text)
{
	int ret = 0;

	for (int i = 0; !ret && i < nr; i++) {
		char start[TIMES_TEXT_LEN / 2] = "", end[TIMES_TEXT_LEN / 2] = "";

		if (times[i].start)
			timestamp__scnprintf_nsec(times[i].start, start, sizeof(start));
		if (times[i].end)
			timestamp__scnprintf_nsec(max_t(u64, times[i].end - 1, 1), end,
						  sizeof(end));
		ret = strbuf_addf(text, "%s%s,%s", i ? " " : "", start, end);
	}
	return ret;
}

/* @times: @nr of them, as times__parse() gives them; 0: all of @span, which they may go beyond */
struct chosen_time times__chosen(const struct perf_time_interval *times, int nr,
				 const struct axis_span *span)
{
	struct chosen_time chosen = { .start = span->start };

	if (!nr)
		chosen.duration = span->end - span->start;
	for (int i = 0; i < nr; i++) {
		u64 start = max(times[i].start, span->start);
		u64 end = times[i].end ? min(times[i].end, span->end) : span->end;

		if (start >= end)
			continue;
		if (!chosen.duration)
			chosen.start = start;
		chosen.duration += end - start;
	}
	return chosen;
}

/* @time in seconds since @zero, which it may be before */
static double since(u64 time, u64 zero)
{
	return (double)(s64)(time - zero) / NSEC_PER_SEC;
}

/**
 * times__check - is there anything of what was asked for?
 * @str: as it was
 * @zero: see measurement__zero()
 *
 * When the axis is at its end. Of what is outside of it, and left out, there is a warning.
 * 0, or -ENOENT with a message
 */
int times__check(const char *str, const struct perf_time_interval *times, int nr,
		 const struct axis_span *span, u64 zero)
{
	bool found = !nr, is_relative = nr && times__are_relative(str);
	/* In the words of who wants it */
	const char *of = is_relative ? "since the start" : "of the host's clock";
	u64 from = is_relative ? zero : 0;

	/* Without a sample there is no time, and more to be told than that. */
	if (!span->end)
		return 0;
	for (int i = 0; i < nr; i++)
		found |= times[i].start < span->end &&
			 (!times[i].end || times[i].end > span->start);
	if (!found) {
		pr_err("--time: the measurement is from %.6f to %.6f, %.3f s.%s\n",
		       (double)span->start / NSEC_PER_SEC, (double)span->end / NSEC_PER_SEC,
		       since(span->end, span->start),
		       is_relative ? "" :
		       " Seconds since its start need a\nsign, as +3,+4.");
		return -ENOENT;
	}
	for (int i = 0; i < nr; i++) {
		u64 start = times[i].start ?: span->start, end = times[i].end ?: span->end;

		/* The report's first line has whole us. */
		if (start + NSEC_PER_USEC > span->start && end < span->end + NSEC_PER_USEC)
			continue;
		unified_warning("--time: from %.3f to %.3f s %s is more than there is: the measurement is\n"
				"from %.3f to %.3f s, and what is outside of it is left out.\n",
				since(start, from), since(end, from), of,
				since(max(span->start, from), from), since(span->end, from));
	}
	return 0;
}

/**
 * times__check_recorded - is there anything of what was asked for, by the first and last sample?
 *
 * 0, or -ENOENT with a message
 */
int times__check_recorded(const char *str, const struct perf_time_interval *times, int nr,
			  const struct perf_session *session)
{
	const struct recorded rec = recorded__of(session);
	const struct axis_span span = { .start = rec.first, .end = rec.last + 1 };

	return rec.first ? times__check(str, times, nr, &span, rec.first) : 0;
}
