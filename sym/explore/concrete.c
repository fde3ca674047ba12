/* sym/explore/concrete.c - run a program concretely. There are no symbols, so the guide has nothing to
 * decide; it only collects the outcome. */
#include "base/err.h"
#include "base/log.h"
#include "sym/machine/machine.h"
#include "sym/ir/program.h"

#include <stdlib.h>
#include <string.h>

struct sink {
	struct sym_result *result;
	sym_sink *fn;
	void *arg;
};

static void collect(void *arg, int fd, const void *data, size_t len)
{
	struct sink *s = arg;

	if (s->fn)
		s->fn(s->arg, fd, data, len);
	else
		strbuf_add(fd == 2 ? &s->result->err_out : &s->result->out, data, len);
}

/* A program may make values symbolic itself; a plain run follows the model's side. */
static bool run_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	bool yes = machine_value(m, m->s, cond);

	(void)yes_pc;
	(void)no_pc;
	machine_assume(m, m->s, yes ? cond : expr_not(&m->exprs, cond), NULL);
	return yes;
}

static void run_error(struct machine *m, struct state *s, const struct sym_outcome *o,
		      struct model *model)
{
	(void)s;
	(void)model;
	machine_note(m, "with another input: %s at %s", o->message, o->where);
}

static void run_forked(struct machine *m, struct state *s)
{
	(void)m;
	state_free(s);
}

void sym_result_deinit(struct sym_result *r)
{
	for (size_t i = 0; i < r->paths.len; i++) {
		struct sym_path *p = &r->paths.data[i];

		for (uint32_t k = 0; k < p->nargs; k++)
			free(p->args[k]);
		for (uint32_t k = 0; k < p->nenv; k++)
			free(p->env[k]);
		free(p->args);
		free(p->arg_lens);
		free(p->env);
		free(p->input);
	}
	vec_deinit(&r->paths);
	strbuf_deinit(&r->out);
	strbuf_deinit(&r->err_out);
	names_deinit(&r->notes);
}

struct err *sym_run(struct sym_program *p, const struct sym_config *config, sym_sink *fn, void *arg,
		    struct sym_result *ret)
{
	struct guide guide = { .branch = run_branch, .error = run_error, .forked = run_forked };
	struct sink sink = { ret, fn, arg };
	double start = clock_seconds();
	struct machine m;
	struct state *s;
	struct err *err;

	machine_init(&m, p->ir, config);
	m.guide = &guide;
	m.output = collect;
	m.output_arg = &sink;
	err = machine_start(&m, &s);
	if (!err) {
		machine_run(&m, s);
		state_free(s);
		ret->outcome = m.outcome;
		ret->complete = m.outcome.kind != SYM_BUDGET;
		for (size_t i = 0; i < m.notes.len; i++)
			names_intern(&ret->notes, m.notes.text[i]);
		m.stats.paths = 1;
		m.stats.seconds = clock_seconds() - start;
		m.stats.exprs = m.exprs.nodes.len - 1;
		ret->stats = m.stats;
	}
	machine_deinit(&m);
	return err;
}
