/* race/from-std.c - races in a std trace, the format of RAPID and of `unplait export --format std'.
 *
 *	T1|w(V3)|217
 *
 * Threads, variables and locks are names; the operations are r, w, acq, rel, fork, join, begin and
 * end. The rules are the detector's own (sched/happens.h), with the position of a line as its time.
 * Per variable and thread the last read and the last write are remembered, so of many races between
 * two threads on a variable the latest are found. */
#include "race/reports.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "sched/happens.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_LEN = 4096 };

struct past {
	uint32_t thread, time, place;
	bool writes;
};

struct pasts VEC_FIELDS(struct past);

struct std {
	struct race_reports *ret;
	struct names threads, operands, places;
	struct map variables; /* operand -> index into pasts */
	VEC(struct pasts) pasts;
	struct happens happens;
	struct arena arena;
	struct map seen; /* pairs of places */
};

static void *get(void *context, size_t bytes)
{
	void *p = arena_alloc(context, bytes);

	memset(p, 0, bytes);
	return p;
}

static void name_place(const char *text, bool writes, struct report_place *ret)
{
	const char *colon = strrchr(text, ':');
	char *end;
	unsigned long number = strtoul(colon ? colon + 1 : text, &end, 10);

	ret->writes = writes;
	if (*end || end == text)
		return;
	if (!colon) {
		ret->site = (uint32_t)number;
	} else {
		ret->file = xstrndup(text, (size_t)(colon - text));
		ret->line = (uint32_t)number;
	}
}

static void race_found(struct std *s, const struct past *a, const struct past *b)
{
	struct race_report report = { 0 };
	uint64_t key = hash_u64((uint64_t)MIN(a->place, b->place) << 32 | MAX(a->place, b->place));

	if (*map_put(&s->seen, key, 0))
		return;
	*map_put(&s->seen, key, 0) = 1;
	name_place(s->places.text[a->place], a->writes, &report.place[0]);
	name_place(s->places.text[b->place], b->writes, &report.place[1]);
	reports_take(s->ret, &report);
}

static void access_variable(struct std *s, uint32_t operand, const struct past *now)
{
	uint64_t *index = map_put(&s->variables, operand, s->pasts.len);
	const struct happens_clock *knows = happens_knows(&s->happens, now->thread);
	struct pasts *p;
	struct past *mine = NULL;

	if (*index == s->pasts.len)
		vec_add(&s->pasts);
	p = &s->pasts.data[*index];
	for (size_t i = 0; i < p->len; i++) {
		struct past *old = &p->data[i];

		if (old->thread == now->thread) {
			if (old->writes == now->writes)
				mine = old;
			continue;
		}
		if ((old->writes || now->writes) &&
		    (old->thread >= knows->len || knows->at[old->thread] < old->time))
			race_found(s, old, now);
	}
	if (mine)
		*mine = *now;
	else
		vec_push(p, *now);
}

static bool do_operation(struct std *s, const char *op, const char *operand, const struct past *now)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} kinds[] = { { "acq", PLAIT_EV_LOCK },	  { "rel", PLAIT_EV_UNLOCK },
		      { "fork", PLAIT_EV_FORK },  { "join", PLAIT_EV_JOIN },
		      { "begin", PLAIT_EV_NONE }, { "end", PLAIT_EV_NONE } };
	struct happens_event e = { .thread = now->thread, .time = now->time };
	struct past access = *now;

	access.writes = !strcmp(op, "w");
	if (access.writes || !strcmp(op, "r")) {
		access_variable(s, names_intern(&s->operands, operand), &access);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(op, kinds[i].name) != 0)
			continue;
		e.kind = kinds[i].kind;
		e.object = names_intern(&s->operands, operand) + 1ull;
		if (e.kind == PLAIT_EV_FORK || e.kind == PLAIT_EV_JOIN)
			e.other = names_intern(&s->threads, operand);
		if (e.kind != PLAIT_EV_NONE)
			happens_event(&s->happens, &e);
		return true;
	}
	return false;
}

static struct err *take_line(struct std *s, char *line, unsigned number)
{
	char *op = strchr(line, '|'), *place = op ? strchr(op + 1, '|') : NULL;
	char *open = op ? strchr(op + 1, '(') : NULL, *close = open ? strchr(open, ')') : NULL;
	struct past now = { .time = number };

	if (!place || !open || !close || open > place || close > place)
		return err_new(ERR_ENV, "line %u is not THREAD|OPERATION(OPERAND)|LOCATION",
			       number);
	*op++ = *place++ = *open++ = *close = 0;
	now.thread = names_intern(&s->threads, line);
	now.place = names_intern(&s->places, place);
	if (now.thread >= PLAIT_MAX_THREADS || s->threads.len > PLAIT_MAX_THREADS)
		return err_new(ERR_ENV, "line %u: more than %d threads", number, PLAIT_MAX_THREADS);
	if (!do_operation(s, op, open, &now))
		return err_new(ERR_ENV, "line %u: an operation of that name is not known: %.20s",
			       number, op);
	return NULL;
}

struct err *reports_from_std(const char *text, size_t len, struct race_reports *ret)
{
	struct std s = { .ret = ret };
	const char *end = text + len;
	struct err *err = NULL;
	unsigned number = 0;

	ret->tool = "the std trace";
	happens_init(&s.happens, get, &s.arena);
	while (text < end && !err) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		char line[LINE_MAX_LEN];

		number++;
		if (stop - text >= LINE_MAX_LEN) {
			err = err_new(ERR_ENV, "line %u is too long", number);
			break;
		}
		memcpy(line, text, (size_t)(stop - text));
		line[stop - text] = 0;
		line[strcspn(line, "\r")] = 0;
		if (*line && *line != '#')
			err = take_line(&s, line, number);
		text = stop + 1;
	}
	for (size_t i = 0; i < s.pasts.len; i++)
		vec_deinit(&s.pasts.data[i]);
	vec_deinit(&s.pasts);
	names_deinit(&s.threads);
	names_deinit(&s.operands);
	names_deinit(&s.places);
	map_deinit(&s.variables);
	map_deinit(&s.seen);
	arena_deinit(&s.arena);
	return err;
}
