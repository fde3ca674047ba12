/* rewind/ask-threads.c - see ask.h: questions about several threads.
 *
 * The threads' steps are a model of the order engine (weave.h). An answer holds in all orders that lead to the dump if the
 * model with the opposite has no solution: "nobody comes in between" is a lock around both places, "another write is the
 * last one" an edge from the one that was found to that one. What the engine cannot decide in time is unknown. Only accesses to
 * memory that threads share are ordered, so these are what "between" is about. */
#include "rewind/ask-state.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMBINATIONS = 32, MOST_EDGES = 32 };

/* Is there an order that leads to the dump and fulfils this, for any of the ways of the threads? */
struct inquiry {
	struct rewind *r;
	double deadline; /* of work_seconds() */
};

static struct err *solve(struct inquiry *q, const struct track *const *tracks,
			 struct weave_question *w, enum order_status *ret)
{
	struct weave_input in = threads_input(q->r, tracks);
	struct weave weave;
	struct err *err;

	w->dump = true;
	err = weave_solve(&in, w, MAX(q->deadline - work_seconds(), 0.1), &weave);
	*ret = err || weave.problem ? ORDER_UNKNOWN : weave.answer.status;
	weave_deinit(&weave);
	return err;
}

/* ---- which thread ---- */

/* The mates in the order in which the first thread created them, as its walk back shows. How many it created. */
static size_t births(struct rewind *r, size_t *mates)
{
	struct threads *t = &r->threads;
	const struct node *leaf = tree_best(&t->tree), *n;
	size_t count = 0;

	for (n = leaf; n && n->parent; n = n->parent) /* oldest first */
		for (uint32_t i = 0; i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];
			uint64_t at, self;

			if (a->w || !a->is_write ||
			    !past_value(&r->h, leaf->past, a->address, &at) ||
			    !past_value(&r->h, leaf->past, past_load(&r->h, n->step.after, at, 64),
					&self))
				continue;
			for (size_t k = 0; k < t->mates.len && count < MOST_THREADS; k++)
				if (t->mates.data[k].self == self)
					mates[count++] = k;
		}
	return count;
}

/* "2": as the report numbers threads; "0.2": by birth. SIZE_MAX: not known, and why. */
static size_t mate_of(struct rewind *r, const char *name, char **why)
{
	const struct threads *t = &r->threads;
	size_t mates[MOST_THREADS], n;
	unsigned long number;
	char *end;

	if (!t->mates.len) {
		*why = xstrdup("the dump tells of no other thread");
		return SIZE_MAX;
	}
	number = strtoul(name, &end, 10);
	if (!*end && number >= 1 && number <= t->mates.len)
		return number - 1;
	if (!*end && number == 0) {
		*why = xstrdup("the first thread takes no part in the orders that are looked for");
		return SIZE_MAX;
	}
	if (strncmp(name, "0.", 2) == 0) {
		number = strtoul(name + 2, &end, 10);
		n = births(r, mates);
		if (!*end && number >= 1 && number <= n && n == t->mates.len)
			return mates[number - 1];
		if (!*end && number >= 1 && number <= t->mates.len && n != t->mates.len) {
			*why = xasprintf("in which order the threads were created is not known; "
					 "ask about thread 1 to %zu, as the report numbers them",
					 t->mates.len);
			return SIZE_MAX;
		}
	}
	*why = xasprintf("there is no thread %s; ask about thread 1 to %zu, or 0.1 and so on by "
			 "birth",
			 name, t->mates.len);
	return SIZE_MAX;
}

/* ---- who wrote it last? ---- */

static bool is_write_of(const struct ahead_event *e, const struct ask_target *t)
{
	return e->kind == AHEAD_WRITE && !e->future && ask_overlaps(t, e->address, e->w / 8u);
}

/* The last write in the order that was found. */
static bool last_write(const struct rewind *r, const struct ask_target *t, uint32_t *track,
		       uint32_t *event)
{
	const struct weave *w = &r->threads.weave;

	for (size_t i = w->answer.len; i-- > 0;) {
		const struct woven *k = &w->woven.data[w->answer.order[i]];
		const struct ahead_event *e;

		if (k->track == UINT32_MAX || !weave_happens(w, w->answer.order[i]))
			continue;
		e = &r->threads.chosen[k->track]->events.data[k->event];
		if (e->kind == AHEAD_READ &&
		    k->event + 1 < r->threads.chosen[k->track]->events.len && e[1].atomic)
			e++; /* a locked instruction is one event */
		if (!is_write_of(e, t))
			continue;
		*track = k->track;
		*event = (uint32_t)(e - r->threads.chosen[k->track]->events.data);
		return true;
	}
	return false;
}

bool ask_threads_wrote(const struct rewind *r, const struct ask_target *t)
{
	uint32_t track, event;

	return last_write(r, t, &track, &event);
}

/* Can another instruction, or another thread, have written last? */
static struct err *other_writer(struct inquiry *q, const struct ask_target *t, uint32_t track,
				uint32_t event, enum order_status *ret)
{
	struct threads *threads = &q->r->threads;
	uint32_t asked = 0;

	*ret = ORDER_UNSAT;
	for (uint32_t i = 0; i < threads->mates.len; i++)
		for (uint32_t k = 0; k < threads->chosen[i]->events.len; k++) {
			struct weave_question w = { .edges = { { track, event, i, k } },
						    .nedges = 1 };
			enum order_status status;
			struct err *err;

			if (i == track || !is_write_of(&threads->chosen[i]->events.data[k], t))
				continue;
			if (asked++ == MOST_EDGES) {
				*ret = ORDER_UNKNOWN;
				return NULL;
			}
			err = solve(q, threads->chosen, &w, &status);
			if (err || status == ORDER_SAT) {
				*ret = ORDER_SAT;
				return err;
			}
			if (status == ORDER_UNKNOWN)
				*ret = ORDER_UNKNOWN;
		}
	return NULL;
}

static size_t combinations(const struct threads *t)
{
	size_t n = 1;

	for (size_t i = 0; i < t->mates.len && n <= MOST_COMBINATIONS; i++)
		n *= MAX(t->tracks[i].all.len, 1u);
	return n;
}

struct err *ask_writer_of_threads(struct rewind *r, const struct ask_target *t, struct answer *ret)
{
	struct inquiry q = { r, work_seconds() + MAX(r->o.seconds / 4, 2.0) };
	struct threads *threads = &r->threads;
	struct strbuf sb = { 0 };
	enum order_status other;
	uint32_t track, event;
	uint64_t insn;
	struct err *err;

	if (!threads->found) {
		ret->why = xasprintf("several threads write it, and no order of their steps was "
				     "found%s%s",
				     threads->why ? ": " : "", threads->why ? threads->why : "");
		return NULL;
	}
	if (!ask_threads_wrote(r, t)) {
		ret->verdict = ASK_NONE;
		ret->text = xstrdup("no thread wrote it in the order that was found");
		return NULL;
	}
	last_write(r, t, &track, &event);
	err = other_writer(&q, t, track, event, &other);
	if (err)
		return err;
	insn = threads->chosen[track]->events.data[event].insn;
	ret->verdict = other == ORDER_UNSAT && threads->complete && combinations(threads) == 1
			       ? ASK_ALL
			       : ASK_SOME;
	ret->text = xstrdup(ret->verdict == ASK_ALL
				    ? "it was written last by one thread in every order of the "
				      "threads' steps that leads to the dump"
				    : "it was written last by this thread in the order that was "
				      "found");
	if (other == ORDER_SAT)
		ret->why = xstrdup("in other orders another thread writes it last");
	else if (ret->verdict == ASK_SOME)
		ret->why = xstrdup("whether other orders lead to the dump was not decided");
	ret->yes = ret->total = 1;
	strbuf_addf(&sb, "written by thread %u, at ", track + 1);
	dump_names_add_place(&r->names, insn, &sb);
	vec_push(&ret->found, ((struct ask_found){ .suffixes = 1,
						   .insn = insn,
						   .thread = xasprintf("%u", track + 1),
						   .text = strbuf_detach(&sb) }));
	return NULL;
}

/* ---- preempted? ---- */

/* From event `from` to event `to` of a track. */
struct stretch {
	uint32_t from, to;
};

static bool is_access(const struct ahead_event *e)
{
	return (e->kind == AHEAD_READ || e->kind == AHEAD_WRITE) && !e->future;
}

/* The next stretch behind event `at`, from its first access on one line to the last one on the other. */
static bool next_stretch(struct rewind *r, const struct track *t, const struct question *q,
			 uint32_t at, struct stretch *ret)
{
	uint32_t i = at;

	while (i < t->events.len &&
	       (!is_access(&t->events.data[i]) || !ask_is_at(r, t->events.data[i].insn, &q->from)))
		i++;
	ret->from = i++;
	while (i < t->events.len &&
	       (!is_access(&t->events.data[i]) || !ask_is_at(r, t->events.data[i].insn, &q->to)))
		i++;
	if (i >= t->events.len)
		return false;
	while (i + 1 < t->events.len && is_access(&t->events.data[i + 1]) &&
	       ask_is_at(r, t->events.data[i + 1].insn, &q->to))
		i++;
	ret->to = i;
	return true;
}

/* Does somebody else come in between in the order that was found? *who: the instruction. */
static bool is_between(struct rewind *r, uint32_t track, const struct stretch *s, uint32_t *by,
		       uint64_t *insn)
{
	const struct weave *w = &r->threads.weave;
	bool inside = false;

	for (size_t i = 0; i < w->answer.len; i++) {
		const struct woven *k = &w->woven.data[w->answer.order[i]];

		if (k->track == UINT32_MAX || !weave_happens(w, w->answer.order[i]))
			continue;
		if (k->track == track) {
			inside = k->event >= s->from && k->event < s->to;
			continue;
		}
		if (inside) {
			*by = k->track;
			*insn = r->threads.chosen[k->track]->events.data[k->event].insn;
			return true;
		}
	}
	return false;
}

/* Is there an order in which somebody comes between? */
static struct err *can_be(struct inquiry *q, const struct track *const *tracks, uint32_t track,
			  const struct stretch *s, enum order_status *ret)
{
	uint32_t asked = 0;

	*ret = ORDER_UNSAT;
	for (uint32_t i = 0; i < q->r->threads.mates.len; i++)
		for (uint32_t k = 0; i != track && k < tracks[i]->events.len; k++) {
			struct weave_question w = { .edges = { { track, s->from, i, k },
							       { i, k, track, s->to } },
						    .nedges = 2 };
			enum order_status status;
			struct err *err;

			if (!is_access(&tracks[i]->events.data[k]))
				continue;
			if (asked++ == MOST_EDGES) {
				*ret = ORDER_UNKNOWN;
				return NULL;
			}
			err = solve(q, tracks, &w, &status);
			if (err || status == ORDER_SAT) {
				*ret = ORDER_SAT;
				return err;
			}
			if (status == ORDER_UNKNOWN)
				*ret = ORDER_UNKNOWN;
		}
	return NULL;
}

struct verdicts {
	bool with, without; /* there is an order with, without */
	bool undecided;	    /* something was left open */
	uint32_t stretches; /* how often the thread came from the one line to the other */
	uint32_t by;	    /* who came between; UINT32_MAX: not seen */
	uint64_t insn;
};

/* One combination of ways. */
static struct err *ask_combination(struct inquiry *q, const struct question *asked,
				   const struct track *const *tracks, uint32_t track,
				   struct verdicts *v)
{
	struct rewind *r = q->r;
	enum order_status status;
	struct stretch s = { 0 };
	struct err *err = NULL;
	bool seen = false;

	for (uint32_t at = 0; next_stretch(r, tracks[track], asked, at, &s) && !err;
	     at = s.to + 1) {
		struct weave_question alone = { .first = tracks[track]->events.data[s.from].insn,
						.last = tracks[track]->events.data[s.to].insn,
						.every_place = true,
						.only = track + 1 };

		v->stretches++;
		if (!seen) { /* one lock keeps others out of all of them */
			err = solve(q, tracks, &alone, &status);
			v->without |= status == ORDER_SAT;
			v->undecided |= status == ORDER_UNKNOWN;
			seen = true;
		}
		if (!err && !v->with) {
			err = can_be(q, tracks, track, &s, &status);
			v->with |= status == ORDER_SAT;
			v->undecided |= status == ORDER_UNKNOWN;
		}
	}
	if (!seen) { /* on this way it did not come there: if the way is possible, it was not preempted there */
		struct weave_question any = { 0 };

		err = solve(q, tracks, &any, &status);
		v->without |= status == ORDER_SAT;
		v->undecided |= status == ORDER_UNKNOWN;
	}
	return err;
}

static void say_preempted(struct rewind *r, const struct verdicts *v, struct answer *a)
{
	const struct threads *t = &r->threads;
	struct strbuf sb = { 0 };

	a->verdict = v->with && v->without	    ? ASK_SOME
		     : v->undecided || !t->complete ? (v->with ? ASK_SOME : ASK_UNKNOWN)
		     : v->with			    ? ASK_ALL
						    : ASK_NONE;
	if (a->verdict == ASK_ALL)
		a->text = xstrdup("yes, in every order of the threads' steps that leads to the "
				  "dump");
	else if (a->verdict == ASK_SOME)
		a->text = xstrdup(v->without ? "in some orders of the threads' steps that lead to "
					       "the dump, not in others"
					     : "in some orders of the threads' steps that lead to "
					       "the dump, perhaps in all");
	else if (a->verdict == ASK_NONE)
		a->text = xstrdup("no, in no order of the threads' steps that leads to the dump");
	if (v->undecided)
		a->why = xstrdup("the order engine's time was over, or there were too many cases");
	else if (!t->complete && (a->verdict == ASK_SOME || a->verdict == ASK_UNKNOWN))
		a->why = xasprintf("the threads' ways are not known completely%s%s",
				   t->why ? ": " : "", t->why ? t->why : "");
	if (v->by == UINT32_MAX)
		return;
	strbuf_addf(&sb, "thread %u came in between, at ", v->by + 1);
	dump_names_add_place(&r->names, v->insn, &sb);
	vec_push(&a->found, ((struct ask_found){ .suffixes = 1,
						 .insn = v->insn,
						 .thread = xasprintf("%u", v->by + 1),
						 .text = strbuf_detach(&sb) }));
}

struct err *ask_preempted(struct rewind *r, struct answer *a)
{
	struct inquiry q = { r, work_seconds() + MAX(r->o.seconds / 4, 2.0) };
	struct threads *t = &r->threads;
	uint32_t at[MOST_THREADS] = { 0 }, n = 0;
	const struct track **tracks;
	struct verdicts v = { .by = UINT32_MAX };
	struct stretch s;
	struct err *err = NULL;
	size_t mate = mate_of(r, a->question.thread, &a->why);

	if (mate == SIZE_MAX)
		return NULL;
	if (!t->found) {
		a->why = xasprintf("no order of the threads' steps was found%s%s",
				   t->why ? ": " : "", t->why ? t->why : "");
		return NULL;
	}
	for (uint32_t from = 0;
	     v.by == UINT32_MAX && next_stretch(r, t->chosen[mate], &a->question, from, &s);
	     from = s.to + 1)
		v.with |= is_between(r, (uint32_t)mate, &s, &v.by, &v.insn);
	tracks = xcalloc(t->mates.len, sizeof(*tracks));
	do {
		for (size_t i = 0; i < t->mates.len; i++)
			tracks[i] = t->tracks[i].all.data[at[i]];
		err = ask_combination(&q, &a->question, tracks, (uint32_t)mate, &v);
	} while (!err && ++n < MOST_COMBINATIONS && work_seconds() < q.deadline &&
		 threads_next(t, at) && !(v.with && v.without));
	v.undecided |= n == MOST_COMBINATIONS || work_seconds() >= q.deadline;
	free(tracks);
	if (err)
		return err;
	if (!v.stretches) {
		a->why = xstrdup("the thread has no accesses to shared memory on both lines, one "
				 "behind the other; only these are ordered");
		return NULL;
	}
	say_preempted(r, &v, a);
	return NULL;
}
