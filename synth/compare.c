/* synth/compare.c - is this the same failure?
 *
 * Between two builds, the program's own logical frames are compared: function and line, from the
 * failure out to main. A compiler may have made a jump of a call in front of a return, and its
 * caller's frame is then not in the dump; so frames may be missing there, but never the innermost or
 * the outermost one. Compilers name different lines for a call in a statement of several lines. There,
 * and where the innermost frames differ as optimisers and libraries make them differ, only the shipped
 * binary can tell. Between two runs of one binary, the addresses of its machine frames must be equal. */
#include "synth/study.h"

#include "base/demangle.h"
#include "base/err.h"
#include "base/path.h"
#include "run/ends.h"
#include "run/place.h"
#include "trace/trace.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	INNER_MOST = 2,	     /* frames of the run, inside of the dump's innermost */
	STATEMENT_LINES = 8, /* compilers may name any line of a statement for a call in it */
};

/* Lines between them; one, if one of them does not know its line. */
static unsigned lines_away(const struct synth_point *want, const struct place *have)
{
	if (!want->line || !have->line)
		return 1;
	return want->line > have->line ? want->line - have->line : have->line - want->line;
}

/* Folders differ between builds; functions of one name in two classes may stand at equal lines. */
static bool same_point(const struct synth_point *want, const struct place *have, unsigned slack)
{
	char *own = function_own_name(have->function);
	unsigned away = lines_away(want, have);
	bool same = away <= slack && !strcmp(want->own_name, own) &&
		    (!want->file[0] || !strcmp(path_name(want->file), path_name(have->file)));

	free(own);
	return same;
}

static bool is_own(const struct place *p)
{
	return !p->library && p->file[0] && (p->line || p->merged) && !path_is_system(p->file);
}

/* From point w of the wanted stack and frame h of the run on, to the outermost of both. Callers may be
 * `slack` lines away, the innermost point `inner` lines. */
static bool agrees_within(const struct synth_stack *want, size_t w, const struct places *have,
			  size_t h, unsigned inner, unsigned slack, size_t *lost)
{
	size_t first = w, last = SIZE_MAX;

	*lost = 0;
	for (; h < have->len; h++) {
		const struct place *p = &have->data[h];

		if (!is_own(p))
			continue;
		last = h;
		if (w < want->points.len && same_point(&want->points.data[w], p, w ? slack : inner))
			w++;
		else if (w == first)
			return false;
		else
			++*lost;
	}
	return last != SIZE_MAX && w == want->points.len &&
	       same_point(&want->points.data[w - 1], &have->data[last], w > 1 ? slack : inner);
}

static bool agrees_from(const struct synth_stack *want, size_t w, const struct places *have,
			size_t h, unsigned slack, size_t *lost)
{
	return agrees_within(want, w, have, h, 0, slack, lost);
}

enum agreement stack_agrees(const struct synth_stack *want, const struct places *have, size_t *lost)
{
	size_t own = 0;

	if (!want->points.len)
		return MAYBE_SAME;
	if (agrees_from(want, 0, have, 0, 0, lost))
		return SAME;
	if (agrees_from(want, 0, have, 0, STATEMENT_LINES, lost))
		return MAYBE_SAME;
	/* a leaf of a library hides its caller, with all that was inlined there, from a walk by frame
	 * pointers */
	for (size_t w = 1; have->len && have->data[0].library && w < want->points.len; w++)
		if (agrees_from(want, w, have, 0, STATEMENT_LINES, lost))
			return MAYBE_SAME;
	if (have->len == 1 && have->data[0].library)
		return MAYBE_SAME;
	/* gcc moves a load through a pointer from a function to its callers */
	for (size_t h = 0; h < have->len && own < INNER_MOST; h++) {
		if (!is_own(&have->data[h]))
			continue;
		own++;
		if (agrees_from(want, 0, have, h + 1, 0, lost))
			return MAYBE_SAME;
	}
	/* an optimiser makes a load part of the next statement, which uses the value */
	if (agrees_within(want, 0, have, 0, STATEMENT_LINES, STATEMENT_LINES, lost))
		return MAYBE_SAME;
	return NOT_SAME;
}

/* Is the innermost frame that lies in the program the same instruction? The runtime walks stacks by
 * frame pointers, which shipped binaries mostly lack: further out it may be lost. */
static bool same_innermost(const struct synth_stack *want, const struct trace_module *program,
			   const uint64_t *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (frames[i] >= program->low && frames[i] < program->high)
			return want->offsets.len &&
			       want->offsets.data[0] == frames[i] - program->load_address;
	return false;
}

struct err *shipped_agrees(struct study *s, const struct run_result *r, const char *plait,
			   enum agreement *ret)
{
	const struct synth_goal *g = &s->r->goal;
	struct trace *t = NULL;
	struct err *err;
	size_t found = 0;

	*ret = NOT_SAME;
	if (!run_failed(r) || (g->kind == SYNTH_DEADLOCK) != (r->outcome == PLAIT_OUTCOME_DEADLOCK))
		return NULL;
	err = trace_open(plait, &t);
	if (err || !trace_meta(t)->nmodules) {
		trace_close(t);
		return err;
	}
	if (g->kind != SYNTH_DEADLOCK) {
		found = same_innermost(&g->stacks.data[0], &trace_meta(t)->modules[0],
				       r->failure.frames, r->failure.nframes);
	} else {
		bool *used = xcalloc(r->blocked.len + 1, sizeof(*used));

		for (size_t i = 0; i < g->stacks.len; i++)
			for (size_t k = 0; k < r->blocked.len; k++)
				if (!used[k] &&
				    same_innermost(&g->stacks.data[i], &trace_meta(t)->modules[0],
						   r->blocked.data[k].frames,
						   r->blocked.data[k].nframes)) {
					used[k] = true;
					found++;
					break;
				}
		free(used);
	}
	*ret = found == g->stacks.len ? SAME : NOT_SAME;
	trace_close(t);
	return NULL;
}

struct err *crash_agrees(struct study *s, const char *path, const char *program,
			 enum agreement *ret)
{
	struct stack_options o = { .program = program };
	const struct synth_goal *g = &s->r->goal;
	struct places places = { 0 };
	struct stacks *stacks = NULL;
	struct dump d;
	struct err *err = dump_open(path, &d);
	char *message = NULL;
	size_t lost;

	*ret = NOT_SAME;
	if (!err)
		err = stacks_open(&d, &o, &stacks);
	if (!err && d.signal == g->signal &&
	    (g->near_unknown || dump_near_null(&d) == g->near_null)) {
		places_of_stack(stacks_get(stacks, 0), &places);
		*ret = stack_agrees(&g->stacks.data[0], &places, &lost);
		if (*ret == SAME && lost)
			*ret = MAYBE_SAME;
		message = message_of_dump(&d, stacks);
		if (message_differs(g->message, message))
			*ret = NOT_SAME;
	}
	free(message);
	places_deinit(&places);
	stacks_close(stacks);
	dump_close(&d);
	return err;
}

void end_of_goal(const struct synth_goal *g, struct script_end *ret)
{
	ret->signal = g->kind == SYNTH_CRASH ? g->signal : 0;
	for (size_t i = 0; i < (ret->signal ? 1 : g->stacks.len); i++) {
		const struct synth_stack *k = &g->stacks.data[i];

		for (size_t n = 0; n < k->offsets.len; n++)
			vec_push(&ret->frames, k->offsets.data[n]);
		vec_push(&ret->frames, 0);
	}
}

static struct err *said_the_same(struct study *s, const char *path, const struct stack_options *o,
				 bool *ret)
{
	struct stacks *stacks = NULL;
	struct dump d;
	struct err *err = dump_open(path, &d);
	char *message = NULL;

	if (!err)
		err = stacks_open(&d, o, &stacks);
	if (!err)
		message = message_of_dump(&d, stacks);
	*ret = !err && !message_differs(s->r->goal.message, message);
	free(message);
	stacks_close(stacks);
	dump_close(&d);
	return err;
}

struct err *dump_agrees(struct study *s, const char *path, bool *ret)
{
	struct stack_options o = { .program = s->o->shipped,
				   .sysroot = s->o->sysroot,
				   .force = s->o->force };
	struct script_end end = { 0 };
	struct err *err;

	end_of_goal(&s->r->goal, &end);
	err = dump_ends_so(path, &o, &end, ret);
	if (!err && *ret && s->r->goal.message)
		err = said_the_same(s, path, &o, ret);
	if (!err && *ret)
		globals_compare(s, path);
	vec_deinit(&end.frames);
	return err;
}
