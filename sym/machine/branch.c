/* sym/machine/branch.c - decisions that depend on expressions.
 *
 * A state carries a model: an input that takes its path. So one side of every branch is known to be
 * possible without asking anybody; only the other side costs a question. A side that turns out to
 * be impossible adds no constraint: it was implied. */
#include "sym/machine/machine.h"

#include <string.h>

/* A path with one model computes sums of sums: what was known at the last branch is known now. */
static void value_begin(struct machine *m, struct model *model)
{
	if (model && model == m->valued && m->exprs.round == m->valued_round) {
		expr_eval_again(&m->exprs);
		return;
	}
	expr_eval_begin(&m->exprs);
	if (model)
		model->refs++;
	model_unref(m->valued);
	m->valued = model;
	m->valued_round = m->exprs.round;
}

uint64_t machine_value(struct machine *m, struct state *s, expr_id x)
{
	if (m->known) {
		expr_eval_begin(&m->exprs);
		return expr_eval(&m->exprs, x, m->known, m->nknown);
	}
	value_begin(m, s->model);
	return expr_eval(&m->exprs, x, s->model ? s->model->values : NULL,
			 s->model ? s->model->count : 0);
}

enum answer machine_may(struct machine *m, expr_id cond, struct model **ret)
{
	struct state *s = m->s;

	if (ret)
		*ret = NULL;
	if (expr_is_const(&m->exprs, cond) && !expr_get(&m->exprs, cond)->imm)
		return ANSWER_NO;
	if (machine_value(m, s, cond)) {
		m->stats.queries++;
		m->stats.by_model++;
		if (ret) {
			if (!s->model)
				s->model = model_new(0);
			s->model->refs++;
			*ret = s->model;
		}
		return ANSWER_YES;
	}
	return solver_check(m->solver, s->path, cond, s->model, ret);
}

void machine_assume(struct machine *m, struct state *s, expr_id cond, struct model *model)
{
	if (model) {
		model_unref(s->model);
		s->model = model;
	}
	if (expr_is_const(&m->exprs, cond)) {
		assert(expr_get(&m->exprs, cond)->imm);
		return;
	}
	s->path = path_push(&m->exprs, s->path, cond);
}

uint64_t machine_concretise(struct machine *m, struct val v, unsigned w, const char *why)
{
	uint64_t c;

	if (!v.x)
		return v.c;
	c = machine_value(m, m->s, v.x);
	machine_assume(
		m, m->s,
		expr_binary(&m->exprs, EX_EQ, val_expr(m, v, w), expr_const(&m->exprs, w, c)),
		NULL);
	if (m->known) /* it was this one */
		return c;
	m->s->bounded = true;
	machine_note(m, "%s depended on symbolic input and was given one value", why);
	return c;
}

enum stop machine_decide(struct machine *m, struct val *v, unsigned w, const char *why)
{
	struct exprs *e = &m->exprs;
	struct model *model = NULL;
	expr_id same;
	uint64_t c;

	if (!v->x)
		return STOP_NONE;
	if (m->known || m->guide->follows || m->guide->points) {
		*v = (struct val){ machine_concretise(m, *v, w, why), 0 };
		return STOP_NONE;
	}
	c = machine_value(m, m->s, v->x);
	same = expr_binary(e, EX_EQ, val_expr(m, *v, w), expr_const(e, w, c));
	switch (expr_is_const(e, same) ? ANSWER_NO : machine_may(m, expr_not(e, same), &model)) {
	case ANSWER_NO:
		*v = (struct val){ c, 0 };
		return STOP_NONE;
	case ANSWER_YES: {
		struct state *other = state_fork(m->s, m->next_state++);

		m->stats.forks++;
		machine_assume(m, other, expr_not(e, same), model);
		cache_clear(m);
		m->guide->forked(m, other);
		machine_assume(m, m->s, same, NULL);
		/* the fork shares our frame: own it, and run the operation once more */
		frame_own(&current_thread(m)->top);
		return STOP_SWITCH;
	}
	default:
		*v = (struct val){ machine_concretise(m, *v, w, why), 0 };
		return STOP_NONE;
	}
}

bool machine_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	m->stats.branches++;
	return m->guide->branch(m, cond, yes_pc, no_pc);
}
