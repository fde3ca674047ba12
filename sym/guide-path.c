/* sym/guide-path.c - follow a recorded path.
 *
 * The recording says, per thread, which way each recorded branch went. Values that it does not say
 * are symbols: the program's inputs, and every read that another thread may have written. At a
 * branch the bit decides; the condition on that side becomes a path constraint (a constant one must
 * agree, else the recording is of another program or was cut). What the thread reads and writes at
 * shared sites is handed out as a step of its symbolic trace. The decisions come through three
 * callbacks (struct sym_recording), so that any source can drive it: a plait, or sym_record below,
 * which runs the program concretely and notes its decisions. */
#include "base/err.h"
#include "base/log.h"
#include "sym/machine.h"
#include "sym/program.h"

#include <stdlib.h>

struct follow {
	const struct sym_recording *recording;
	sym_step_fn *step;
	sym_bit_fn *bit; /* recording instead of following */
	void *arg;
	uint32_t reads; /* fresh symbols so far */
};

static enum sym_site site_here(struct machine *m, const struct frame *f)
{
	const struct follow *w = m->guide->data;

	if (!w->recording->site)
		return SYM_SITE_BRANCH;
	return w->recording->site(w->recording->arg, f->f->name, f->f->src[f->pc].ir);
}

static void emit(struct machine *m, enum sym_step_kind kind, uint64_t address, unsigned w,
		 struct val v)
{
	struct follow *fo = m->guide->data;
	const struct frame *f = current_thread(m)->top;
	char where[160];

	if (!fo->step)
		return;
	strbuf_clear(&m->scratch);
	expr_print(&m->exprs, val_expr(m, v, w), &m->scratch);
	fo->step(fo->arg,
		 &(struct sym_step){ .thread = m->s->current,
				     .kind = kind,
				     .where = ir_where(m->ir, f->f, f->pc, where, sizeof(where)),
				     .address = address,
				     .w = (uint8_t)w,
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
	if (site_here(m, current_thread(m)->top) != SYM_SITE_BRANCH) {
		if (!known)
			machine_note(m, "a branch that the recording does not cover depended on "
					"unknown values");
		yes = machine_value(m, m->s, cond);
	} else if (!w->recording->next_branch_bit(w->recording->arg, m->s->current, &yes)) {
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
	emit(m, SYM_STEP_BRANCH, 0, 1, (struct val){ 0, side });
	return yes;
}

static bool follow_read(struct machine *m, uint64_t address, unsigned w, struct val *v)
{
	struct follow *fo = m->guide->data;
	const struct sym_recording *r = fo->recording;
	enum sym_site site = r->site ? site_here(m, current_thread(m)->top) : SYM_SITE_NONE;
	uint64_t value;
	char name[32];

	if (site != SYM_SITE_SHARED && site != SYM_SITE_SHARED_ADDRESS)
		return false;
	if (site == SYM_SITE_SHARED_ADDRESS && r->next_address_value &&
	    r->next_address_value(r->arg, m->s->current, &value)) {
		*v = (struct val){ value & mask_of(w), 0 };
	} else {
		snprintf(name, sizeof(name), "read%u", fo->reads++);
		*v = (struct val){ 0, expr_symbol(&m->exprs, w, name, NULL) };
	}
	emit(m, SYM_STEP_READ, address, w, *v);
	return true;
}

static void follow_write(struct machine *m, uint64_t address, unsigned w, struct val v)
{
	const struct follow *fo = m->guide->data;
	enum sym_site site =
		fo->recording->site ? site_here(m, current_thread(m)->top) : SYM_SITE_NONE;

	if (site == SYM_SITE_SHARED || site == SYM_SITE_SHARED_ADDRESS)
		emit(m, SYM_STEP_WRITE, address, w, v);
}

static void no_end(struct machine *m, struct state *s)
{
	(void)m;
	(void)s;
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
			       .end = no_end,
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
			       .end = no_end,
			       .error = other_error,
			       .forked = drop_fork,
			       .data = &w };

	if (recording->site) {
		guide.read = follow_read;
		guide.write = follow_write;
	}
	return drive(p, config, &guide, ret);
}
