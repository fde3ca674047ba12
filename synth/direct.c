/* synth/direct.c - the shipped binary, one thread at a time, with switches at plain accesses (001 section 4.6).
 *
 * The preloaded runtime sees synchronisation calls only. A race between plain accesses, or a deadlock that needs a
 * switch behind an unlock, is therefore directed (run/director.h). Two ways lead to a script:
 *
 *	mapped   the schedule of the unplait build, each of its switches put at an instruction of the shipped binary
 *		 that was made of the same line (map.c); of several instructions, each is tried, likely ones first;
 *	random   switches between any two instructions, written down as a script. This is all there is without lines.
 *
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
	MAPPED_RUNS = 300,
	RANDOM_RUNS = 200,
	MAPPED_SECONDS = 20,
	RANDOM_SECONDS = 30,
	SHRINK_RUNS = 200,
	CHECKS = 3, /* performances of a script that must all end in the dump */
};

struct directed {
	struct study *s;
	struct own_run *own; /* the shipped binary's arguments and environment */
	struct script script;
	char *core;
	double until;
	unsigned runs;
};

static bool over(const struct directed *d)
{
	return interrupted() || clock_seconds() > d->until ||
	       (d->s->deadline > 0 && clock_seconds() > d->s->deadline);
}

static void set_time(struct directed *d, double seconds)
{
	d->until = clock_seconds() + seconds;
	d->runs = 0;
}

static struct err *play(struct directed *d, bool *same)
{
	struct played p;
	struct err *err = script_play(&d->own->target, &d->script, d->core, &p);

	d->s->r->attempts++;
	d->runs++;
	*same = !err && p.same;
	return err;
}

/* Once more, and again: what is saved can be repeated. */
static struct err *check(struct directed *d, bool *same)
{
	struct err *err = NULL;

	for (unsigned i = 0; i < CHECKS && *same && !err; i++)
		err = play(d, same);
	if (!err && *same)
		globals_compare(d->s, d->core);
	return err;
}

/* ---- mapped ---- */

static struct err *try_mapped(struct directed *d, const struct map_plan *plan, bool *same)
{
	struct map_walk walk = { 0 };
	struct err *err = NULL;

	set_time(d, MAPPED_SECONDS);
	while (!err && !*same && d->runs < MAPPED_RUNS && !over(d) &&
	       map_next(plan, &walk, &d->script)) {
		err = play(d, same);
		if (!err && *same)
			err = check(d, same);
	}
	log_verbose("direct: %zu switches at %zu places, %u runs%s", plan->switches.len,
		    plan->nplaces, d->runs, *same ? ", the dump's end" : "");
	map_walk_deinit(&walk);
	return err;
}

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

static struct err *by_map(struct directed *d, const struct synth_inputs *in, const char *folder,
			  bool *same)
{
	_cleanup_(xfreep) char *small = xasprintf("%s/small.plait", folder);
	struct map_plan plan = { 0 };
	struct err *err = shrink(d->s, in, small);

	if (!err)
		err = map_schedule(small, d->script.program, &plan);
	if (!err)
		err = try_mapped(d, &plan, same);
	map_plan_deinit(&plan);
	return err;
}

/* ---- at random ---- */

static struct err *one_at_random(struct directed *d, uint64_t seed, bool *same)
{
	struct turns_made made = { 0 };
	struct played p;
	struct err *err;

	d->script.turns.len = 0;
	err = script_improvise(&d->own->target, &d->script, seed, d->core, &made, &p);
	d->s->r->attempts++;
	d->runs++;
	for (size_t i = 0; i < made.len; i++)
		vec_push(&d->script.turns, made.data[i]);
	*same = !err && p.same && made.len;
	vec_deinit(&made);
	return err || !*same ? err : check(d, same);
}

static struct err *at_random(struct directed *d, bool *same)
{
	struct err *err = NULL;

	set_time(d, RANDOM_SECONDS);
	for (uint64_t seed = 1; seed <= RANDOM_RUNS && !err && !*same && !over(d); seed++)
		err = one_at_random(d, d->s->o->seed * RANDOM_RUNS + seed, same);
	return err;
}

/* Leave turns out while the end stays the same: what one interrupts a thread for should be a reason. */
static struct err *fewer_turns(struct directed *d)
{
	struct err *err = NULL;

	set_time(d, MAPPED_SECONDS);
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

/* ---- both ---- */

static struct err *save(struct directed *d, const char *own_plait, const char *plait)
{
	struct strbuf text = { 0 };
	struct trace_extra extra = { .name = SCRIPT_SECTION };
	struct trace *t = NULL;
	struct err *err = trace_open(own_plait, &t);

	script_write(&d->script, &text);
	extra.data = strbuf_str(&text);
	extra.len = text.len;
	if (!err)
		err = trace_copy(t, &extra, 1, plait);
	trace_close(t);
	strbuf_deinit(&text);
	return err;
}

static struct err *mapped(struct directed *d, const struct synth_inputs *in, const char *folder,
			  bool *same)
{
	struct err *err = by_map(d, in, folder, same);

	if (!err && *same)
		names_intern(&d->s->r->notes, "the shipped binary is directed: one thread at a "
					      "time, with switches at the "
					      "lines where the unplait build has them");
	return err;
}

static struct err *found_at_random(struct directed *d, bool *same)
{
	struct err *err = at_random(d, same);

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

struct err *direct_shipped(struct study *s, const struct synth_inputs *in, const char *folder,
			   const char *own_plait, const char *plait, bool random, bool *same)
{
	struct own_run own = { 0 };
	struct directed d = { .s = s, .own = &own };
	struct err *err;

	own_run_fill(s, in, stacks_program(s->stacks), &own);
	d.core = xasprintf("%s/core", folder);
	d.script.program = realpath(stacks_program(s->stacks), NULL);
	err = d.script.program ? NULL : err_errno(errno, "%s", stacks_program(s->stacks));
	d.script.loader = s->loader ? xstrdup(s->loader) : NULL;
	end_of_goal(&s->r->goal, &d.script.end);
	if (!err)
		err = binary_build_id(d.script.program, d.script.build_id);
	if (!err && random)
		err = found_at_random(&d, same);
	else if (!err && s->r->goal.has_lines)
		err = mapped(&d, in, folder, same);
	if (!err && *same)
		err = save(&d, own_plait, plait);
	script_deinit(&d.script);
	own_run_close(&own);
	free(d.core);
	return err;
}
