/* run/script.c - see script.h. The section is text, a word and its values per line:
 *
 *	unplait script 1
 *	program /opt/bin/tool
 *	build-id 4f2a...
 *	signal 11                         or: deadlock
 *	stack 11e9 120c                   per thread: frames in the program, innermost first
 *	turn 0 wait
 *	turn 0.1 11e9 3 0                 thread, instruction, hit, steps
 */
#include "run/script.h"

#include "base/err.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "unplait script 1"

void script_deinit(struct script *s)
{
	free(s->program);
	free(s->loader);
	vec_deinit(&s->turns);
	vec_deinit(&s->end.frames);
	*s = (struct script){ 0 };
}

void script_write(const struct script *s, struct strbuf *out)
{
	bool begins = true;

	strbuf_addf(out, "%s\nprogram %s\n", FIRST_LINE, s->program);
	if (s->build_id[0])
		strbuf_addf(out, "build-id %s\n", s->build_id);
	if (s->loader)
		strbuf_addf(out, "loader %s\n", s->loader);
	if (s->end.signal)
		strbuf_addf(out, "signal %d\n", s->end.signal);
	else
		strbuf_adds(out, "deadlock\n");
	for (size_t i = 0; i < s->end.frames.len; i++) {
		uint64_t at = s->end.frames.data[i];

		if (begins)
			strbuf_adds(out, "stack");
		if (at)
			strbuf_addf(out, " %" PRIx64, at);
		else
			strbuf_addc(out, '\n');
		begins = !at;
	}
	for (size_t i = 0; i < s->turns.len; i++) {
		const struct turn *t = &s->turns.data[i];

		if (t->at)
			strbuf_addf(out, "turn %s %" PRIx64 " %u %u\n", t->thread, t->at, t->hit,
				    t->steps);
		else
			strbuf_addf(out, "turn %s wait\n", t->thread);
	}
}

/* ---- reading ---- */

static bool is_thread(const char *name)
{
	return name[0] == '0' && !name[strspn(name, "0123456789.")];
}

static bool parse_turn(const char *text, struct script *ret)
{
	struct turn t = { 0 };
	char wait[5] = "";

	if (sscanf(text, "%31s %4s", t.thread, wait) == 2 && !strcmp(wait, "wait"))
		t.at = 0;
	else if (sscanf(text, "%31s %" SCNx64 " %u %u", t.thread, &t.at, &t.hit, &t.steps) != 4 ||
		 !t.at || !t.hit)
		return false;
	if (!is_thread(t.thread))
		return false;
	vec_push(&ret->turns, t);
	return true;
}

static bool parse_stack(const char *text, struct script *ret)
{
	while (*text) {
		char *end;
		uint64_t at = strtoull(text, &end, 16);

		if (end == text || !at)
			return false;
		vec_push(&ret->end.frames, at);
		text = end + strspn(end, " ");
	}
	vec_push(&ret->end.frames, 0);
	return true;
}

static bool parse_line(const char *line, struct script *ret)
{
	const char *value = strchr(line, ' ');
	size_t n = value ? (size_t)(value - line) : strlen(line);

	value = value ? value + 1 : "";
	if (!strncmp(line, "program", n) && n == 7 && !ret->program)
		ret->program = xstrdup(value);
	else if (!strncmp(line, "build-id", n) && n == 8)
		return sscanf(value, "%40[0-9a-f]", ret->build_id) == 1;
	else if (!strncmp(line, "loader", n) && n == 6 && !ret->loader)
		ret->loader = xstrdup(value);
	else if (!strncmp(line, "signal", n) && n == 6)
		return sscanf(value, "%d", &ret->end.signal) == 1 && ret->end.signal > 0 &&
		       ret->end.signal < 65;
	else if (!strncmp(line, "deadlock", n) && n == 8)
		ret->end.signal = 0;
	else if (!strncmp(line, "stack", n) && n == 5)
		return parse_stack(value, ret);
	else if (!strncmp(line, "turn", n) && n == 4)
		return parse_turn(value, ret);
	else
		return false;
	return true;
}

struct err *script_parse(const void *data, size_t len, struct script *ret)
{
	char *text = xstrndup(data, len), *next = text, *line;
	size_t number = 0;
	bool good = true;

	*ret = (struct script){ 0 };
	while (good && (line = strsep(&next, "\n")) && (*line || next)) {
		number++;
		good = number == 1 ? !strcmp(line, FIRST_LINE) : parse_line(line, ret);
	}
	free(text);
	if (good && ret->program)
		return NULL;
	script_deinit(ret);
	return err_new(ERR_ENV, "line %zu of the plait's section \"%s\" is damaged", number,
		       SCRIPT_SECTION);
}
