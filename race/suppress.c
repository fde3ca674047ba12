#include "race/suppress.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "race/race.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void suppressions_deinit(struct suppressions *s)
{
	for (size_t i = 0; i < s->len; i++)
		free(s->data[i].pattern);
	vec_deinit(s);
}

/* ---- patterns ---- */

/* The part of a pattern up to its next sign. */
static size_t part_length(const char *p)
{
	return strcspn(p, "*$");
}

bool suppression_pattern_matches(const char *pattern, const char *text)
{
	bool at_start = *pattern == '^', any = false;

	if (!*text)
		return false;
	pattern += at_start;
	while (*pattern) {
		size_t len = part_length(pattern);
		const char *found;

		if (*pattern == '*') {
			pattern++;
			at_start = false;
			any = true;
			continue;
		}
		if (*pattern == '$')
			return !*text || any;
		found = memmem(text, strlen(text), pattern, len);
		if (!found || (at_start && found != text))
			return false;
		/* the last part must stand at the end: look for it there */
		if (pattern[len] == '$' && !at_start && strlen(text) >= len)
			found = text + strlen(text) - len;
		if (memcmp(found, pattern, len) != 0)
			return false;
		text = found + len;
		pattern += len;
		at_start = any = false;
	}
	return true;
}

/* ---- files ---- */

static const struct {
	const char *name;
	enum suppression_kind kind;
	bool ours;
} kinds[] = {
	{ "race:", SUPPRESS_RACE, true },
	{ "race_top:", SUPPRESS_TOP, true },
	{ "called_from_lib:", SUPPRESS_LIBRARY, true },
	{ "thread:", 0, false },
	{ "mutex:", 0, false },
	{ "signal:", 0, false },
	{ "deadlock:", 0, false },
};

static struct err *add_line(struct suppressions *s, const char *text, unsigned line)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i].name);

		if (strncmp(text, kinds[i].name, len) != 0)
			continue;
		if (kinds[i].ours)
			vec_push(s, (struct suppression){ .kind = kinds[i].kind,
							  .pattern = xstrdup(text + len),
							  .line = line });
		return NULL;
	}
	return err_new(ERR_ENV, "line %u: `%.60s' is no suppression (race:NAME, race_top:NAME)",
		       line, text);
}

struct err *suppressions_load(struct suppressions *s, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);
	char *at = text.data;
	unsigned line = 0;

	while (!err && at && *at) {
		char *end = strchrnul(at, '\n'), *next = *end ? end + 1 : end;

		line++;
		while (end > at && isspace((unsigned char)end[-1]))
			end--;
		*end = 0;
		at += strspn(at, " \t");
		if (*at && *at != '#')
			err = add_line(s, at, line);
		at = next;
	}
	return err_wrap(err, "%s", path);
}

/* ---- races ---- */

static bool names(const struct suppression *s, const char *text)
{
	return text && suppression_pattern_matches(s->pattern, text);
}

static bool speaks_of(const struct suppression *s, const struct race *r)
{
	if (s->kind == SUPPRESS_LIBRARY)
		return false;
	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &r->side[i];

		if (names(s, side->function) || names(s, side->file))
			return true;
		for (size_t n = 0; s->kind == SUPPRESS_RACE && n < side->stack.len; n++)
			if (names(s, side->stack.data[n].function) ||
			    names(s, side->stack.data[n].file))
				return true;
	}
	return s->kind == SUPPRESS_RACE && names(s, r->object);
}

bool suppressions_match(struct suppressions *s, const struct race *r)
{
	for (size_t i = 0; i < s->len; i++)
		if (speaks_of(&s->data[i], r)) {
			s->data[i].hits++;
			return true;
		}
	return false;
}

void suppressions_write(const struct races *races, struct strbuf *out)
{
	for (size_t i = 0; i < races->len; i++) {
		const struct race *r = &races->data[i];

		if (r->verdict != RACE_HARMLESS || !r->proved)
			continue;
		strbuf_addf(out, "# %s: %s:%u with %s:%u, both orders do the same (proved)\n",
			    r->object, r->side[0].file, r->side[0].line, r->side[1].file,
			    r->side[1].line);
		strbuf_addf(out, "race_top:^%s$\n", r->side[0].function);
	}
}
