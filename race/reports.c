/* race/reports.c - see reports.h: which reader a file needs, and what all readers share. */
#include "race/reports.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/format.h"

#include <stdlib.h>
#include <string.h>

static void place_deinit(struct report_place *p)
{
	free(p->file);
	free(p->function);
	memset(p, 0, sizeof(*p));
}

void report_deinit(struct race_report *r)
{
	place_deinit(&r->place[0]);
	place_deinit(&r->place[1]);
	free(r->object);
	memset(r, 0, sizeof(*r));
}

void race_reports_deinit(struct race_reports *r)
{
	for (size_t i = 0; i < r->len; i++)
		report_deinit(&r->data[i]);
	vec_deinit(r);
	memset(r, 0, sizeof(*r));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_end_of(const char *end, const char *path)
{
	size_t n = strlen(end), all = strlen(path);

	return n <= all && !strcmp(path + all - n, end) && (n == all || path[all - n - 1] == '/');
}

bool report_same_file(const char *a, const char *b)
{
	if (strncmp(a, "./", 2) == 0)
		a += 2;
	if (strncmp(b, "./", 2) == 0)
		b += 2;
	if (is_end_of(a, b) || is_end_of(b, a))
		return true;
	return *a == '/' && *b == '/' && !strcmp(base_name(a), base_name(b));
}

static bool same_place(const struct report_place *a, const struct report_place *b)
{
	if (a->site || b->site)
		return a->site == b->site;
	return a->line == b->line && a->file && b->file && report_same_file(a->file, b->file);
}

static bool is_same(const struct race_report *a, const struct race_report *b)
{
	return (same_place(&a->place[0], &b->place[0]) && same_place(&a->place[1], &b->place[1])) ||
	       (same_place(&a->place[0], &b->place[1]) && same_place(&a->place[1], &b->place[0]));
}

static bool is_named(const struct report_place *p)
{
	return p->site || (p->file && p->line);
}

void reports_take(struct race_reports *r, struct race_report *report)
{
	bool named = is_named(&report->place[0]) && is_named(&report->place[1]), known = false;

	for (size_t i = 0; i < r->len && named && !known; i++)
		known = is_same(&r->data[i], report);
	r->nameless += !named;
	r->repeated += known;
	if (named && !known)
		vec_push(r, *report);
	else
		report_deinit(report);
	memset(report, 0, sizeof(*report));
}

static bool begins_with(const struct file_map *m, const char *text)
{
	return m->len >= strlen(text) && !memcmp(m->data, text, strlen(text));
}

static bool has(const struct file_map *m, const char *text)
{
	return memmem(m->data, m->len, text, strlen(text)) != NULL;
}

static bool looks_like_std(const struct file_map *m)
{
	const char *end = memchr(m->data, '\n', MIN(m->len, (size_t)4096));
	size_t len = end ? (size_t)(end - (const char *)m->data) : MIN(m->len, (size_t)4096);

	return memchr(m->data, '|', len) && memchr(m->data, '(', len);
}

static struct err *read_mapped(const char *path, const struct file_map *m, struct race_reports *ret)
{
	const char *text = (const char *)m->data;

	if (!m->len)
		return err_new(ERR_ENV, "the file is empty");
	if (begins_with(m, PLAIT_MAGIC)) {
		return reports_from_plait(path, ret);
	} else if (has(m, "WARNING: ThreadSanitizer")) {
		reports_from_tsan(text, m->len, ret);
	} else if (begins_with(m, "<?xml") || has(m, "<valgrindoutput>")) {
		if (!has(m, "<valgrindoutput>"))
			return err_new(ERR_ENV, "XML, but not of valgrind");
		reports_from_helgrind(text, m->len, ret);
	} else if (looks_like_std(m)) {
		return reports_from_std(text, m->len, ret);
	} else if (has(m, "ThreadSanitizer")) {
		ret->tool = "ThreadSanitizer"; /* a log without a race */
	} else {
		return err_new(ERR_ENV,
			       "neither a log of ThreadSanitizer, nor XML of helgrind, nor "
			       "a plait, nor a std trace");
	}
	return NULL;
}

struct err *race_reports_read(const char *path, struct race_reports *ret)
{
	struct file_map m = { 0 };
	struct err *err = file_map_open(path, &m);

	if (err)
		return err;
	err = err_wrap(read_mapped(path, &m, ret), "%s", path);
	file_map_close(&m);
	return err;
}
