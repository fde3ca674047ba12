/* synth/goal.c - what failed, from the dump alone.
 *
 * A signal with a positive si_code was raised by the processor: the program crashed. abort() sends
 * SIGABRT to its own thread. Any other signal came from outside and says nothing about the program;
 * then the goal is where its threads stood: those that wait for each other's mutexes, if there are
 * any. */
#include "synth/study.h"

#include "base/demangle.h"
#include "base/err.h"
#include "debug/waits.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PAGE = 4096 };

static const char *const kind_names[] = { NULL, "crash", "deadlock", "race", "hang" };

const char *synth_kind_name(enum synth_kind kind)
{
	return kind_names[kind];
}

bool synth_kind_parse(const char *name, enum synth_kind *ret)
{
	for (unsigned i = 1; i < ARRAY_SIZE(kind_names); i++)
		if (!strcmp(name, kind_names[i])) {
			*ret = (enum synth_kind)i;
			return true;
		}
	return false;
}

void synth_stack_deinit(struct synth_stack *k)
{
	for (size_t n = 0; n < k->points.len; n++) {
		free(k->points.data[n].function);
		free(k->points.data[n].file);
		free(k->points.data[n].own_name);
	}
	vec_deinit(&k->points);
	vec_deinit(&k->offsets);
}

void goal_deinit(struct synth_goal *g)
{
	for (size_t i = 0; i < g->stacks.len; i++)
		synth_stack_deinit(&g->stacks.data[i]);
	vec_deinit(&g->stacks);
	free(g->message);
}

/* "work.constprop.0" is work: without debug information all there is are the symbols of clones. */
static char *plain_function(const char *name)
{
	size_t n = strcspn(name, ".");

	return xstrndup(name, n ? n : strlen(name));
}

/* gcc splits a function and calls or inlines one part from the other: two frames, one function. (No
 * compiler inlines a recursive call at -O2.) */
static bool is_rest(const struct stack_frame *inner, const struct stack_frame *f)
{
	return (inner->split || inner->inlined) && inner->function && f->function &&
	       !strcmp(inner->function, f->function);
}

static void add_stack(struct study *s, size_t thread)
{
	const struct stack *from = stacks_get(s->stacks, thread);
	struct synth_stack *to = vec_add(&s->r->goal.stacks);

	to->tid = s->dump.threads.data[thread].tid;
	to->whole = from->whole;
	to->guessed = from->guessed;
	for (size_t i = 0; i < from->frames.len; i++) {
		const struct stack_frame *f = &from->frames.data[i];

		if (f->module == stacks_program(s->stacks) && !f->inlined)
			vec_push(&to->offsets, f->offset);
		if (i && is_rest(&from->frames.data[i - 1], f))
			continue;
		if ((f->own || f->merged) && f->function)
			vec_push(&to->points,
				 (struct synth_point){ .function = plain_function(f->function),
						       .file = xstrdup(f->file),
						       .own_name = function_own_name(f->function),
						       .line = f->line });
	}
}

static bool is_processors(const struct dump *d)
{
	return (d->code > 0 || d->origin_unknown) &&
	       (d->signal == SIGSEGV || d->signal == SIGBUS || d->signal == SIGFPE ||
		d->signal == SIGILL || d->signal == SIGTRAP);
}

/* A jump to an address that cannot be one has no fault address at all: then si_code is SI_KERNEL. */
bool dump_near_null(const struct dump *d)
{
	return is_processors(d) && !d->origin_unknown && d->code != SI_KERNEL &&
	       d->fault < FIRST_PAGE && (d->signal == SIGSEGV || d->signal == SIGBUS);
}

/* tgkill() from inside, as abort() and raise() do. Where nothing says so the signal itself must do. */
static bool is_own(const struct dump *d)
{
	return d->signal == SIGABRT && (d->code == SI_TKILL || d->origin_unknown);
}

/* Inside a library, but not in what abort() does. */
static bool fails_in_library(const struct stack *k)
{
	const char *program = NULL;

	for (size_t i = 0; i < k->frames.len; i++) {
		const struct stack_frame *f = &k->frames.data[i];

		if (f->own)
			program = f->module;
	}
	return program && k->frames.len && k->frames.data[0].module != program;
}

/* Nobody can run any more: some wait for each other, or all of them wait. */
static bool is_stuck(const struct dump *d)
{
	struct dump_cycle cycle = { 0 };
	struct dump_waits all = { 0 };
	bool stuck;

	dump_waits(d, &all);
	stuck = dump_cycle(d, &cycle) || (all.len > 1 && all.len == d->threads.len);
	vec_deinit(&cycle);
	vec_deinit(&all);
	return stuck;
}

/* The threads of the cycle; without one, all that stand in the program's own code. */
static void add_waiting(struct study *s)
{
	struct dump_cycle cycle = { 0 };

	dump_cycle(&s->dump, &cycle);
	for (size_t i = 0; i < (cycle.len ? cycle.len : s->dump.threads.len); i++) {
		add_stack(s, cycle.len ? cycle.data[i] : i);
	}
	vec_deinit(&cycle);
}

struct err *goal_read(struct study *s)
{
	struct synth_goal *g = &s->r->goal;
	const struct dump *d = &s->dump;

	g->signal = d->signal;
	g->has_lines = stacks_has_lines(s->stacks);
	g->near_null = dump_near_null(d);
	g->near_unknown = d->origin_unknown;
	g->kind = s->o->kind;
	if (g->kind == SYNTH_ANY && (is_processors(d) || is_own(d)))
		g->kind = SYNTH_CRASH;
	if (g->kind == SYNTH_ANY && is_stuck(d))
		g->kind = SYNTH_DEADLOCK;
	if (g->kind == SYNTH_ANY)
		return err_new(
			ERR_ENV,
			"%s: nothing failed in it: %s%s, and no cycle of locks was found; say what "
			"to look for with --kind",
			s->o->core,
			d->signal ? "the signal came from outside" : "no signal ended it", "");
	if (g->kind == SYNTH_CRASH || g->kind == SYNTH_RACE) {
		add_stack(s, 0);
		g->message = message_of_dump(d, s->stacks);
		g->in_library = fails_in_library(stacks_get(s->stacks, 0));
		return NULL;
	}
	add_waiting(s);
	if (!g->stacks.len)
		return err_new(ERR_ENV, "%s: no thread of it waits in the program's own code",
			       s->o->core);
	return NULL;
}
