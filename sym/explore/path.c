/* sym/explore/path.c - follow a recorded path.
 *
 * The decisions of a run say which way each branch went. The program's inputs are symbols. At a
 * branch the bit decides; the condition on that side becomes a path constraint (a constant one must
 * agree, else the decisions are of another program). The decisions come through a callback from
 * sym_record below, which runs the program concretely and notes them. Recordings of native runs
 * are followed by sym/follow/plait.c. */
#include "base/err.h"
#include "base/log.h"
#include "sym/machine/machine.h"
#include "sym/ir/program.h"

#include <stdlib.h>

struct follow {
	const struct sym_recording *recording;
	sym_step_fn *step;
	sym_bit_fn *bit; /* recording instead of following */
	void *arg;
};

static void emit_branch(struct machine *m, expr_id cond)
{
	struct follow *fo = m->guide->data;
	const struct frame *f = current_thread(m)->top;
	char where[160];

	if (!fo->step)
		return;
	strbuf_clear(&m->scratch);
	expr_print(&m->exprs, cond, &m->scratch);
	fo->step(fo->arg,
		 &(struct sym_step){ .thread = m->s->current,
				     .kind = SYM_STEP_BRANCH,
				     .where = ir_where(m->ir, f->f, f->pc, where, sizeof(where)),
				     .w = 1,
				     .value = cond,
				     .exprs = &m->exprs,
				     .text = strbuf_str(&m->scratch) });
}

static bool halt(struct machine *m, enum sym_kind kind, const char *why)
{
	machine_fault(m, kind, "%s", why);
	m->halted = true;
	return false;
}

static bool record_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	struct follow *w = m->guide->data;
	bool yes = machine_value(m, m->s, cond);

	(void)yes_pc;
	(void)no_pc;
	w->bit(w->arg, m->s->current, yes);
	return yes;
}

static bool follow_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	struct follow *w = m->guide->data;
	struct model *model = NULL;
	bool known = expr_is_const(&m->exprs, cond), yes;
	expr_id side;

	(void)yes_pc;
	(void)no_pc;
	if (!w->recording->next_branch_bit(w->recording->arg, m->s->current, &yes)) {
		return halt(m, SYM_RECORDING_END, "the recording of this thread ends here");
	}
	if (known)
		return yes == (expr_get(&m->exprs, cond)->imm != 0)
			       ? yes
			       : halt(m, SYM_DIVERGED,
				      "the recording takes the side that this program cannot take");
	side = yes ? cond : expr_not(&m->exprs, cond);
	switch (machine_may(m, side, &model)) {
	case ANSWER_YES:
		break;
	case ANSWER_NO:
		return halt(m, SYM_DIVERGED, "no input makes the program take the recorded side");
	default:
		return halt(m, SYM_BUDGET, "the solver could not decide the recorded side in time");
	}
	machine_assume(m, m->s, side, model);
	emit_branch(m, side);
	return yes;
}

static void other_error(struct machine *m, struct state *s, const struct sym_outcome *o,
			struct model *model)
{
	(void)s;
	(void)model;
	machine_note(m, "another input on this path: %s at %s", o->message, o->where);
}

static void drop_fork(struct machine *m, struct state *s)
{
	machine_note(m, "a pointer on this path may point into several objects; one was followed");
	state_free(s);
}

static struct err *drive(struct sym_program *p, const struct sym_config *config,
			 struct guide *guide, struct sym_result *ret)
{
	double start = clock_seconds();
	struct machine m;
	struct state *s;
	struct err *err;

	machine_init(&m, p->ir, config);
	m.guide = guide;
	err = machine_start(&m, &s);
	if (!err) {
		struct sym_path *path;

		machine_run(&m, s);
		ret->outcome = m.outcome;
		path = vec_add(&ret->paths);
		path->outcome = m.outcome;
		path->ops = s->ops;
		path->constraints = s->path ? s->path->count : 0;
		machine_inputs(&m, s->model, path);
		state_free(s);
		for (size_t i = 0; i < m.notes.len; i++)
			names_intern(&ret->notes, m.notes.text[i]);
		m.stats.paths = 1;
		m.stats.seconds = clock_seconds() - start;
		m.stats.exprs = m.exprs.nodes.len - 1;
		m.stats.symbols = m.exprs.symbols.len;
		ret->stats = m.stats;
	}
	machine_deinit(&m);
	return err;
}

struct err *sym_record(struct sym_program *p, const struct sym_config *config, sym_bit_fn *bit,
		       void *arg, struct sym_result *ret)
{
	struct follow w = { .bit = bit, .arg = arg };
	struct guide guide = { .follows = true,
			       .branch = record_branch,
			       .error = other_error,
			       .forked = drop_fork,
			       .data = &w };

	return drive(p, config, &guide, ret);
}

struct err *sym_follow(struct sym_program *p, const struct sym_config *config,
		       const struct sym_recording *recording, sym_step_fn *step, void *arg,
		       struct sym_result *ret)
{
	struct follow w = { .recording = recording, .step = step, .arg = arg };
	struct guide guide = { .follows = true,
			       .branch = follow_branch,
			       .error = other_error,
			       .forked = drop_fork,
			       .data = &w };

	return drive(p, config, &guide, ret);
}
