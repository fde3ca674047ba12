/* base/racing.c - see racing.h. */
#include "base/racing.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

void racing_deinit(struct racing *r)
{
	for (size_t i = 0; i < r->len; i++)
		free(r->data[i].file);
	vec_deinit(r);
}

struct racing_line *racing_find(const struct racing *r, const char *file, uint32_t line)
{
	for (size_t i = 0; i < r->len; i++)
		if (r->data[i].line == line && strcmp(r->data[i].file, file) == 0)
			return &r->data[i];
	return NULL;
}

void racing_add(struct racing *r, const char *file, uint32_t line)
{
	if (!racing_find(r, file, line))
		vec_push(r, ((struct racing_line){ .file = xstrdup(file), .line = line }));
}

/* FILE:LINE; false: it is something else. */
static bool add_text(struct racing *r, char *text)
{
	char *colon = strrchr(text, ':'), *end;
	unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9' || *end || !line ||
	    line > UINT32_MAX)
		return false;
	*colon = '\0';
	racing_add(r, text, (uint32_t)line);
	return true;
}

static struct err *parse(struct racing *r, char *text, const char *path)
{
	unsigned n = 0;

	for (char *line; (line = strsep(&text, "\n"));) {
		n++;
		line += strspn(line, " \t");
		line[strcspn(line, "#\r")] = '\0';
		for (size_t len = strlen(line); len && line[len - 1] == ' ';)
			line[--len] = '\0';
		if (*line && !add_text(r, line))
			return err_new(
				ERR_ENV,
				"%s: line %u is not FILE:LINE, as a list of racing lines has it",
				path, n);
	}
	return NULL;
}

struct err *racing_read(struct racing *r, const char *path, bool may_be_new)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err;

	if (may_be_new && !file_exists(path))
		return NULL;
	err = file_read(path, &text);
	if (!err && text.len && memchr(text.data, '\0', text.len))
		err = err_new(ERR_ENV, "%s is no list of racing lines", path);
	if (!err && text.len)
		err = parse(r, text.data, path);
	return err;
}

static int by_place(const void *a, const void *b)
{
	const struct racing_line *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

struct err *racing_write(struct racing *r, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	if (r->len)
		qsort(r->data, r->len, sizeof(*r->data), by_place);
	strbuf_adds(&text, "# lines that race: build with `unplait cc --unplait-racing=THIS FILE', "
			   "and recordings have their order\n");
	for (size_t i = 0; i < r->len; i++)
		strbuf_addf(&text, "%s:%u\n", r->data[i].file, r->data[i].line);
	return file_write(path, text.data, text.len);
}
