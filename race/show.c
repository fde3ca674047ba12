/* race/show.c - what is kept of a race for people: two plaits, both stacks, the steps around it. */
#include "race/study.h"

#include "base/err.h"
#include "debug/names.h"
#include "trace/trace.h"

enum { STEPS_BEFORE = 6, STEPS_AFTER = 14 };

/* Where both accesses were made: the run of one order again, with the stacks noted. */
static struct err *find_stacks(struct study *s, struct group *g, int order, struct symbols *symbols)
{
	struct race *r = &g->race;
	const struct schedule *schedule = &r->order[order].run.schedule;
	struct run_request req = schedule_request(schedule);
	struct plait_constraint c[2] = { 0 };
	struct run_result again = { 0 };
	struct session *session;
	struct err *err;

	for (int i = 0; i < 2; i++) { /* side i came first in order i */
		uint64_t clock = g->shown_step + (i != order);

		c[i].kind = PLAIT_CONSTRAINT_STACK;
		c[i].a = (struct plait_pattern){ .thread = g->shown_thread[i],
						 .site_low = PLAIT_ANY,
						 .nth = PLAIT_ANY,
						 .index = schedule_events(
							 schedule, g->shown_thread[i], clock) };
	}
	req.constraints = c;
	req.nconstraints = 2;
	err = study_run(s, g->shown_input, &req, &again);
	run_result_deinit(&again);
	if (!err)
		err = study_session(s, g->shown_input, &session);
	for (int i = 0; i < 2 && !err; i++) {
		const struct plait_stack *stack = &session_stacks(session)[i];
		struct plait_blocked b = { .nframes = stack->step ? stack->nframes : 0 };

		memcpy(b.frames, stack->frames, sizeof(b.frames));
		places_of_blocked(symbols, &b, &r->side[i].stack);
	}
	return err;
}

static void add_step(struct race_order *o, struct symbols *symbols, const struct trace_meta *meta,
		     const struct event *ev, bool racing)
{
	struct strbuf object = { 0 };
	struct code_point p;

	symbols_site(symbols, ev->site, &p);
	err_free(symbols_event_object(symbols, ev, &object)); /* a name is all that is lost */
	vec_push(&o->steps,
		 (struct race_step){ .thread = xstrdup(ev->thread < meta->nthreads
							       ? meta->threads[ev->thread].name
							       : "?"),
				     .number = ev->thread,
				     .op = event_kind_name(ev->kind),
				     .object = xstrdup(strbuf_str(&object)),
				     .file = xstrdup(p.file),
				     .line = p.line,
				     .racing = racing });
	strbuf_deinit(&object);
}

static struct err *find_steps(struct group *g, struct race_order *o, struct trace *t,
			      struct symbols *symbols)
{
	_cleanup_(cursor_deinit) struct cursor cur;
	const struct event *ev;
	struct err *err;

	cursor_init(&cur, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&cur, &ev)) && ev && ev->clock <= g->shown_step + STEPS_AFTER)
		if (plait_is_step(ev->kind) && ev->clock + STEPS_BEFORE >= g->shown_step)
			add_step(o, symbols, trace_meta(t), ev,
				 ev->clock == g->shown_step || ev->clock == g->shown_step + 1);
	return err;
}

static struct err *look_at_plait(struct study *s, struct group *g, int order)
{
	struct race_order *o = &g->race.order[order];
	struct symbols *symbols = NULL;
	struct trace *t = NULL;
	struct err *err = trace_open(o->plait, &t);

	if (!err)
		err = symbols_open(t, &symbols);
	if (!err)
		err = find_steps(g, o, t, symbols);
	if (!err && order == 0)
		err = find_stacks(s, g, 0, symbols);
	symbols_close(symbols);
	trace_close(t);
	return err;
}

struct err *race_save(struct study *s, struct group *g)
{
	struct race *r = &g->race;
	struct session *session;
	struct err *err = NULL;

	for (int i = 0; i < 2 && !err; i++) {
		if (!r->order[i].seen || !s->o->output)
			continue;
		err = study_session(s, g->shown_input, &session);
		r->order[i].plait = xasprintf("%s/race-%u-%c.plait", s->o->output, r->id, "ab"[i]);
		if (!err)
			err = save_plait(session, &r->order[i].run, r->order[i].plait);
		if (!err && g->shown_step)
			err = look_at_plait(s, g, i);
	}
	return err;
}
