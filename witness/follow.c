/* witness/follow.c - from a witness to a failing run.
 *
 * Turns say who executes how many events, in which order (run/turns.c). A recorded run tells, for
 * each waypoint in turn, after how many events its thread has executed that statement; from those
 * follow the turns of the next run, which is recorded again, until the turns stay as they are. A
 * waypoint that the run did not come to ends the plan: its thread goes on alone and shows where it
 * is.
 *
 * A waypoint names a statement, and a statement is several events. So there are two readings: a
 * thread executes the whole statement when its waypoint comes, or only its first event, and the rest
 * later. Where neither fails, turns near the second one are tried (turns_disturb). */
#include "witness/witness.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "debug/names.h"
#include "trace/trace.h"
#include "witness/visits.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLANS = 30 }; /* runs until the turns must stay */

struct follower {
	struct session *session;
	const struct witness *witness;
	const char *dir; /* for recordings */
	bool whole;	 /* the reading: whole statements */
	struct turns turns, before;
	VEC(uint32_t) natives; /* thread of the witness -> native thread */
	VEC(uint64_t) done;    /* per native thread: events that the turns have so far */
	struct followed *ret;
};

void followed_deinit(struct followed *f)
{
	run_result_deinit(&f->run);
}

static bool same_file(const char *a, const char *b)
{
	const char *x = strrchr(a, '/'), *y = strrchr(b, '/');

	return strcmp(x ? x + 1 : a, y ? y + 1 : b) == 0;
}

static bool is_at(const struct waypoint *w, const struct visit *v)
{
	return v->at.line == w->line && (!*w->file || same_file(w->file, v->at.file)) &&
	       (w->type == WAYPOINT_CREATE) == (v->child != PLAIT_ANY);
}

static uint64_t *done_of(struct follower *f, uint32_t native)
{
	while (f->done.len <= native)
		vec_push(&f->done, 0);
	return &f->done.data[native];
}

/* The next visit of that statement by that thread; NULL: it did not come there any more. */
static const struct visit *find_visit(struct follower *f, const struct visits *all,
				      const struct waypoint *w, uint32_t native)
{
	for (size_t i = 0; i < all->len; i++) {
		const struct visit *v = &all->data[i];

		if (v->thread == native && v->first > *done_of(f, native) && is_at(w, v))
			return v;
	}
	return NULL;
}

/* A line without events (`return`): the thread comes to it after its last event of the lines before
 * it. True: there is one. */
static bool find_line_before(struct follower *f, const struct visits *all, const struct waypoint *w,
			     uint32_t native, uint64_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < all->len; i++) {
		const struct visit *v = &all->data[i];

		if (v->thread != native || v->first <= *done_of(f, native) ||
		    !same_file(w->file, v->at.file))
			continue;
		if (*w->function && strcmp(w->function, v->at.function) != 0)
			continue;
		if (v->at.line >= w->line)
			break;
		*ret = v->last;
		found = true;
	}
	return found;
}

static void add_turn(struct follower *f, uint32_t native, uint64_t upto)
{
	vec_push(&f->turns, ((struct plait_turn){ native, PLAIT_ANY, upto }));
	if (upto != UINT64_MAX)
		*done_of(f, native) = upto;
}

/* The turns that the witness asks for, as far as the recorded run shows them. */
static void plan(struct follower *f, const struct visits *all)
{
	uint32_t native = 0;
	size_t i;

	vec_clear(&f->turns);
	vec_clear(&f->done);
	vec_clear(&f->natives);
	vec_push(&f->natives, 0);
	for (i = 0; i < f->witness->waypoints.len; i++) {
		const struct waypoint *w = &f->witness->waypoints.data[i];
		const struct visit *v;
		uint64_t upto;

		if (w->thread >= f->natives.len)
			break;
		native = f->natives.data[w->thread];
		if (w->type == WAYPOINT_TARGET) /* it goes on until it fails */
			break;
		v = find_visit(f, all, w, native);
		if (v && v->child != PLAIT_ANY)
			vec_push(&f->natives, v->child);
		if (v)
			add_turn(f, native, f->whole ? v->last : v->first);
		else if (w->type == WAYPOINT_PASS && find_line_before(f, all, w, native, &upto))
			add_turn(f, native, upto);
		else
			break;
	}
	f->ret->passed = i;
	add_turn(f, native, UINT64_MAX);
	turns_link(&f->turns);
}

static struct err *look(struct follower *f)
{
	struct visits visits = { 0 };
	struct symbols *symbols = NULL;
	struct trace *t = NULL;
	struct err *err = trace_open(f->dir, &t);

	if (!err)
		err = symbols_open(t, &symbols);
	if (!err)
		err = visits_of(t, symbols, &f->ret->run.schedule, &visits);
	if (!err)
		plan(f, &visits);
	vec_deinit(&visits);
	symbols_close(symbols);
	trace_close(t);
	return err;
}

static struct err *run_turns(struct follower *f, const struct turns *turns, const char *dir)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW,
				   .points = PLAIT_POINTS_ALL,
				   .turns = turns->data,
				   .nturns = turns->len,
				   .record_dir = dir };
	struct err *err = NULL;

	if (dir) {
		file_remove_tree(dir);
		err = file_make_dirs(dir);
	}
	if (!err)
		err = session_run(f->session, &req, &f->ret->run);
	f->ret->runs++;
	f->ret->failed = !err && run_failed(&f->ret->run);
	return err;
}

static bool is_same_plan(const struct follower *f)
{
	return f->turns.len == f->before.len &&
	       memcmp(f->turns.data, f->before.data, f->turns.len * sizeof(f->turns.data[0])) == 0;
}

/* Run, look, plan again, until the plan stays. */
static struct err *follow_reading(struct follower *f, bool whole, unsigned runs)
{
	struct err *err = NULL;

	f->whole = whole;
	vec_clear(&f->turns);
	add_turn(f, 0, UINT64_MAX);
	turns_link(&f->turns);
	for (unsigned i = 0; i < MOST_PLANS && f->ret->runs < runs && !err; i++) {
		err = run_turns(f, &f->turns, f->dir);
		if (err || (f->ret->failed && i))
			break;
		vec_clear(&f->before);
		for (size_t k = 0; k < f->turns.len; k++)
			vec_push(&f->before, f->turns.data[k]);
		err = look(f);
		if (f->ret->failed || is_same_plan(f))
			break;
	}
	return err;
}

static struct err *follow_nearby(struct follower *f, unsigned runs)
{
	struct err *err = NULL;

	for (uint64_t seed = 1; f->ret->runs < runs && !f->ret->failed && !err; seed++) {
		struct turns near = { 0 };

		for (size_t k = 0; k < f->turns.len; k++)
			vec_push(&near, f->turns.data[k]);
		turns_disturb(&near, seed);
		turns_link(&near);
		err = run_turns(f, &near, NULL);
		vec_deinit(&near);
	}
	return err;
}

static struct err *check_threads(const struct witness *w)
{
	for (size_t i = 0; i < w->waypoints.len; i++)
		if (w->waypoints.data[i].thread == PLAIT_ANY)
			return err_new(ERR_ENV,
				       "the witness does not say which thread comes to line %u "
				       "(thread_id, format 2.2): it is no schedule",
				       w->waypoints.data[i].line);
	return NULL;
}

struct err *witness_follow(struct session *s, const struct witness *w, unsigned runs,
			   struct followed *ret)
{
	struct follower f = { .session = s, .witness = w, .ret = ret };
	_cleanup_(xfreep) char *dir = NULL;
	struct err *err = check_threads(w);

	*ret = (struct followed){ 0 };
	if (!err)
		err = file_temp_dir(&dir);
	if (err)
		return err;
	f.dir = dir;
	err = follow_reading(&f, true, runs);
	if (!err && !ret->failed)
		err = follow_reading(&f, false, runs);
	if (!err && !ret->failed)
		err = follow_nearby(&f, runs);
	file_remove_tree(dir);
	vec_deinit(&f.turns);
	vec_deinit(&f.before);
	vec_deinit(&f.natives);
	vec_deinit(&f.done);
	return err;
}
