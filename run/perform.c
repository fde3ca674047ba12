/* run/perform.c - see perform.h.
 *
 * A thread whose turn it is may have to wait where the script did not expect it: for malloc's lock, which another one
 * holds where it was interrupted. Then another goes on until the first is woken: who has the next turn, else the
 * oldest. So the run stays the same from one performance to the next even where the script is not exact. */
#include "run/perform.h"

#include "run/stage.h"

#include <string.h>
#include <unistd.h>

enum { NAP_US = 500 };

/* ---- who is next ---- */

static struct actor *ready(const struct stage *s, const char *name)
{
	struct actor *a = stage_find(s, name);

	return a && a->state == ACTOR_READY ? a : NULL;
}

static struct actor *oldest_ready(const struct stage *s)
{
	for (size_t i = 0; i < s->actors.len; i++)
		if (s->actors.data[i]->state == ACTOR_READY)
			return s->actors.data[i];
	return NULL;
}

static void end_turn(struct performance *p, bool as_written)
{
	p->missed += !as_written;
	p->steps = 0;
	p->at++;
}

static const struct turn *this_turn(const struct performance *p)
{
	return p->begun && p->at < p->nturns ? &p->turns[p->at] : NULL;
}

static bool is_turn_of(const struct performance *p, const struct actor *a)
{
	const struct turn *t = this_turn(p);

	return t && !strcmp(t->thread, a->name);
}

/* In place of the one whose turn it is. */
static struct actor *stand_in(const struct performance *p)
{
	for (size_t i = p->at + 1; i < p->nturns; i++) {
		struct actor *a = ready(p->stage, p->turns[i].thread);

		if (a)
			return a;
	}
	return oldest_ready(p->stage);
}

static struct actor *choose(struct performance *p)
{
	const struct turn *t;
	struct actor *a;

	p->stage->awaited = NULL;
	for (;; end_turn(p, !t->at)) { /* who has ended has no turns */
		t = this_turn(p);
		a = t ? stage_find(p->stage, t->thread) : NULL;
		if (!a || a->state != ACTOR_GONE)
			break;
	}
	if (!t)
		return p->now && p->now->state == ACTOR_READY ? p->now : oldest_ready(p->stage);
	if (!a)
		return stand_in(p);
	if (a->state == ACTOR_READY)
		return a;
	if (!actor_waits_forever(p->stage, a))
		return NULL; /* it will come back by itself */
	p->stage->awaited = a;
	return stand_in(p);
}

/* ---- nobody is ready ---- */

static bool is_over(const struct stage *s)
{
	for (size_t i = 0; i < s->actors.len; i++)
		if (s->actors.data[i]->state != ACTOR_GONE)
			return false;
	return true;
}

static bool is_stuck(const struct stage *s)
{
	for (size_t i = 0; i < s->actors.len; i++) {
		const struct actor *a = s->actors.data[i];

		if (a->state != ACTOR_GONE &&
		    (a->state == ACTOR_READY || !actor_waits_forever(s, a)))
			return false;
	}
	return true;
}

bool wait_for_somebody(struct stage *s, enum performed *ret)
{
	if (is_over(s))
		*ret = PERFORM_EXITS;
	else if (is_stuck(s))
		*ret = PERFORM_STUCK;
	else if (stage_is_late(s))
		*ret = PERFORM_LATE;
	else {
		usleep(NAP_US);
		stage_look_around(s);
		return true;
	}
	return false;
}

/* ---- by a script ---- */

/* There is an order from now on: set what it needs. */
static void begin(struct performance *p)
{
	struct stage *s = p->stage;

	p->begun = true;
	for (size_t i = 0; i < p->nturns; i++) {
		uint64_t at = p->turns[i].at + s->bias;

		if (!p->turns[i].at || map_find(&p->wanted, at))
			continue;
		stage_set_break(s, at);
		map_put(&p->wanted, at, 1);
	}
}

/* True: the debugger wants to know. */
static bool meet_break(struct performance *p, struct actor *a)
{
	const struct turn *t = this_turn(p);
	uint64_t at = stage_place(p->stage, a);

	if (is_turn_of(p, a) && t->at == at && !p->steps &&
	    map_get_or(&a->hits, at + p->stage->bias, 0) == t->hit) {
		p->steps = t->steps;
		if (!t->steps)
			end_turn(p, true);
	}
	for (size_t i = 0; i < p->stage->breaks.len; i++)
		if (p->stage->breaks.data[i].at == at + p->stage->bias)
			return p->stage->breaks.data[i].users >
			       (map_find(&p->wanted, at + p->stage->bias) != NULL);
	return false;
}

static void count_step(struct performance *p, const struct actor *a)
{
	if (is_turn_of(p, a) && p->steps && !--p->steps)
		end_turn(p, true);
}

/* One move of an actor; true: *ret is to be told. */
static bool move(struct performance *p, struct actor *a, enum performed *ret)
{
	bool step = (p->steps && is_turn_of(p, a)) || p->stepped == a;
	enum stage_stop stop = stage_go(p->stage, a, step ? STAGE_STEP : STAGE_ON);
	bool tell = step && p->stepped == a;

	*ret = PERFORM_STEPPED;
	switch (stop) {
	case STAGE_FAILED:
		*ret = PERFORM_FAILED;
		return true;
	case STAGE_EXITS:
		*ret = PERFORM_EXITS;
		return true;
	case STAGE_LATE:
		*ret = PERFORM_LATE;
		return true;
	case STAGE_BREAK:
		if (step)
			count_step(p, a);
		if (meet_break(p, a)) {
			*ret = PERFORM_BREAK;
			return true;
		}
		return tell;
	case STAGE_STEPPED:
		count_step(p, a);
		return tell;
	case STAGE_ASLEEP:
	case STAGE_GONE:
		if (is_turn_of(p, a) && (!this_turn(p)->at || stop == STAGE_GONE))
			end_turn(p, !this_turn(p)->at);
		return false;
	case STAGE_BORN:
		if (p->begun)
			return false;
		begin(p);
		*ret = PERFORM_BEGUN;
		return p->only_begin;
	case STAGE_WOKE:
		return false;
	}
	return false;
}

enum performed perform(struct performance *p)
{
	enum performed ret;

	for (;;) {
		struct actor *a = choose(p);

		if (!a) {
			if (!wait_for_somebody(p->stage, &ret))
				return ret;
			continue;
		}
		p->now = a;
		if (move(p, a, &ret))
			return ret;
	}
}

void performance_deinit(struct performance *p)
{
	map_deinit(&p->wanted);
}
