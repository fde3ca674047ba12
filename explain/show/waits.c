/* explain/show/waits.c - call stacks: of the thread that failed, and of the threads of a deadlock, with
 * what each waits for. */
#include "explain/show/present.h"

#include "base/err.h"
#include "debug/names.h"
#include "explain/show/stacks.h"
#include "run/place.h"
#include "run/run.h"

enum { MAX_WAITS = 32, MAX_FRAMES = 8 };

/* The program's own code: libraries that came with the system say nothing about it. */
static const char **frames_of(struct explanation *x, const struct places *places, size_t *ret)
{
	const char **frames = arena_array(&x->arena, const char *, places->len);

	*ret = 0;
	for (size_t i = 0; i < places->len; i++) {
		const struct place *p = &places->data[i];

		if (!p->library && p->function[0] && p->file[0] && p->line &&
		    !is_system_file(p->file) && *ret < MAX_FRAMES)
			frames[(*ret)++] = arena_printf(&x->arena, "%s at %s:%u", p->function,
							p->file, p->line);
	}
	return frames;
}

static void add_frames(struct explanation *x, struct symbols *symbols,
		       const struct plait_blocked *b, struct shown_wait *ret)
{
	struct places places = { 0 };

	places_of_blocked(symbols, b, &places);
	ret->frames = frames_of(x, &places, &ret->nframes);
	places_deinit(&places);
}

struct err *present_stack(struct explanation *x, struct trace *trace,
			  const struct run_result *failing)
{
	struct symbols *symbols = NULL;
	struct places places = { 0 };
	struct err *err;

	if (failing->blocked.len || !failing->failure.nframes)
		return NULL;
	err = symbols_open(trace, &symbols);
	if (err)
		return err;
	places_of_failure_all(symbols, failing, &places);
	x->stack = frames_of(x, &places, &x->nstack);
	places_deinit(&places);
	symbols_close(symbols);
	return NULL;
}

struct err *present_waits(struct explanation *x, struct trace *trace,
			  const struct run_result *failing)
{
	const struct trace_meta *m = trace_meta(trace);
	struct symbols *symbols = NULL;
	struct err *err;

	if (!failing->blocked.len)
		return NULL;
	err = symbols_open(trace, &symbols);
	if (err)
		return err;
	x->nwaits = MIN(failing->blocked.len, (size_t)MAX_WAITS);
	x->waits = arena_array(&x->arena, struct shown_wait, x->nwaits);
	for (size_t i = 0; i < x->nwaits; i++) {
		const struct plait_blocked *b = &failing->blocked.data[i];
		struct shown_wait *w = &x->waits[i];

		w->thread = b->thread;
		w->holder = b->holder < m->nthreads ? b->holder : UINT32_MAX;
		w->text = arena_printf(&x->arena, "waits %.*s", (int)sizeof(b->what), b->what);
		if (b->holder < m->nthreads)
			w->text = arena_printf(&x->arena, "%s%s%s", w->text,
					       b->kind == PLAIT_EV_JOIN ? " " : " held by thread ",
					       m->threads[b->holder].name);
		add_frames(x, symbols, b, w);
	}
	symbols_close(symbols);
	return NULL;
}
