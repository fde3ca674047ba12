/* rewind/ahead.c - see ahead.h.
 *
 * A worklist of ways. Each is run instruction by instruction; a branch on something unknown splits it in two,
 * and a side that contradicts what is known is dropped.
 *
 * A thread that has not ended goes on behind the dump's moment for a while, on the dump's values: what it would
 * have written next tells what it was in the middle of. Those events are marked `future`. */
#include "rewind/ahead-state.h"

#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/code.h"
#include "rewind/compute.h"
#include "rewind/mates.h"
#include "rewind/trie.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TRACKS = 24, MOST_WAYS = 256, MOST_STEPS = 4000, MOST_FUTURE = 400, MOST_TURNS = 16 };

void ahead_give_up(struct ahead *a, const char *why)
{
	a->now.dead = true;
	if (a->now.future) /* what comes behind the dump is only a help */
		return;
	if (a->ret->complete) {
		a->ret->why = why;
		a->ret->where = a->now.pc;
	}
	a->ret->complete = false;
}

/* ---- tracks ---- */

static void track_free(struct track *t)
{
	vec_deinit(&t->events);
	vec_deinit(&t->conditions);
	vec_deinit(&t->calls);
	vec_deinit(&t->path);
	vec_deinit(&t->blocks);
	free(t);
}

#define copy_vec(to, from)                                                                         \
	for (size_t i_ = 0; i_ < (from)->len; i_++)                                                \
	vec_push(to, (from)->data[i_])

static struct track *track_copy(const struct track *from)
{
	struct track *t = xcalloc(1, sizeof(*t));

	copy_vec(&t->events, &from->events);
	copy_vec(&t->conditions, &from->conditions);
	copy_vec(&t->calls, &from->calls);
	copy_vec(&t->path, &from->path);
	copy_vec(&t->blocks, &from->blocks);
	memcpy(t->start, from->start, sizeof(t->start));
	memcpy(t->end, from->end, sizeof(t->end));
	t->decided = from->decided;
	t->fits = from->fits;
	t->home = from->home;
	return t;
}

void tracks_deinit(struct tracks *t)
{
	for (size_t i = 0; i < t->all.len; i++)
		track_free(t->all.data[i]);
	for (size_t i = 0; i < t->dropped.len; i++)
		track_free(t->dropped.data[i]);
	vec_deinit(&t->all);
	vec_deinit(&t->dropped);
	map_deinit(&t->written);
	vec_deinit(&t->reads);
	map_deinit(&t->unresolved);
	*t = (struct tracks){ 0 };
}

static struct way_ahead split(struct ahead *a)
{
	struct way_ahead w = a->now;

	w.t = track_copy(a->now.t);
	w.p = past_fork(a->h, a->now.p);
	return w;
}

/* Must hold on this way; false: it cannot. */
bool ahead_require(struct ahead *a, struct way_ahead *w, expr_id bit)
{
	struct history *h = a->h;
	uint32_t old = w->p->nconstraints;

	bit = past_simplify(h, w->p, bit);
	if (expr_is_const(&h->exprs, bit))
		return expr_get(&h->exprs, bit)->imm != 0;
	vec_push(&w->t->conditions, ((struct ahead_condition){ bit, (uint32_t)w->t->events.len }));
	return past_assume(h, w->p, bit) && past_settle(h, w->p, &old) &&
	       past_check(h, w->p, MIN(old, w->p->nconstraints));
}

/* ---- the end ---- */

struct own_bytes {
	struct ahead *a;
	struct way_ahead *w;
	uint64_t sp;
	bool differs;
};

static void compare_own(uint64_t key, uint64_t cell, void *arg)
{
	const expr_id *bytes = (const expr_id *)(uintptr_t)cell;
	struct own_bytes *o = arg;
	struct exprs *x = &o->a->h->exprs;

	for (unsigned i = 0; i < 8 && !o->differs; i++) {
		uint64_t at = key * 8 + i;
		uint8_t byte;

		if (!bytes[i] || at < o->sp || at >= o->a->m->stack_high ||
		    (o->a->m->from && map_find(&o->a->h->shared, at)) ||
		    !dump_read(o->a->h->dump, at, &byte, 1))
			continue;
		o->differs = !ahead_require(
			o->a, o->w, expr_binary(x, EX_EQ, bytes[i], expr_const(x, 8, byte)));
	}
}

/* Can this be the moment of the dump? If so, the track is done; and the thread goes on from there. */
static void try_end(struct ahead *a, const struct function *f, const struct insn *in)
{
	const struct ahead_end *e = a->end;
	struct exprs *x = &a->h->exprs;
	struct way_ahead w;
	struct own_bytes o;
	uint64_t sp;

	if (!e->is_set || a->scout || a->now.future || a->now.pc != e->pc ||
	    !past_value(a->h, a->now.p, a->now.p->registers[LIFT_RSP], &sp) ||
	    sp != e->regs[LIFT_RSP])
		return;
	w = split(a);
	w.t->decided = (uint32_t)w.t->conditions.len;
	w.t->fits = true;
	memcpy(w.t->end, w.p->registers, sizeof(w.t->end));
	o = (struct own_bytes){ .a = a, .w = &w, .sp = sp };
	for (unsigned i = 0; i < 16 && !o.differs; i++)
		o.differs =
			e->known[i] && !ahead_require(a, &w,
						      expr_binary(x, EX_EQ, w.p->registers[i],
								  expr_const(x, 64, e->regs[i])));
	if (!o.differs)
		trie_each(w.p->memory, compare_own, &o);
	if (o.differs) {
		track_free(w.t);
		return;
	}
	w.future = 1;
	if (e->in_call) { /* on the way that ends here */
		struct way_ahead old = a->now;

		a->now = w;
		a->now.future = 0;
		ahead_finish_call(a, in, f);
		w = a->now;
		w.future = 1;
		a->now = old;
	}
	vec_push(&a->todo, w);
}

/* The way is over: keep its track if it fits. */
static void finish(struct ahead *a, bool returned)
{
	bool fits = a->now.future || (returned && !a->end->is_set);

	if (a->scout)
		fits = false;
	if (!a->now.t->fits)
		a->now.t->decided = (uint32_t)a->now.t->conditions.len;
	if (fits && a->ret->all.len == MOST_TRACKS) {
		ahead_give_up(a, "too many ways through a thread");
		fits = false;
	}
	if (fits) {
		a->now.t->ended = returned && !a->now.future;
		vec_push(&a->ret->all, a->now.t);
	} else if (a->ret->dropped.len < MOST_WAYS) {
		vec_push(&a->ret->dropped, a->now.t);
	} else {
		track_free(a->now.t);
	}
	a->now.t = NULL;
}

/* ---- jumps ---- */

/* A pointer that was read from shared memory: one way for each place that it can lead to. The last one
 * is this way's own. */
static bool follow_pointer(struct ahead *a, expr_id target, uint64_t *ret)
{
	struct exprs *x = &a->h->exprs;
	struct candidates c;
	bool found = false;

	if (a->now.future || !ahead_enumerate(a, target, &c))
		return false;
	for (unsigned i = 0; i < c.n; i++) {
		struct way_ahead w;

		if (!dump_module_at(a->h->dump, c.data[i]))
			continue; /* it would have failed here */
		if (found) {
			w = split(a);
			w.pc = *ret;
			vec_push(&w.t->path, a->insn->address);
			if (ahead_require(a, &w, ahead_is_at(a, target, *ret)))
				vec_push(&a->todo, w);
			else
				track_free(w.t);
		}
		*ret = c.data[i];
		found = true;
	}
	if (!found ||
	    !ahead_require(a, &a->now, expr_binary(x, EX_EQ, target, expr_const(x, 64, *ret))))
		a->now.dead = true;
	return true;
}

static void go_to(struct ahead *a, const struct function *f, const struct lift_op *end)
{
	const char *name;
	uint64_t to = end->imm;
	expr_id target;

	if (end->w == LIFT_SYSCALL || end->w == LIFT_TRAP) {
		ahead_give_up(a, "a system call or a trap");
		return;
	}
	if (end->w != LIFT_RETURN && (name = code_import(a->h->code, f, a->insn)) &&
	    (end->w == LIFT_CALL || to < f->low || to >= f->high)) {
		ahead_import(a, name);
		return;
	}
	if (end->a) {
		target = past_simplify(a->h, a->now.p, a->temps[end->a]);
		if (a->scout && end->w == LIFT_CALL &&
		    (!past_value(a->h, a->now.p, target, &to) || !dump_module_at(a->h->dump, to))) {
			ahead_behind_call(a, ahead_fresh(a, 64, "result of a call"));
			return;
		}
		if (!past_value(a->h, a->now.p, target, &to) && !follow_pointer(a, target, &to)) {
			ahead_give_up(a, "a jump through a pointer that is not known");
			return;
		}
	}
	a->now.pc = to;
}

/* ---- instructions ---- */

static bool is_locked(struct ahead *a)
{
	size_t len;
	uint32_t flags;
	const uint8_t *b = code_file_bytes(a->h->code, a->now.pc, &len, &flags);

	return b && len > 3 &&
	       (b[0] == 0xf0 || b[0] == 0x86 || b[0] == 0x87 ||
		((b[0] & 0xf0) == 0x40 && (b[1] == 0x86 || b[1] == 0x87)));
}

/* A scout takes both sides of a branch, each a few times. True: taken on this way. */
static bool leave_scouting(struct ahead *a, expr_id guard, uint64_t to)
{
	struct exprs *x = &a->h->exprs;
	uint64_t *count[2];
	struct way_ahead w;
	bool taken = expr_is_const(x, guard) && expr_get(x, guard)->imm;

	for (unsigned i = 0; i < 2; i++)
		count[i] = map_put(&a->sides, a->now.pc << 1 | i, 0);
	count[0] = map_find(&a->sides, a->now.pc << 1);
	if (*count[!taken] == 0 && a->ways++ < MOST_WAYS) {
		++*count[!taken];
		w = split(a);
		w.pc = to;
		vec_push(&a->todo, w); /* the copy takes it, this one goes on */
		return false;
	}
	if (++*count[taken] > MOST_TURNS)
		a->now.dead = true;
	if (taken)
		a->now.pc = to;
	return taken;
}

/* An exit: taken, not taken, or both ways. True: taken. */
static bool leave(struct ahead *a, expr_id guard, uint64_t to)
{
	struct exprs *x = &a->h->exprs;
	struct way_ahead w;

	guard = past_simplify(a->h, a->now.p, guard);
	if (a->scout)
		return leave_scouting(a, guard, to);
	if (!expr_is_const(x, guard) && a->now.future) { /* one way is enough there */
		a->now.dead = true;
		return false;
	}
	if (!expr_is_const(x, guard)) {
		w = split(a);
		w.pc = to;
		vec_push(&w.t->path, a->insn->address);
		if (a->ways++ < MOST_WAYS && ahead_require(a, &w, guard)) {
			vec_push(&a->todo, w);
		} else {
			if (a->ways > MOST_WAYS)
				ahead_give_up(a, "too many ways through a thread");
			track_free(w.t);
		}
		if (!ahead_require(a, &a->now, expr_not(x, guard)))
			a->now.dead = true;
		return false;
	}
	if (!expr_get(x, guard)->imm)
		return false;
	a->now.pc = to;
	return true;
}

static void run_insn(struct ahead *a, const struct function *f)
{
	const struct lift_op *ops = insn_ops(f, a->insn);
	expr_id *t = a->temps, *regs = a->now.p->registers;

	a->atomic = is_locked(a);
	for (unsigned i = 0; i < a->insn->nops && !a->now.dead; i++) {
		const struct lift_op *op = &ops[i];

		switch (op->kind) {
		case LIFT_CONST:
			t[op->dst] = expr_const(&a->h->exprs, op->w, op->imm);
			break;
		case LIFT_GET:
			t[op->dst] = regs[op->imm];
			break;
		case LIFT_PUT:
			regs[op->imm] = t[op->a];
			break;
		case LIFT_LOAD:
			t[op->dst] = ahead_load(a, t[op->a], op->w);
			break;
		case LIFT_STORE:
			ahead_store(a, t[op->a], op->w, t[op->b]);
			break;
		case LIFT_OPAQUE:
			t[op->dst] = ahead_fresh(a, op->w, "some value");
			break;
		case LIFT_EXIT:
			if (leave(a, t[op->a], op->imm))
				return;
			break;
		case LIFT_NEXT:
			go_to(a, f, op);
			break;
		case LIFT_REFUSE:
			ahead_give_up(a, "an instruction that cannot be lifted");
			break;
		default:
			t[op->dst] = compute(&a->h->exprs, op, t);
		}
	}
}

/* Run the way in a->now to its end. */
static void run_way(struct ahead *a)
{
	const struct function *f;
	const char *why;

	while (!a->now.dead) {
		const struct dump_module *m = dump_module_at(a->h->dump, a->now.pc);

		if (a->m->from && m && mates_is_libc(m)) /* it returned from main() */
			break;
		if (a->now.pc == a->home || a->now.exits) {
			finish(a, true);
			return;
		}
		if (a->now.future ? a->now.future++ == MOST_FUTURE
				  : a->now.t->path.len == MOST_STEPS) {
			if (!a->now.future)
				ahead_give_up(a, "a thread that ran for long");
			break;
		}
		f = code_function(a->h->code, a->now.pc, &why);
		a->insn = f ? function_insn(f, a->now.pc) : NULL;
		if (!a->insn) {
			ahead_give_up(a, "code that cannot be read");
			break;
		}
		try_end(a, f, a->insn);
		run_insn(a, f);
		if (!a->now.future)
			vec_push(&a->now.t->path, a->insn->address);
	}
	finish(a, false);
}

/* A start routine, with its argument. */
static void begin_routine(struct ahead *a, uint64_t sp)
{
	struct past *p = a->now.p = past_fork(a->h, a->dump);
	struct exprs *x = &a->h->exprs;

	a->now.pc = a->m->entry;
	for (unsigned i = 0; i < LIFT_REGISTERS; i++)
		p->registers[i] = ahead_fresh(a, lift_register_width(i), "at the beginning");
	p->registers[LIFT_RDI] = expr_const(x, 64, a->m->argument);
	p->registers[LIFT_RSP] = expr_const(x, 64, sp);
	p->registers[LIFT_FS] = expr_const(x, 64, a->m->self);
	p->registers[LIFT_DF] = expr_const(x, 1, 0);
	if (a->end->is_set)
		dump_read(a->h->dump, sp, &a->home, 8);
	past_store(a->h, p, sp, 64, expr_const(x, 64, a->home));
}

static void begin_first(struct ahead *a)
{
	struct past *p = a->now.p = past_fork(a->h, a->m->from);

	a->now.pc = p->pc;
	for (unsigned i = 0; i < LIFT_REGISTERS; i++)
		p->registers[i] = past_simplify(a->h, p, p->registers[i]);
}

static void begin(struct ahead *a, uint64_t sp)
{
	a->home = 0x7ffffffff001; /* no code lies there */
	a->now = (struct way_ahead){ .t = xcalloc(1, sizeof(struct track)) };
	if (a->m->from)
		begin_first(a);
	else
		begin_routine(a, sp);
	memcpy(a->now.t->start, a->now.p->registers, sizeof(a->now.t->start));
	a->now.t->home = a->home;
}

void ahead_run(struct history *h, const struct mates *mates, size_t n, uint64_t sp,
	       const struct ahead_end *end, const struct possibles *possible, double deadline,
	       struct tracks *ret)
{
	struct ahead *a = xcalloc(1, sizeof(*a));

	*ret = (struct tracks){ .complete = true };
	*a = (struct ahead){ .h = h,
			     .m = &mates->data[n],
			     .mates = mates,
			     .end = end,
			     .possible = possible,
			     .ret = ret };
	for (size_t i = 0; i < mates->len; i++)
		if (mates->data[i].from)
			a->first = &mates->data[i];
	a->scout = !possible;
	a->dump = past_of_dump(h, 0);
	begin(a, sp);
	vec_push(&a->todo, a->now);
	while (a->todo.len) {
		a->now = vec_pop(&a->todo);
		if (work_seconds() > deadline || interrupted())
			ahead_give_up(a, "the time was over");
		run_way(a);
	}
	map_deinit(&a->blocks);
	map_deinit(&a->sides);
	vec_deinit(&a->todo);
	free(a);
}
