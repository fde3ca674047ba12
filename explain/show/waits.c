/* explain/show/waits.c - the threads of a deadlock: what each waits for, and who called for it. */
#include "explain/show/present.h"

#include "base/err.h"
#include "base/vec.h"
#include "debug/names.h"
#include "explain/show/stacks.h"
#include "run/run.h"

#include <string.h>

enum { MAX_WAITS = 32, MAX_SHOWN_FRAMES = 8 };

/* The program's own code: not the runtime's, which waits in its place, nor libc's. */
static bool is_own(const struct code_point *p)
{
	return p->function[0] && p->file[0] && p->line && strncmp(p->file, "rt/", 3) != 0 &&
	       !is_system_file(p->file) && !strstr(p->file, "/rt/control/") &&
	       strncmp(p->file, "../", 3) != 0;
}

static void add_frames(struct explanation *x, struct symbols *symbols,
		       const struct plait_blocked *b, struct shown_wait *ret)
{
	VEC(const char *) frames = { 0 };
	struct code_point p[MAX_SHOWN_FRAMES];

	for (uint32_t i = 0;
	     i < MIN(b->nframes, (uint32_t)PLAIT_MAX_FRAMES) && frames.len < MAX_SHOWN_FRAMES;
	     i++) { /* frames are return addresses: the call is before them */
		size_t n = symbols_frames(symbols, b->frames[i] - 1, p, ARRAY_SIZE(p));

		for (size_t k = 0; k < n && frames.len < MAX_SHOWN_FRAMES; k++)
			if (is_own(&p[k]))
				vec_push(&frames,
					 arena_printf(&x->arena, "%s at %s:%u", p[k].function,
						      p[k].file, p[k].line));
	}
	ret->nframes = frames.len;
	ret->frames = arena_array(&x->arena, const char *, frames.len);
	for (size_t i = 0; i < frames.len; i++)
		ret->frames[i] = frames.data[i];
	vec_deinit(&frames);
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
