/* synth/synth.c - the whole way: read the dump, try what it knows, search, confirm. */
#include "synth/study.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "sym/sym.h"

#include <stdlib.h>

enum { REPLAYS = 3 }; /* of what was found */

static struct err *read_dump(struct study *s)
{
	struct stack_options o = { .program = s->o->shipped,
				   .sysroot = s->o->sysroot,
				   .force = s->o->force };
	struct err *err = dump_open(s->o->core, &s->dump);
	char *const *notes;

	if (!err)
		err = err_wrap(stacks_open(&s->dump, &o, &s->stacks), "%s", s->o->core);
	if (!err)
		err = goal_read(s);
	if (err)
		return err;
	for (size_t i = 0; i < s->dump.gaps.len; i++)
		names_intern(&s->r->notes, s->dump.gaps.text[i]);
	for (size_t i = 0, n = stacks_notes(s->stacks, &notes); i < n; i++)
		names_intern(&s->r->notes, notes[i]);
	facts_read(s);
	return crumbs_check(s);
}

struct err *study_program(struct study *s)
{
	struct err *err = s->program ? NULL : sym_open_source(s->o->program, &s->program);

	if (!err && !s->program)
		err = study_built(s);
	if (!err && !s->program)
		s->program = s->built;
	return err;
}

struct err *study_built(struct study *s)
{
	return s->built ? NULL : sym_open(s->o->program, NULL, &s->built);
}

/* Does the execution fail again, and how good an answer is it? `start`: when the work began. */
static struct err *rate(struct study *s, double start)
{
	struct synth_result *r = s->r;
	double before = clock_seconds();
	struct own_run own;
	struct err *err = own_run_open(s, &r->inputs, s->o->program, &own);

	r->replays = REPLAYS;
	if (!err)
		err = confirm(own.session, &r->run, &r->replays, &r->same);
	own_run_close(&own);
	r->original_in_dump = s->dump.seconds > 0;
	r->original =
		r->original_in_dump ? s->dump.seconds : (clock_seconds() - before) / r->replays;
	r->fidelity = fidelity_of(
		&(struct executions){ .original = r->same, .wrong = r->replays - r->same },
		r->original, before - start);
	return err;
}

/* Of n causes one is the original's; which, a dump does not tell. */
static struct err *rate_causes(struct study *s, double start)
{
	struct synth_result *r = s->r;
	struct err *err = causes_find(s);
	unsigned n = (unsigned)r->causes.len;

	if (!err && n > 1)
		r->fidelity = fidelity_of(
			&(struct executions){ .original = 1, .other = n - 1, .causes = n },
			r->original, clock_seconds() - start);
	return err;
}

static struct err *work(struct study *s, double start)
{
	struct err *err = read_dump(s);
	bool same = false;

	s->r->seconds_read = clock_seconds() - start;
	if (!err && s->o->facts >= SYNTH_FACTS_ARGS) {
		s->r->how = "the dump's own input";
		err = attempt(s, &s->known, &same);
	}
	if (!err && !same && !interrupted())
		err = search(s);
	if (!err && s->r->found && !interrupted())
		err = rate(s, start);
	if (!err && s->r->found && s->o->all_causes && !interrupted())
		err = rate_causes(s, start);
	return err;
}

struct err *synth_run(const struct synth_options *o, struct synth_result *ret)
{
	double start = clock_seconds();
	struct synth_options own = *o;
	struct study s = { .o = &own, .r = ret, .folder = o->output };
	char *first = o->all_causes ? xasprintf("%s/synth.plait", o->output) : NULL;
	struct err *err = first ? file_make_dirs(o->output) : NULL;

	if (first)
		own.output = first;
	s.deadline = o->seconds > 0 ? start + o->seconds : 0;
	if (!err)
		err = work(&s, start);
	if (s.program != s.built)
		sym_close(s.program);
	sym_close(s.built);
	stacks_close(s.stacks);
	dump_close(&s.dump);
	synth_inputs_deinit(&s.known);
	free(s.loader);
	free(first);
	vec_deinit(&s.steered);
	vec_deinit(&s.stored);
	names_deinit(&s.uncalled);
	globals_close(&s.globals);
	ret->interrupted = interrupted();
	return err;
}

void synth_result_deinit(struct synth_result *r)
{
	goal_deinit(&r->goal);
	synth_inputs_deinit(&r->inputs);
	run_result_deinit(&r->run);
	names_deinit(&r->facts);
	names_deinit(&r->agree);
	names_deinit(&r->differ);
	names_deinit(&r->crumbs);
	synth_causes_deinit(r);
	names_deinit(&r->notes);
	free(r->plait);
	free(r->shipped_plait);
	*r = (struct synth_result){ 0 };
}
