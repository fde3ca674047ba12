/* synth/direct.c - the shipped binary, one thread at a time, with switches at plain accesses (001 section 4.6).
 *
 * The preloaded runtime sees synchronisation calls only. A race between plain accesses, or a deadlock that needs a
 * switch behind an unlock, is therefore directed (run/director.h). Two ways lead to a script:
 *
 *	mapped   the schedule of the unplait build, each of its switches put at an instruction of the shipped binary
 *		 that was made of the same line (map.c); of several instructions, each is tried, likely ones first;
 *	random   switches between any two instructions, written down as a script. This is all there is without lines.
 *
 * Both go on from where they were when they are asked again: the ways take turns (attempt.c).
 * Either way the script is performed, and its dump must be the given one, frame by frame. It is saved in the plait of
 * the unplait build's run, as one more section. */
#include "synth/study.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "debug/binary.h"
#include "run/ends.h"
#include "run/perform.h"
#include "synth/map.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHRINK_RUNS = 200,
	FEWER_SECONDS = 20, /* to leave turns of a random script out */
	CHECKS = 3,	    /* performances of a script that must all end in the dump */
};

struct directing {
	struct study *s;
	const struct synth_inputs *in;
	const char *own_plait;
	struct own_run own; /* the shipped binary's arguments and environment */
	struct script script;
	char *folder, *core;
	double until;
	unsigned runs;	      /* of the try at hand */
	bool mapped;	      /* the plan is made */
	struct map_plan plan; /* of the unplait build's schedule */
	struct map_walk walk; /* how far its combinations are tried */
	uint64_t seed;	      /* of the last random run */
};

static bool over(const struct directing *d)
{
	return interrupted() || clock_seconds() > d->until ||
	       (d->s->deadline > 0 && clock_seconds() > d->s->deadline);
}

static void set_time(struct directing *d, double seconds)
{
	d->until = clock_seconds() + seconds;
	d->runs = 0;
}

static struct err *play(struct directing *d, bool *same)
{
	struct played p;
	struct err *err;

	d->own.target.timeout = patience_with_shipped(d->s);
	err = script_play(&d->own.target, &d->script, d->core, &p);
	d->s->r->attempts++;
	d->runs++;
	*same = !err && p.same;
	return err;
}

/* Once more, and again: what is saved can be repeated. */
static struct err *check(struct directing *d, bool *same)
{
	struct err *err = NULL;

	for (unsigned i = 0; i < CHECKS && *same && !err; i++)
		err = play(d, same);
	if (!err && *same)
		globals_compare(d->s, d->core);
	return err;
}

/* ---- mapped ---- */

/* The schedule of the unplait build with as few switches as it needs: each is one more to be mapped. */
static struct err *shrink(struct study *s, const struct synth_inputs *in, const char *plait)
{
	struct run_result small = { 0 };
	struct own_run own;
	uint64_t runs = 0;
	struct err *err = own_run_open(s, in, s->o->program, &own);

	if (!err)
		err = minimize_run(own.session, &s->r->run, SHRINK_RUNS, &small, &runs);
	s->r->attempts += runs;
	if (!err)
		err = save_plait(own.session, &small, plait);
	run_result_deinit(&small);
	own_run_close(&own);
	return err;
}

static struct err *make_plan(struct directing *d)
{
	_cleanup_(xfreep) char *small = xasprintf("%s/small.plait", d->folder);
	struct err *err = shrink(d->s, d->in, small);

	return err ? err : map_schedule(small, d->script.program, &d->plan);
}

struct err *direct_mapped(struct directing *d, unsigned runs, double seconds, bool *same)
{
	struct err *err = NULL;

	*same = false;
	if (!d->s->r->goal.has_lines)
		return NULL;
	if (!d->mapped)
		err = make_plan(d);
	d->mapped = true;
	set_time(d, seconds);
	while (!err && !*same && d->runs < runs && !over(d) &&
	       map_next(&d->plan, &d->walk, &d->script)) {
		err = play(d, same);
		if (!err && *same)
			err = check(d, same);
	}
	log_verbose("direct: %zu switches at %zu places, %u runs%s", d->plan.switches.len,
		    d->plan.nplaces, d->runs, *same ? ", the dump's end" : "");
	if (!err && *same)
		names_intern(&d->s->r->notes, "the shipped binary is directed: one thread at a "
					      "time, with switches at the "
					      "lines where the unplait build has them");
	return err;
}

/* ---- at random ---- */

static struct err *one_at_random(struct directing *d, uint64_t seed, bool *same)
{
	struct turns_made made = { 0 };
	struct played p;
	struct err *err;

	d->own.target.timeout = d->s->o->timeout; /* it is made step by step */
	d->script.turns.len = 0;
	err = script_improvise(&d->own.target, &d->script, seed, d->core, &made, &p);
	d->s->r->attempts++;
	d->runs++;
	for (size_t i = 0; i < made.len; i++)
		vec_push(&d->script.turns, made.data[i]);
	*same = !err && p.same && made.len;
	vec_deinit(&made);
	return err || !*same ? err : check(d, same);
}

/* Leave turns out while the end stays the same: what one interrupts a thread for should be a reason. */
static struct err *fewer_turns(struct directing *d)
{
	struct err *err = NULL;

	set_time(d, FEWER_SECONDS);
	for (size_t n = d->script.turns.len / 2; n && !err; n /= 2)
		for (size_t at = 0; at + n <= d->script.turns.len && !err && !over(d);) {
			size_t len = d->script.turns.len;
			struct turn *kept = xmemdup(d->script.turns.data, len * sizeof(*kept));
			bool same = false;

			memmove(d->script.turns.data + at, d->script.turns.data + at + n,
				(len - at - n) * sizeof(*kept));
			d->script.turns.len = len - n;
			err = play(d, &same);
			if (!same) {
				memcpy(d->script.turns.data, kept, len * sizeof(*kept));
				d->script.turns.len = len;
				at += n;
			}
			free(kept);
		}
	return err;
}

struct err *direct_random(struct directing *d, unsigned runs, double seconds, bool *same)
{
	struct err *err = NULL;

	*same = false;
	set_time(d, seconds);
	while (!err && !*same && d->runs < runs && !over(d))
		err = one_at_random(d, ++d->seed, same);
	log_verbose("direct: %u runs at random%s", d->runs, *same ? ", the dump's end" : "");
	if (!err && *same)
		err = fewer_turns(d);
	if (!err && *same)
		err = check(d, same);
	if (!err && *same)
		names_intern(&d->s->r->notes,
			     "the shipped binary is directed: one thread at a time, with "
			     "switches between instructions, which were found at random");
	return err;
}

/* ---- both ---- */

struct err *direct_open(struct study *s, const struct synth_inputs *in, const char *folder,
			const char *own_plait, struct directing **ret)
{
	struct directing *d = xcalloc(1, sizeof(*d));

	*ret = d;
	d->s = s;
	d->in = in;
	d->own_plait = own_plait;
	d->seed = s->o->seed << 16;
	own_run_fill(s, in, stacks_program(s->stacks), &d->own);
	d->folder = xstrdup(folder);
	d->core = xasprintf("%s/core", folder);
	d->script.program = realpath(stacks_program(s->stacks), NULL);
	if (!d->script.program)
		return err_errno(errno, "%s", stacks_program(s->stacks));
	d->script.loader = s->loader ? xstrdup(s->loader) : NULL;
	end_of_goal(&s->r->goal, &d->script.end);
	return binary_build_id(d->script.program, d->script.build_id);
}

struct err *direct_save(struct directing *d, const char *plait)
{
	struct strbuf text = { 0 };
	struct trace_extra extra = { .name = SCRIPT_SECTION };
	struct trace *t = NULL;
	struct err *err = trace_open(d->own_plait, &t);

	script_write(&d->script, &text);
	extra.data = strbuf_str(&text);
	extra.len = text.len;
	if (!err)
		err = trace_copy(t, &extra, 1, plait);
	trace_close(t);
	strbuf_deinit(&text);
	return err;
}

void direct_close(struct directing *d)
{
	if (!d)
		return;
	map_walk_deinit(&d->walk);
	map_plan_deinit(&d->plan);
	script_deinit(&d->script);
	own_run_close(&d->own);
	free(d->folder);
	free(d->core);
	free(d);
}
