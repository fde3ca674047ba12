/* crumbs/crumbs.c - see crumbs.h. What a file is, is seen in its first bytes; text is taken line by line. */
#include "crumbs/kinds.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/format.h"
#include "unplait/watch.h"

#include <string.h>

enum { LINES_MOST = 20000, LINE_MOST = 4096, BYTES_MOST = 64 << 20 };

static bool begins_with(const struct file_map *f, const void *magic, size_t n)
{
	return f->len >= n && !memcmp(f->data, magic, n);
}

static void read_line(struct crumbs *c, const char *line, size_t len, unsigned number)
{
	char *text;

	while (len && (line[len - 1] == '\r' || line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	text = arena_strndup(&c->arena, line, MIN(len, (size_t)LINE_MOST));
	if (!*text || crumbs_read_check(c, text) || crumbs_read_branches(c, text))
		return;
	vec_push(&c->lines, ((struct crumb_line){ text, number, c->files.len - 1 }));
}

/* The end of a log is what was printed before the failure: of a long one, that is read. */
static const char *last_lines(const char *text, size_t len, unsigned *number)
{
	const char *at = text + len, *start = len > BYTES_MOST ? at - BYTES_MOST : text;
	unsigned lines = 0;

	while (at > start && lines <= LINES_MOST)
		lines += *--at == '\n';
	if (at > text)
		at++;
	*number = 0;
	for (const char *p = text; p < at; p++)
		*number += *p == '\n';
	return at;
}

static struct err *read_text(struct crumbs *c, const char *path, const struct file_map *f)
{
	const char *text = (const char *)f->data, *end = text + f->len, *at;
	unsigned number;

	if (!f->len)
		return err_new(ERR_ENV, "%s: it is empty: no crumb", path);
	if (memchr(text, 0, f->len))
		return err_new(
			ERR_ENV,
			"%s: no crumb: neither a fingerprint of watch, nor a plait, nor text",
			path);
	at = last_lines(text, f->len, &number);
	c->passed += number;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		read_line(c, at, (size_t)(stop - at), ++number);
		at = stop + (stop < end);
	}
	crumbs_end_branches(c);
	return NULL;
}

static bool is_object(const struct file_map *f)
{
	size_t i = 0;

	while (i < f->len && strchr(" \t\r\n", f->data[i]) && f->data[i])
		i++;
	return i < f->len && f->data[i] == '{';
}

struct err *crumbs_read(struct crumbs *c, const char *path)
{
	const uint64_t area = WATCH_MAGIC;
	struct file_map f = { 0 };
	struct err *err = file_map_open(path, &f);

	if (err)
		return err;
	vec_push(&c->files, arena_strdup(&c->arena, path));
	if (begins_with(&f, PLAIT_MAGIC, strlen(PLAIT_MAGIC)))
		vec_push(&c->plaits, arena_strdup(&c->arena, path));
	else if (begins_with(&f, &area, sizeof(area)))
		err = crumbs_read_area(c, path);
	else if (is_object(&f))
		err = err_wrap(crumbs_read_fingerprint(c, (const char *)f.data, f.len), "%s", path);
	else
		err = read_text(c, path, &f);
	file_map_close(&f);
	return err;
}

struct err *crumbs_read_all(struct crumbs *c, const char *const *paths, size_t n)
{
	struct err *err = NULL;

	for (size_t i = 0; i < n && !err; i++)
		err = crumbs_read(c, paths[i]);
	return err;
}

void crumbs_deinit(struct crumbs *c)
{
	vec_deinit(&c->files);
	vec_deinit(&c->uses);
	vec_deinit(&c->plaits);
	vec_deinit(&c->lines);
	vec_deinit(&c->branches);
	vec_deinit(&c->checks);
	arena_deinit(&c->arena);
}
