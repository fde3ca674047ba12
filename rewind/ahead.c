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

enum {
	MOST_TRACKS = 24,
	MOST_WAYS = 256,
	MOST_STEPS = 4000,
	MOST_FUTURE = 400,
	MOST_COPIED = 256,
	MOST_TURNS = 16
};

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
		    !dump_read(o->a->h->dump, at, &byte, 1))
			continue;
		o->differs = !ahead_require(
			o->a, o->w, expr_binary(x, EX_EQ, bytes[i], expr_const(x, 8, byte)));
	}
}

/* Did a call that the thread is in take effect already? Only mutexes tell. */
static void finish_call(struct ahead *a, const struct insn *call, const struct function *f)
{
	const char *name = code_import(a->h->code, f, call);
	uint64_t at, owner = 0;

	if (!name || !past_value(a->h, a->now.p, a->now.p->registers[LIFT_RDI], &at) ||
	    !dump_read(a->h->dump, at + 8, &owner, 4))
		return;
	if (strcmp(name, "pthread_mutex_lock") == 0 && owner == a->end->tid)
		ahead_note(a, AHEAD_LOCK, at, 0, 0, 0);
	else if (strcmp(name, "pthread_mutex_unlock") == 0 && owner != a->end->tid)
		ahead_note(a, AHEAD_UNLOCK, at, 0, 0, 0);
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
		finish_call(a, in, f);
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
	if (fits && a->ret->all.len == MOST_TRACKS) {
		ahead_give_up(a, "too many ways through a thread");
		fits = false;
	}
	if (fits) {
		a->now.t->ended = returned && !a->now.future;
		if (!a->now.t->fits)
			a->now.t->decided = (uint32_t)a->now.t->conditions.len;
		vec_push(&a->ret->all, a->now.t);
	} else if (a->ret->dropped.len < MOST_WAYS) {
		vec_push(&a->ret->dropped, a->now.t);
	} else {
		track_free(a->now.t);
	}
	a->now.t = NULL;
}

/* ---- calls ---- */

static const uint8_t arguments[] = { LIFT_RDI, LIFT_RSI, LIFT_RDX };

static bool argument(struct ahead *a, unsigned n, uint64_t *ret)
{
	return past_value(a->h, a->now.p, a->now.p->registers[arguments[n]], ret);
}

/* Behind a call that was not entered; the return address is on the stack. */
static void behind_call(struct ahead *a, expr_id result)
{
	struct exprs *x = &a->h->exprs;
	expr_id *regs = a->now.p->registers;
	uint64_t back;

	if (!past_value(a->h, a->now.p, ahead_load(a, regs[LIFT_RSP], 64), &back)) {
		ahead_give_up(a, "a return address that is not known");
		return;
	}
	regs[LIFT_RSP] = expr_binary(x, EX_ADD, regs[LIFT_RSP], expr_const(x, 64, 8));
	for (unsigned i = 0; i < LIFT_FS; i++)
		if (i != LIFT_RBX && i != LIFT_RBP && i != LIFT_RSP && i != LIFT_DF &&
		    (i < LIFT_R12 || i > LIFT_R15))
			regs[i] = ahead_fresh(a, lift_register_width(i), "changed by a call");
	for (unsigned i = LIFT_YMM; i < LIFT_REGISTERS; i++)
		regs[i] = ahead_fresh(a, 64, "changed by a call");
	regs[LIFT_RAX] = result;
	vec_push(&a->now.t->calls, ((struct ahead_call){ .step = (uint32_t)a->now.t->path.len,
							 .result = result,
							 .sp = regs[LIFT_RSP],
							 .back = back }));
	a->now.pc = back;
}

static expr_id allocate(struct ahead *a, bool zeroes)
{
	struct exprs *x = &a->h->exprs;
	expr_id v = ahead_fresh(a, 64, "block");
	uint64_t number = expr_get(x, v)->imm, n = 0, size = 0;

	map_put(&a->blocks, number, 1);
	vec_push(&a->now.t->blocks, v);
	if (zeroes && argument(a, 0, &n) && argument(a, 1, &size) && n * size <= 4096)
		for (uint64_t i = 0; i < n * size; i++)
			past_store(a->h, a->now.p, AHEAD_BLOCKS + (number << 20) + i, 8,
				   expr_const(x, 8, 0));
	return ahead_require(a, &a->now,
			     expr_not(x, expr_binary(x, EX_EQ, v, expr_const(x, 64, 0))))
		       ? v
		       : 0;
}

/* memcpy and memset of a few bytes, eight at a time as long as that goes. */
static bool copy(struct ahead *a, bool set)
{
	struct exprs *x = &a->h->exprs;
	expr_id to = a->now.p->registers[LIFT_RDI], from = a->now.p->registers[LIFT_RSI], v;
	uint64_t n;

	if (!argument(a, 2, &n) || n > MOST_COPIED)
		return false;
	for (uint64_t at = 0; at < n;) {
		unsigned bytes = n - at >= 8 ? 8 : n - at >= 4 ? 4 : 1;
		expr_id off = expr_const(x, 64, at);

		if (set) {
			v = expr_extract(x, from, 0, 8);
			for (unsigned i = 1; i < bytes; i++)
				v = expr_concat(x, expr_extract(x, from, 0, 8), v);
		} else {
			v = ahead_load(a, expr_binary(x, EX_ADD, from, off), 8 * bytes);
		}
		ahead_store(a, expr_binary(x, EX_ADD, to, off), 8 * bytes, v);
		at += bytes;
	}
	return true;
}

/* A call of a library function by name. */
static void call_import(struct ahead *a, const char *name)
{
	struct exprs *x = &a->h->exprs;
	expr_id zero = expr_const(x, 64, 0), result = zero;
	uint64_t mutex = 0;
	static const char *const harmless[] = { "free",	  "_ZdlPv",  "_ZdlPvm",	    "puts",
						"printf", "putchar", "sched_yield", "usleep",
						"write",  "fputs",   "fflush" };
	bool known = false;

	if (strcmp(name, "pthread_mutex_lock") == 0 || strcmp(name, "pthread_mutex_unlock") == 0) {
		known = argument(a, 0, &mutex);
		ahead_note(a, strchr(name + 14, 'u') ? AHEAD_UNLOCK : AHEAD_LOCK, mutex, 0, 0, 0);
	} else if (strcmp(name, "malloc") == 0 || strcmp(name, "_Znwm") == 0 ||
		   strcmp(name, "calloc") == 0) {
		result = allocate(a, *name == 'c');
		known = result != 0;
	} else if (strcmp(name, "memcpy") == 0 || strcmp(name, "memmove") == 0 ||
		   strcmp(name, "memset") == 0) {
		result = a->now.p->registers[LIFT_RDI];
		known = copy(a, name[3] == 's');
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
			known |= strcmp(name, harmless[i]) == 0;
		result = ahead_fresh(a, 64, "result of a call");
	}
	if (known || a->scout)
		behind_call(a, known ? result : ahead_fresh(a, 64, "result of a call"));
	else
		ahead_give_up(a, "a call of a library that threads cannot be run through");
}

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
		call_import(a, name);
		return;
	}
	if (end->a) {
		target = past_simplify(a->h, a->now.p, a->temps[end->a]);
		if (a->scout && end->w == LIFT_CALL &&
		    (!past_value(a->h, a->now.p, target, &to) || !dump_module_at(a->h->dump, to))) {
			behind_call(a, ahead_fresh(a, 64, "result of a call"));
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
		if (a->now.pc == a->home) {
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

static void begin(struct ahead *a, uint64_t sp)
{
	struct past *p = past_fork(a->h, a->dump);
	struct exprs *x = &a->h->exprs;

	a->now = (struct way_ahead){ .t = xcalloc(1, sizeof(struct track)),
				     .p = p,
				     .pc = a->m->entry };
	for (unsigned i = 0; i < LIFT_REGISTERS; i++)
		p->registers[i] = ahead_fresh(a, lift_register_width(i), "at the beginning");
	p->registers[LIFT_RDI] = expr_const(x, 64, a->m->argument);
	p->registers[LIFT_RSP] = expr_const(x, 64, sp);
	p->registers[LIFT_FS] = expr_const(x, 64, a->m->self);
	p->registers[LIFT_DF] = expr_const(x, 1, 0);
	if (!a->end->is_set || !dump_read(a->h->dump, sp, &a->home, 8))
		a->home = 0x7ffffffff001; /* no code lies there */
	past_store(a->h, p, sp, 64, expr_const(x, 64, a->home));
	memcpy(a->now.t->start, p->registers, sizeof(p->registers));
	a->now.t->home = a->home;
}

void ahead_run(struct history *h, const struct mate *m, uint64_t sp, const struct ahead_end *end,
	       const struct possibles *possible, double deadline, struct tracks *ret)
{
	struct ahead *a = xcalloc(1, sizeof(*a));

	*ret = (struct tracks){ .complete = true };
	*a = (struct ahead){ .h = h, .m = m, .end = end, .possible = possible, .ret = ret };
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
