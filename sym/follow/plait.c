/* sym/follow/plait.c - follow a plait: rerun each recorded thread along its path, with unknown
 * values where other threads had a say.
 *
 * What comes in: a recording of mode path and the bitcode in its binary. What goes out: the
 * symbolic trace of each thread, step by step (struct sym_step).
 *
 * At an operation that has a site, the recording is asked (recorded.h): a branch takes the side of
 * the next bit, a switch the next successor, a read that became an address has the next value, a
 * call that brought something in from outside returns what it returned (call.c). Every
 * other read of memory that several threads use is a fresh symbol, so the order in which we run the
 * threads does not matter for what they compute. It matters a little for what is not recorded (what
 * a strlen of a shared string sees, where a pointer to somebody's stack points), so threads take
 * turns by the clocks of their records, as far as those are known.
 *
 * Nothing blocks and nothing is freed here: locks, waits and the like are steps of the trace, and a
 * block that was freed keeps its contents, because another thread that we run later may have used
 * it before. Only join waits, for the result.
 *
 * No solver is asked on the way: the run has happened, so its path is possible. A condition that
 * turns out to be constant and wrong means that recording and program do not belong together, or
 * that the machine's model of something differs from the real one: the thread ends as diverged, at
 * that line, and the others go on. */
#include "sym/follow/follow.h"

#include "base/err.h"
#include "base/log.h"
#include "sym/ir/op-sites.h"
#include "sym/ir/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void find_sites(void *arg, struct function *f)
{
	f->sites = op_sites(((struct follow *)arg)->r.sites, f);
}

/* --- helpers --- */

void follow_gap(struct machine *m, const char *fmt, ...)
{
	struct sym_follow_result *r = follow_of(m)->ret;
	va_list ap;
	char text[256];
	uint32_t i;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	i = names_intern(&r->gaps, text);
	while (r->gap_counts.len <= i)
		vec_push(&r->gap_counts, 0);
	r->gap_counts.data[i]++;
}

enum stop follow_halt(struct machine *m, enum sym_kind kind, const char *fmt, ...)
{
	va_list ap;
	char text[256];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	m->halted = true;
	return machine_fault(m, kind, "%s", text);
}

/* The operation in the program's own code that is being executed (a model's caller). */
static const struct frame *follow_own_frame(struct machine *m, uint32_t *pc)
{
	const struct frame *top = current_thread(m)->top, *f = top;

	while (f->f->is_model && f->caller)
		f = f->caller;
	*pc = f == top || !f->pc ? f->pc : f->pc - 1;
	return f;
}

static bool is_beyond(const struct follow *fo, const struct follow_thread *t)
{
	const struct rec_thread *r = t->rec;

	if (fo->ret->checked)
		return !r->ended && r->event >= r->events.len;
	return !r->ended &&
	       !(t->index == 0 && fo->r.meta->ended == 1 &&
		 fo->r.meta->outcome.kind == PLAIT_OUTCOME_PASS) &&
	       r->bit == r->nbits && !recorded_values_left(r) && r->input == r->inputs.len &&
	       r->block == r->blocks.len && r->mark == r->marks.len && r->arm == r->arms.len;
}

bool sym_peek(const struct sym_step *step, uint64_t address, uint64_t *ret)
{
	const struct object *o = address & ADDR_TAG
					 ? memory_find(&step->machine->s->memory,
						       (uint32_t)(address >> 32) & 0x3fffffff)
					 : NULL;
	uint32_t off = (uint32_t)address - ADDR_BIAS;

	if (!o || off >= o->size || (o->sym && o->sym[off]))
		return false;
	*ret = o->bytes[off];
	return true;
}

void follow_emit(struct machine *m, struct sym_step step)
{
	struct follow *fo = follow_of(m);
	struct follow_thread *t = follow_thread(m);
	char where[160];
	uint32_t pc;
	const struct frame *f = follow_own_frame(m, &pc);

	step.thread = t->index;
	step.exprs = &m->exprs;
	step.machine = m;
	step.where = ir_where(m->ir, f->f, pc, where, sizeof(where));
	if (!step.site)
		step.site = f->f->sites ? f->f->sites[pc] : 0;
	if (step.address)
		step.native = addrmap_native(&fo->n, step.address);
	step.beyond = recorded_is_checked(step.event) &&
		      (step.kind != SYM_STEP_BRANCH || fo->r.branch_events) && is_beyond(fo, t);
	t->steps++;
	fo->ret->steps++;
	fo->ret->reads += step.kind == SYM_STEP_READ || step.kind == SYM_STEP_RMW;
	fo->ret->writes += step.kind == SYM_STEP_WRITE || step.kind == SYM_STEP_RMW;
	fo->ret->branches += step.kind == SYM_STEP_BRANCH;
	fo->ret->syncs += step.kind == SYM_STEP_SYNC;
	fo->ret->beyond += step.beyond;
	if (fo->ret->checked && step.event && !step.beyond)
		follow_check(m, &step);
	if (!fo->step)
		return;
	if (fo->options->text && step.value) {
		strbuf_clear(&fo->text);
		expr_print(&m->exprs, step.value, &fo->text);
		step.text = strbuf_str(&fo->text);
	}
	fo->step(fo->arg, &step);
}

struct val follow_symbol(struct machine *m, unsigned w, const char *name, uint32_t *number)
{
	struct follow *fo = follow_of(m);
	char text[96];

	snprintf(text, sizeof(text), "%.70s#%u", *name ? name : "memory", ++fo->nsymbols);
	return (struct val){ 0, expr_symbol(&m->exprs, w, text, number) };
}

enum stop follow_yield(struct machine *m, uint64_t clock)
{
	struct follow *fo = follow_of(m);

	for (uint32_t i = 0; i < m->s->nthreads; i++)
		if (i != m->s->current && m->s->threads[i].status == TH_RUNNABLE &&
		    recorded_next_clock(&fo->r, fo->threads.data[i].rec) < clock)
			return STOP_THREAD;
	return STOP_NONE;
}

/* --- decisions --- */

static void follow_diverged(struct machine *m)
{
	const char *holder = follow_of(m)->holder;

	follow_halt(m, SYM_DIVERGED,
		    "the recording takes the side that this program cannot take%s%s%s",
		    holder ? "; " : "", holder ? holder : "",
		    holder ? " has no bitcode and was given a function: calls from there are not "
			     "followed"
			   : "");
}

/* Is the outcome of this branch in the recording? In one of mode path it is not where values that
 * are logged decide it. */
static bool has_bit(struct machine *m, const struct frame *f)
{
	const struct recorded *r = &follow_of(m)->r;

	return r->full || recorded_site(r, site_here(f))->flags & PLAIT_SITE_RECORDED;
}

static uint64_t decided(struct machine *m, const struct frame *f, expr_id x)
{
	char where[160];

	if (expr_is_const(&m->exprs, x))
		return expr_get(&m->exprs, x)->imm;
	follow_gap(m, "a branch that logged values should decide does not follow from them at %s",
		   ir_where(m->ir, f->f, f->pc, where, sizeof(where)));
	return machine_value(m, m->s, x);
}

uint64_t sym_writes(const struct plait_site *site)
{
	bool writes = site->kind == PLAIT_SITE_WRITE || site->kind == PLAIT_SITE_ATOMIC_WRITE ||
		      site->kind == PLAIT_SITE_ATOMIC_RMW;

	return writes && site->element != UINT32_MAX ? 1ull << site->element % 64 : 0;
}

static uint64_t written_at(void *arg, uint32_t site)
{
	return sym_writes(recorded_site(arg, site));
}

/* Decisions are many in a busy wait, and each slice of operations may have thousands. */
static bool time_is_up(struct machine *m)
{
	const char *why = follow_of(m)->ret->branches % 4096 ? NULL : machine_should_stop(m);

	if (why)
		follow_halt(m, SYM_BUDGET, "%s", why);
	return why;
}

static bool on_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	struct frame *f = current_thread(m)->top;
	struct follow_thread *t = follow_thread(m);
	bool known = expr_is_const(&m->exprs, cond), yes = true;
	bool is_switch = f->f->ops[f->pc].code == OP_SWITCH;
	char where[160];
	expr_id side;

	(void)yes_pc;
	(void)no_pc;
	if (time_is_up(m))
		return false;
	if (!site_here(f)) {
		if (f->f->is_model) {
			m->undecided = true;
			return true;
		}
		follow_gap(m, "a branch that is not recorded depends on unknown values at %s",
			   ir_where(m->ir, f->f, f->pc, where, sizeof(where)));
		yes = machine_value(m, m->s, cond);
	} else if (!has_bit(m, f)) {
		yes = is_switch || decided(m, f, cond);
	} else if (!is_switch && !recorded_bit(t->rec, &yes)) {
		follow_halt(m, SYM_RECORDING_END, "the recording of this thread ends here");
		return false;
	}
	if (known && yes != (expr_get(&m->exprs, cond)->imm != 0)) {
		follow_diverged(m);
		return false;
	}
	side = yes ? cond : expr_not(&m->exprs, cond);
	if (!known) {
		m->s->path = path_push(&m->exprs, m->s->path, side);
		follow_of(m)->ret->constraints++;
	}
	if (site_here(f))
		follow_emit(m,
			    (struct sym_step){
				    .kind = SYM_STEP_BRANCH,
				    .event = PLAIT_EV_BRANCH,
				    .w = 1,
				    .value = side,
				    .writes = ir_only_ahead(m->ir, f->f, f->pc, !yes, written_at,
							    &follow_of(m)->r),
				    .doom = (uint8_t)ir_doom(f->f, f->pc, !yes),
				    .fatal = ir_doom(f->f, f->pc, yes) == 0,
				    .bit = is_switch || !has_bit(m, f) ? 0 : (uint32_t)t->rec->bit,
				    .n = is_switch ? t->result : yes });
	return yes;
}

static enum stop on_pick(struct machine *m, const struct switch_table *s, expr_id v,
			 uint32_t *successor)
{
	struct follow_thread *t = follow_thread(m);
	struct frame *f = current_thread(m)->top;

	if (!has_bit(m, f)) {
		uint64_t c = decided(m, f, v);

		*successor = 0;
		for (uint32_t i = 0; i < s->n; i++)
			if (s->values[i] == c)
				*successor = s->arms[i];
		t->result = *successor;
		return STOP_NONE;
	}
	if (t->rec->arm >= t->rec->arms.len)
		return follow_halt(m, SYM_RECORDING_END, "the recording of this thread ends here");
	*successor = t->rec->arms.data[t->rec->arm++];
	t->result = *successor;
	return STOP_NONE;
}

/* --- running the threads --- */

static void other_error(struct machine *m, struct state *s, const struct sym_outcome *o,
			struct model *model)
{
	(void)s;
	(void)model;
	follow_gap(m, "an operation that other values would make an error: %s at %s",
		   sym_kind_name(o->kind), o->where);
}

static void drop_fork(struct machine *m, struct state *s)
{
	follow_gap(m, "a pointer that may point into several objects; one was followed");
	state_free(s);
}

static uint64_t left(uint64_t have, uint64_t used)
{
	return have > used ? have - used : 0;
}

/* Does the recording say that this thread ended like this? */
static bool is_expected(const struct follow *fo, const struct follow_thread *t,
			const struct sym_outcome *o)
{
	const struct trace_outcome *real = &fo->r.meta->outcome;
	const struct rec_thread *r = t->rec;
	bool used_up = r->bit == r->nbits && !recorded_values_left(r) && r->arm == r->arms.len &&
		       r->input == r->inputs.len;

	if (!used_up || o->kind == SYM_DIVERGED || o->kind == SYM_UNSUPPORTED ||
	    o->kind == SYM_BUDGET)
		return false;
	if (o->kind == SYM_RECORDING_END || o->kind == SYM_DEADLOCK)
		return !r->ended; /* it was stopped in the middle */
	if (o->kind == SYM_EXIT)
		return true;
	return real->kind != PLAIT_OUTCOME_PASS; /* a crash for a crash */
}

static void end_thread(struct machine *m)
{
	struct follow *fo = follow_of(m);
	struct follow_thread *t = follow_thread(m);
	struct rec_thread *r = t->rec;
	struct sym_thread_end *e;
	struct sym_step step = { .kind = SYM_STEP_END, .text = m->outcome.message };

	if (t->finished)
		return;
	t->finished = true;
	e = vec_add(&fo->ret->threads);
	e->thread = t->index;
	snprintf(e->name, sizeof(e->name), "%s", fo->r.meta->threads[t->index].name);
	e->outcome = m->outcome;
	e->expected = is_expected(fo, t, &m->outcome);
	e->bits = r->bit;
	e->values = r->value;
	e->inputs = r->input;
	e->bits_left = left(r->nbits, r->bit);
	e->values_left = recorded_values_left(r);
	e->inputs_left = left(r->inputs.len, r->input);
	if (current_thread(m)->top)
		follow_emit(m, step);
	e = vec_last(&fo->ret->threads);
	e->steps = t->steps;
	if (fo->ret->checked)
		follow_check_end(m, t->index);
}

/* The thread whose next record is the oldest; UINT32_MAX when nobody can run. */
static uint32_t pick_thread(struct machine *m)
{
	struct follow *fo = follow_of(m);
	uint32_t best = UINT32_MAX;
	uint64_t best_clock = 0;

	for (uint32_t i = 0; i < m->s->nthreads; i++) {
		uint64_t c;

		if (m->s->threads[i].status != TH_RUNNABLE)
			continue;
		c = recorded_next_clock(&fo->r, fo->threads.data[i].rec);
		if (best == UINT32_MAX || c < best_clock) {
			best = i;
			best_clock = c;
		}
	}
	return best;
}

static void wake_joiners(struct machine *m, uint32_t thread)
{
	for (uint32_t i = 0; i < m->s->nthreads; i++) {
		struct thread *t = &m->s->threads[i];

		if (t->status == TH_BLOCKED && t->wait_address == thread + 1ull)
			t->status = TH_RUNNABLE;
	}
}

static void run_threads(struct machine *m)
{
	for (;;) {
		uint32_t i = pick_thread(m);
		enum stop st;

		if (i == UINT32_MAX)
			break;
		m->s->current = i;
		m->halted = m->undecided = false;
		st = interp(m);
		i = m->s->current;
		if (st == STOP_BUDGET) {
			const char *why = machine_should_stop(m);

			progress("following: %llu steps",
				 (unsigned long long)((struct follow *)m->guide->data)->ret->steps);

			if (why)
				st = machine_fault(m, SYM_BUDGET, "%s", why);
			else if (m->s->ops + 1 >= m->op_limit)
				st = machine_fault(m, SYM_BUDGET, "more than %llu operations",
						   (unsigned long long)m->op_limit);
			if (st == STOP_END) {
				end_thread(m);
				return;
			}
		}
		if (m->s->threads[i].status == TH_DONE) {
			m->outcome = (struct sym_outcome){ .kind = SYM_EXIT };
			end_thread(m);
		} else if (st == STOP_END) {
			end_thread(m);
			m->s->threads[i].status = TH_DONE;
			wake_joiners(m, i);
		}
	}
	for (uint32_t i = 0; i < m->s->nthreads; i++) { /* who waits for somebody who was cut off */
		m->s->current = i;
		machine_outcome(m, &m->outcome, SYM_RECORDING_END, "waits for another thread");
		end_thread(m);
	}
}

static const struct site_hooks hooks = {
	.read = follow_read,
	.write = follow_write,
	.rmw_read = follow_rmw_read,
	.rmw_write = follow_rmw_write,
	.copy = follow_copy,
	.pick = on_pick,
	.call = follow_call,
	.builtin = follow_builtin,
	.allocate = follow_allocate,
	.undecided = follow_undecided,
};

static struct err *start(struct machine *m, struct follow *fo, struct state **s)
{
	struct err *err;

	m->ir->on_lowered = find_sites;
	m->ir->on_lowered_arg = fo;
	for (size_t i = 0; i < m->ir->functions.len; i++)
		if (m->ir->functions.data[i]->lowered)
			find_sites(fo, m->ir->functions.data[i]);
	err = machine_start(m, s);
	if (!err)
		vec_push(&fo->threads, ((struct follow_thread){ .rec = &fo->r.threads[0] }));
	return err;
}

static void finish(struct machine *m, struct follow *fo)
{
	struct sym_follow_result *r = fo->ret;

	for (size_t i = 0; i < m->notes.len; i++)
		follow_gap(m, "%s", m->notes.text[i]);
	r->complete = true;
	for (size_t i = 0; i < r->threads.len; i++)
		r->complete &= r->threads.data[i].expected;
	r->symbols = m->exprs.symbols.len;
	m->stats.exprs = m->exprs.nodes.len - 1;
	m->stats.symbols = m->exprs.symbols.len;
	r->stats = m->stats;
	for (size_t i = 0; i < m->ir->functions.len; i++) {
		free(m->ir->functions.data[i]->sites);
		m->ir->functions.data[i]->sites = NULL;
	}
	m->ir->on_lowered = NULL;
}

static struct err *follow_run(struct follow *fo, struct sym_program *p)
{
	const struct trace_meta *meta = fo->r.meta;
	struct sym_config config = { .args = (const char *const *)meta->command,
				     .max_ops = fo->options->max_ops,
				     .max_seconds = fo->options->max_seconds,
				     .interrupted = fo->options->interrupted,
				     .query_ms = 1000 };
	struct guide guide = { .follows = true,
			       .branch = on_branch,
			       .error = other_error,
			       .forked = drop_fork,
			       .sites = &hooks,
			       .data = fo };
	double began = clock_seconds();
	struct machine m;
	struct state *s;
	struct err *err;

	while (meta->command && meta->command[config.nargs])
		config.nargs++;
	machine_init(&m, p->ir, &config);
	m.guide = &guide;
	err = start(&m, fo, &s);
	if (!err) {
		run_threads(&m);
		m.stats.seconds = clock_seconds() - began;
		progress_done();
		finish(&m, fo);
		state_free(s);
	}
	machine_deinit(&m);
	return err;
}

struct err *sym_follow_plait(struct trace *t, const struct sym_follow_options *options,
			     sym_step_fn *step, void *arg, struct sym_follow_result *ret)
{
	struct follow fo = { .options = options, .step = step, .arg = arg, .ret = ret };
	struct sym_program *p = options->program, *opened = NULL;
	struct err *err = recorded_open(t, &fo.r);

	if (!err && options->check)
		err = recorded_add_check(&fo.r, options->check);
	for (size_t i = 0; i < options->ndetours && !err; i++)
		recorded_detour(&fo.r.threads[options->detours[i].thread],
				options->detours[i].bits);
	ret->checked = !err && !options->ndetours && (fo.r.full || options->check);
	if (!err && !p)
		err = sym_open(fo.r.binary, NULL, &opened);
	if (opened)
		p = opened;
	if (!err)
		err = addrmap_init(&fo.n, &fo.r, p->ir);
	if (!err)
		err = follow_run(&fo, p);
	sym_close(opened);
	addrmap_deinit(&fo.n);
	recorded_close(&fo.r);
	vec_deinit(&fo.threads);
	vec_deinit(&fo.values);
	vec_deinit(&fo.is_known);
	vec_deinit(&fo.handles);
	strbuf_deinit(&fo.text);
	return err;
}

void sym_follow_result_deinit(struct sym_follow_result *r)
{
	vec_deinit(&r->threads);
	names_deinit(&r->gaps);
	vec_deinit(&r->gap_counts);
	names_deinit(&r->mismatches);
}
