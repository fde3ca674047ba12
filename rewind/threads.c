/* rewind/threads.c - see threads.h.
 *
 * What is shared is not known in the beginning, and what a thread does depends on it. So all of it is repeated
 * until nothing new is shared, a few times at most:
 *   1. every thread forwards; the first time only to see what it may write (ahead.h: scout);
 *   2. what they wrote is shared; where an address depends on something that was read and that nobody knows
 *      yet, the whole object is;
 *   3. the first thread backwards, for which shared memory is unknown while it starts and joins threads;
 *   4. which values can places in shared memory have? The first ones are known now, the rest is what the
 *      threads write. This tells the addresses that were not known in step 2.
 * Then the order engine is asked, for each combination of the ways that the threads can have taken. If no order is the
 * cause, the first thread takes part: it is run forwards, too, from the moment before it began the others. */
#include "rewind/threads.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "debug/binary.h"
#include "debug/dump.h"
#include "debug/heap.h"
#include "rewind/between.h"
#include "rewind/initial.h"
#include "rewind/rewind.h"
#include "rewind/start.h"
#include "rewind/together.h"
#include "rewind/trail.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROUNDS = 12,
	LARGEST_OBJECT = 1 << 16,
	MOST_VALUES = 64,
	MOST_COMBINATIONS = 32,
	LEVELS = 6,
	MOST_BLOCKS = 120,
	MOST_VAIN = 6,
	WIDTH = 16,
	CERTAIN_SECONDS = 4
};

/* Of the time for orders: without the first thread. */
#define FIRST_SHARE 0.6

void threads_deinit(struct threads *t)
{
	for (size_t i = 0; t->tracks && i < t->mates.len; i++)
		tracks_deinit(&t->tracks[i]);
	for (size_t i = 0; i < t->possible.len; i++)
		vec_deinit(&t->possible.data[i].values);
	vec_deinit(&t->possible);
	vec_deinit(&t->scratch);
	map_deinit(&t->mains);
	vec_deinit(&t->mates);
	weave_deinit(&t->weave);
	tree_deinit(&t->tree);
	free(t->tracks);
	free(t->chosen);
	*t = (struct threads){ 0 };
}

static void leave_out(struct threads *t, const char *why, uint64_t where)
{
	if (t->complete) {
		t->why = why;
		t->where = where;
	}
	t->complete = false;
}

/* ---- every thread forwards ---- */

static bool is_kept(unsigned reg)
{
	return reg == LIFT_RBX || reg == LIFT_RBP || reg == LIFT_RSP ||
	       (reg >= LIFT_R12 && reg <= LIFT_R15);
}

/* Where the dump has a thread. False: outside its start routine, before or behind it. */
static bool find_end(struct rewind *r, const struct mate *m, struct ahead_end *ret)
{
	const struct dump_thread *d = &r->dump.threads.data[m->thread];
	const struct past *now;
	struct own_call c;

	*ret = (struct ahead_end){ .is_set = true, .tid = d->tid };
	if (own_call_find(&r->h, &r->names, m->thread, &c)) {
		ret->pc = c.pc;
		ret->in_call = true;
		memcpy(ret->regs, c.regs, sizeof(c.regs));
		for (unsigned i = 0; i < 16; i++)
			ret->known[i] = is_kept(i);
		return true;
	}
	now = past_of_dump(&r->h, m->thread);
	ret->pc = now->pc;
	for (unsigned i = 0; i < 16; i++)
		ret->known[i] = past_value(&r->h, now, now->registers[i], &ret->regs[i]);
	return true;
}

static void run_mate(struct rewind *r, size_t n, bool scout, double deadline)
{
	struct threads *t = &r->threads;
	const struct mate *m = &t->mates.data[n];
	struct ahead_end end = { 0 };
	uint64_t sp = ((m->self - 4096) & ~15ull) - 8;
	bool outside = false;

	tracks_deinit(&t->tracks[n]);
	if (m->from) {
		find_end(r, m, &end);
	} else if (m->thread != MATE_ENDED) {
		outside = !entry_stack(&r->h, &r->names, m->thread, m->entry, &sp);
		if (!outside)
			find_end(r, m, &end);
	}
	ahead_run(&r->h, &t->mates, n, sp, &end, scout ? NULL : &t->possible, deadline,
		  &t->tracks[n]);
	if (outside) { /* it may not have begun yet */
		struct track *none = xcalloc(1, sizeof(*none));

		vec_push(&t->tracks[n].all, none);
	}
}

static bool share(struct history *h, uint64_t at, uint64_t bytes)
{
	bool new = false;

	for (uint64_t i = 0; i < bytes; i++)
		if (!map_find(&h->shared, at + i)) {
			map_put(&h->shared, at + i, 1);
			new = true;
		}
	return new;
}

/* The object around an address, as far as the dump knows it. */
static bool share_object(struct rewind *r, uint64_t address)
{
	uint64_t base, size;
	struct heap_chunk chunk;

	if (heap_chunk_at(&r->dump, address, &chunk)) {
		base = chunk.start;
		size = chunk.size;
	} else if (!dump_names_global(&r->names, address, &base, &size)) {
		return false;
	}
	return size <= LARGEST_OBJECT && share(&r->h, base, size);
}

/* What the threads wrote is shared. True: something new is. */
static bool share_writes(struct rewind *r, const struct tracks *all)
{
	bool new = false;

	for (size_t i = 0; i < all->written.len; i++)
		new |= share(&r->h, all->written.entries[i].key, 1);
	for (size_t i = 0; i < all->unresolved.len; i++)
		new |= share_object(r, all->unresolved.entries[i].key);
	return new;
}

/* ---- the first thread backwards ---- */

/* A call that starts or joins a thread, on the first thread's way. */
struct thread_call {
	const struct node *node;
	uint32_t piece;
	uint32_t insns; /* of its step, up to the call itself */
	bool creates;
};

static bool thread_call(const struct node *n, uint32_t piece, struct thread_call *ret)
{
	const struct piece *p = &n->step.pieces[piece];

	if (p->way != WAY_SKIPPED || p->effect->kind != EFFECT_THREADS)
		return false;
	*ret = (struct thread_call){ .node = n,
				     .piece = piece,
				     .creates =
					     strcmp(p->effect->function, "pthread_create") == 0 };
	for (uint32_t i = 0; i <= piece; i++)
		ret->insns += n->step.pieces[i].n;
	return true;
}

/* The moments around the threads on the way to a node. */
static void find_window(struct rewind *r, const struct node *best)
{
	struct threads *t = &r->threads;
	struct thread_call c, first = { 0 }, last = { 0 };
	const struct step *s;
	size_t created = 0;

	t->begin = NULL;
	t->end = past_of_dump(&r->h, 0);
	t->knows = best->past;
	for (const struct node *n = best; n && n->parent; n = n->parent)
		for (uint32_t i = 0; i < n->step.npieces; i++) {
			if (!thread_call(n, i, &c))
				continue;
			created += c.creates;
			if (c.creates && !first.node) /* the oldest comes first */
				first = c;
			last = c;
		}
	if (first.node && created == t->mates.len)
		t->begin = step_inside(&r->h, best->past, &first.node->step, first.insns - 1);
	if (!t->is_main || !last.node || last.creates)
		return;
	s = &last.node->step;
	t->end = last.piece + 1 == s->npieces ? s->after
					      : step_inside(&r->h, best->past, s, last.insns);
}

static bool begins_main(struct rewind *r, uint64_t pc)
{
	const struct dump_module *m = dump_module_at(&r->dump, pc);
	uint64_t *known = map_find(&r->threads.mains, pc);
	const struct function *f;
	const char *why;
	char *name = NULL;
	bool is_main;

	if (known)
		return *known;
	f = m ? code_function(r->code, pc, &why) : NULL;
	if (f && f->low == pc)
		name = binary_symbol_at(m->path, pc - m->bias);
	is_main = name && strcmp(name, "main") == 0;
	free(name);
	map_put(&r->threads.mains, pc, is_main);
	return is_main;
}

/* The moment when the way to a node enters main(); NULL: it does not go back so far, or the program has no symbols. */
static const struct node *main_entry(struct rewind *r, const struct node *best)
{
	for (const struct node *n = best; n && n->parent; n = n->parent)
		if (n->past && begins_main(r, n->pc))
			return n;
	return NULL;
}

/* What was before main() begins does not matter. */
static bool is_at_main(void *arg)
{
	struct rewind *r = arg;

	return main_entry(r, tree_best(&r->threads.tree)) != NULL;
}

/* Where the walk back comes to the beginning of main(), the modules' own data was as the files have it. */
static void assume_initial(struct rewind *r, const struct node *best)
{
	struct threads *t = &r->threads;
	const struct node *n = main_entry(r, best);
	struct initial x = { .dump = &r->dump, .code = r->code };
	struct past *knows, *begin;
	bool fits = true;
	uint8_t byte;

	t->whole = n;
	if (!n)
		return;
	knows = past_fork(&r->h, t->knows);
	for (size_t i = 0; i < r->h.shared.len && fits; i++) {
		uint64_t at = r->h.shared.entries[i].key;

		if (initial_byte(&x, at, &byte))
			fits = past_equate(&r->h, knows, past_byte(&r->h, n->past, at),
					   expr_const(&r->h.exprs, 8, byte));
	}
	initial_deinit(&x);
	if (!fits)
		return;
	t->knows = knows;
	if (!t->begin)
		return;
	begin = past_fork(&r->h, t->begin);
	begin->bindings = knows->bindings;
	t->begin = begin;
}

/* How many bytes of what is shared are known at the beginning? */
static size_t known_at_beginning(struct rewind *r)
{
	struct threads *t = &r->threads;
	size_t known = 0;
	uint64_t v;

	for (size_t i = 0; t->begin && i < r->h.shared.len; i++)
		known += past_value(&r->h, t->knows,
				    past_byte(&r->h, t->begin, r->h.shared.entries[i].key), &v);
	return known;
}

static size_t first_thread(const struct rewind *r)
{
	for (size_t i = 0; i < r->dump.threads.len; i++) {
		bool is_mate = false;

		for (size_t k = 0; k < r->threads.mates.len; k++)
			is_mate |= r->threads.mates.data[k].thread == i;
		if (!is_mate)
			return i;
	}
	return SIZE_MAX;
}

static void walk_first(struct rewind *r, double deadline)
{
	struct threads *t = &r->threads;
	size_t first = first_thread(r);
	struct suffix_options o = {
		.width = WIDTH, .deadline = deadline, .enough = is_at_main, .arg = r
	};
	struct node *best = NULL;
	size_t known = 0, n;
	unsigned vain = 0; /* levels that brought nothing new */

	t->is_main = first == r->thread;
	t->end = past_of_dump(&r->h, 0);
	t->knows = t->end;
	if (first == SIZE_MAX)
		return;
	tree_deinit(&t->tree);
	t->start = start_of(&r->h, &r->names, first, !t->is_main, &t->at_call);
	tree_init(&t->tree, &r->h, t->start);
	for (o.blocks = LEVELS; o.blocks <= MOST_BLOCKS; o.blocks += LEVELS) {
		tree_grow(&t->tree, &o);
		best = tree_best(&t->tree);
		if (!best || t->tree.out_of_time || t->tree.interrupted)
			break;
		find_window(r, best);
		assume_initial(r, best);
		n = known_at_beginning(r);
		vain = n > known || !t->begin ? 0 : vain + 1;
		known = MAX(n, known);
		if (known == r->h.shared.len || vain == MOST_VAIN || (t->begin && t->whole) ||
		    t->tree.reached + 1 < o.blocks)
			break;
	}
	if (!best)
		leave_out(t, "the first thread's way contradicts the dump", t->start->pc);
}

/* ---- which values are possible ---- */

static struct possible *possible_at(struct threads *t, uint64_t address, uint8_t w)
{
	for (size_t i = 0; i < t->possible.len; i++)
		if (t->possible.data[i].address == address && t->possible.data[i].w == w)
			return &t->possible.data[i];
	return NULL;
}

static bool add_value(struct possible *p, uint64_t v)
{
	for (size_t i = 0; i < p->values.len; i++)
		if (p->values.data[i] == v)
			return false;
	if (p->values.len == MOST_VALUES)
		p->any = true;
	else
		vec_push(&p->values, v);
	return true;
}

/* The place that a symbol of a track was read from. */
static struct possible *source_of(struct rewind *r, const struct track *t, uint32_t symbol)
{
	for (size_t i = 0; i < t->events.len; i++) {
		const struct ahead_event *e = &t->events.data[i];

		if (e->kind == AHEAD_READ && expr_get(&r->h.exprs, e->value)->imm == symbol)
			return possible_at(&r->threads, e->address, e->w);
	}
	return NULL;
}

/* The values of what a write writes. */
static bool add_written(struct rewind *r, const struct track *t, const struct ahead_event *e,
			struct possible *to)
{
	struct exprs *x = &r->h.exprs;
	const uint32_t *set = expr_symbols(x, e->value);
	const struct possible *from;
	uint32_t symbol = set[0] ? set[1] : 0;
	struct symbol_values *scratch = &r->threads.scratch;
	uint64_t *values;
	bool new = false;

	if (to->address != e->address || to->w != e->w || set[0] > 1) {
		new = !to->any;
		to->any = true;
		return new;
	}
	if (!set[0])
		return add_value(to, expr_get(x, e->value)->imm);
	from = source_of(r, t, symbol);
	if (!from || from->any) {
		new = !to->any;
		to->any = true;
		return new;
	}
	while (scratch->len <= symbol)
		vec_push(scratch, 0);
	values = scratch->data;
	for (size_t i = 0; i < from->settled; i++) {
		values[symbol] = from->values.data[i];
		expr_eval_begin(x);
		new |= add_value(to, expr_eval(x, e->value, values, symbol + 1u));
	}
	values[symbol] = 0;
	return new;
}

/* Kept or dropped: what a way wrote before it led nowhere counts. */
static const struct track *track_number(const struct tracks *t, size_t k)
{
	return k < t->all.len ? t->all.data[k] : t->dropped.data[k - t->all.len];
}

static bool spread_from(struct rewind *r, const struct track *track)
{
	struct threads *t = &r->threads;
	bool new = false;

	for (size_t n = 0; n < track->events.len; n++) {
		const struct ahead_event *e = &track->events.data[n];

		for (size_t p = 0; e->kind == AHEAD_WRITE && !e->future && p < t->possible.len; p++)
			if (t->possible.data[p].address < e->address + e->w / 8 &&
			    e->address < t->possible.data[p].address + t->possible.data[p].w / 8)
				new |= add_written(r, track, e, &t->possible.data[p]);
	}
	return new;
}

/* One more write anywhere. */
static bool spread_values(struct rewind *r)
{
	struct threads *t = &r->threads;
	bool new = false;

	for (size_t i = 0; i < t->possible.len; i++)
		t->possible.data[i].settled = t->possible.data[i].values.len;
	for (size_t i = 0; i < t->mates.len; i++)
		for (size_t k = 0; k < t->tracks[i].all.len + t->tracks[i].dropped.len; k++) {
			if (history_over(&r->h)) {
				leave_out(t, "the time was over", 0);
				return false;
			}
			new |= spread_from(r, track_number(&t->tracks[i], k));
		}
	return new;
}

/* How many writes to one place can there be? */
static size_t most_writes(struct threads *t, const struct possible *p)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->mates.len; i++) {
		size_t most = 0;

		for (size_t k = 0; k < t->tracks[i].all.len + t->tracks[i].dropped.len; k++) {
			const struct track *track = track_number(&t->tracks[i], k);
			size_t n = 0;

			for (size_t e = 0; e < track->events.len; e++)
				n += track->events.data[e].kind == AHEAD_WRITE &&
				     !track->events.data[e].future &&
				     track->events.data[e].address == p->address;
			most = MAX(most, n);
		}
		sum += most;
	}
	return sum;
}

static size_t count_values(const struct threads *t)
{
	size_t n = t->possible.len;

	for (size_t i = 0; i < t->possible.len; i++)
		n += t->possible.data[i].values.len + t->possible.data[i].any;
	return n;
}

/* True: something changed. A place begins with what it was before the threads. Each round is one more write, and there are only
 * so many writes to it. */
static bool find_possible(struct rewind *r)
{
	struct threads *t = &r->threads;
	size_t rounds = 0, old = count_values(t);

	for (size_t i = 0; i < t->possible.len; i++)
		vec_deinit(&t->possible.data[i].values);
	vec_clear(&t->possible);
	for (size_t i = 0; i < t->mates.len; i++)
		for (size_t k = 0; k < t->tracks[i].reads.len; k++) {
			const struct ahead_event *e = &t->tracks[i].reads.data[k];
			struct possible p = { .address = e->address, .w = e->w };
			uint64_t v;

			if (possible_at(t, e->address, e->w))
				continue;
			p.any = !t->begin ||
				!past_value(&r->h, t->knows,
					    past_load(&r->h, t->begin, e->address, e->w), &v);
			if (!p.any)
				add_value(&p, v);
			vec_push(&t->possible, p);
		}
	for (size_t i = 0; i < t->possible.len; i++)
		rounds = MAX(rounds, most_writes(t, &t->possible.data[i]));
	for (size_t i = 0; i < rounds && spread_values(r); i++)
		;
	return count_values(t) != old;
}

/* ---- rounds ---- */

/* From round number `first` on: 0 is the scouts'. */
static void go_round(struct rewind *r, int first, double deadline)
{
	struct threads *t = &r->threads;
	bool changed = true;

	for (int i = first; i < ROUNDS && work_seconds() < deadline && !interrupted(); i++) {
		bool new = false, asks = false;

		for (size_t n = 0; n < t->mates.len; n++)
			run_mate(r, n, i == 0, deadline);
		for (size_t n = 0; n < t->mates.len; n++) {
			new |= share_writes(r, &t->tracks[n]);
			asks |= t->tracks[n].asks;
		}
		if (i > first && !new && !asks && !changed)
			break;
		if (i == 0)
			for (size_t n = 0; n < t->mates.len; n++)
				tracks_deinit(&t->tracks[n]);
		if ((i == 0 || new) && !t->with_first) {
			t->complete = true;
			t->why = NULL;
			walk_first(r, deadline);
		}
		if (new && t->with_first) {
			assume_initial(r, tree_best(&t->tree));
			vec_last(&t->mates)->from = t->begin;
		}
		changed = find_possible(r);
		if (work_seconds() >= deadline || interrupted())
			leave_out(t, "the time was over", 0);
	}
	for (size_t n = 0; n < t->mates.len; n++) {
		if (t->tracks[n].unresolved.len)
			leave_out(t, "an access whose address is not known",
				  t->mates.data[n].entry);
		if (!t->tracks[n].complete)
			leave_out(t, t->tracks[n].why, t->tracks[n].where);
	}
}

void threads_prepare(struct rewind *r, double deadline)
{
	struct threads *t = &r->threads;
	double start = work_seconds();

	mates_find(&r->dump, r->code, &t->mates);
	t->complete = true;
	t->failed = MATE_ENDED;
	if (!t->mates.len)
		return;
	t->tracks = xcalloc(t->mates.len, sizeof(*t->tracks));
	for (size_t i = 0; i < t->mates.len; i++)
		map_put(&r->h.threads, t->mates.data[i].self, 1);
	go_round(r, 0, deadline);
	t->seconds = work_seconds() - start;
}

void threads_limit(struct rewind *r, struct suffix_options *o)
{
	struct threads *t = &r->threads;

	if (t->is_main && t->begin) /* to the moment when the others began */
		o->blocks = MIN(o->blocks, MAX(t->tree.reached, (uint32_t)LEVELS));
	for (size_t i = 0; i < t->mates.len; i++)
		if (t->mates.data[i].thread == r->thread &&
		    entry_stack(&r->h, &r->names, r->thread, t->mates.data[i].entry, &o->first_sp))
			o->first_pc = t->mates.data[i].entry;
}

/* ---- the interleaving ---- */

/* The failing value: in memory behind the threads, or a register of the thread that failed. */
static bool find_question(struct rewind *r, size_t failed, struct weave_question *q)
{
	struct threads *t = &r->threads;
	const char *why;
	const struct function *f = code_function(r->code, r->start->pc, &why);
	const struct insn *in = f ? function_insn(f, r->start->pc) : NULL;
	struct trail trail = { .r = r, .h = &r->h };
	struct bad_use use = { 0 };

	*q = (struct weave_question){ .dump = true };
	if (failed != MATE_ENDED && in && r->at_call && code_import(r->code, f, in) &&
	    ahead_ends_program(code_import(r->code, f, in))) {
		q->reaches = (uint32_t)failed + 1;
		return true;
	}
	if (in && !r->at_call)
		use = trail_find_use(&trail, f, in);
	q->permission = use.is_jump ? PF_X : use.is_write ? PF_W : PF_R;
	if (failed != MATE_ENDED && use.found && !use.from && use.has_reg) {
		uint64_t v;

		t->bad_register = use.reg;
		q->bad = t->chosen[failed]->end[use.reg];
		if (!past_value(&r->h, r->start, r->start->registers[use.reg], &v))
			return false;
		q->offset = use.address - v;
		return expr_symbols(&r->h.exprs, q->bad)[0] > 0;
	}
	for (size_t i = 0; i < r->cause.chain.len; i++) {
		const struct link *l = &r->cause.chain.data[i];

		if ((l->kind != LINK_READ && l->kind != LINK_BEFORE) || !l->has_address ||
		    !map_find(&r->h.shared, l->address))
			continue;
		q->bad_at = l->address;
		q->bad_w = l->w;
		if (use.found && l->w == 64 && l->has_value) {
			q->offset = use.address - l->value;
			return true;
		}
		q->permission = 0; /* a check that failed */
		q->value = l->value;
		return l->has_value;
	}
	return false;
}

bool threads_next(const struct threads *t, uint32_t *at)
{
	for (size_t i = 0; i < t->mates.len; i++) {
		if (++at[i] < t->tracks[i].all.len)
			return true;
		at[i] = 0;
	}
	return false;
}

static size_t mate_of(const struct threads *t, size_t thread)
{
	for (size_t i = 0; i < t->mates.len; i++)
		if (t->mates.data[i].thread == thread)
			return i;
	return MATE_ENDED;
}

struct weave_input threads_input(struct rewind *r, const struct track *const *tracks)
{
	struct threads *t = &r->threads;

	return (struct weave_input){ .h = &r->h,
				     .tracks = tracks,
				     .n = (uint32_t)t->mates.len,
				     .begin = t->begin,
				     .end = t->end,
				     .knows = t->knows };
}

/* Does no combination of ways lead to the dump without the cause? */
static struct err *find_certain(struct rewind *r, double deadline)
{
	struct threads *t = &r->threads;
	const struct track **tracks = xcalloc(t->mates.len, sizeof(*tracks));
	struct weave_input in = threads_input(r, tracks);
	uint32_t at[MOST_THREADS] = { 0 }, n = 0;
	struct err *err = NULL;

	t->certain = t->complete;
	do {
		struct weave_question q = { .dump = true };
		struct weave w;

		if (!t->certain)
			break;
		for (size_t i = 0; i < t->mates.len; i++)
			tracks[i] = t->tracks[i].all.data[at[i]];
		between_forbid(&t->cause, tracks, &q);
		err = weave_solve(&in, &q, MAX(deadline - work_seconds(), 0.1), &w);
		t->certain = !err && w.answer.status == ORDER_UNSAT;
		weave_deinit(&w);
	} while (++n < MOST_COMBINATIONS && threads_next(t, at));
	t->certain &= n < MOST_COMBINATIONS;
	free(tracks);
	return err;
}

static struct err *try_combination(struct rewind *r, double deadline)
{
	struct threads *t = &r->threads;
	struct weave_input in = threads_input(r, t->chosen);
	struct weave_question q = { .dump = true };
	bool asks = find_question(r, t->failed, &q);
	struct err *err;

	t->asks = asks;
	if (!asks)
		q = (struct weave_question){ .dump = true };
	weave_deinit(&t->weave);
	t->combinations++;
	err = weave_solve(&in, &q, MAX(deadline - work_seconds(), 0.1), &t->weave);
	if (err)
		return err;
	if (t->weave.problem)
		leave_out(t, t->weave.problem, 0);
	else if (t->weave.answer.status == ORDER_UNKNOWN)
		leave_out(t, "the order engine's time was over", 0);
	t->refuted += t->weave.answer.status == ORDER_UNSAT;
	if (t->weave.answer.status != ORDER_SAT)
		return NULL;
	t->found = true;
	return asks && t->begin ? between_find(t, &in, &q, deadline) : NULL;
}

/* ---- the cause ---- */

static void add_at(struct rewind *r, uint64_t insn, struct strbuf *out)
{
	strbuf_adds(out, " at ");
	dump_names_add_place(&r->names, insn, out);
}

void threads_add_name(const struct threads *t, uint32_t mate, struct strbuf *out)
{
	if (t->mates.data[mate].from)
		strbuf_adds(out, "the first thread");
	else
		strbuf_addf(out, "thread %u", mate + 1);
}

static void say_wrong_order(struct rewind *r, const struct between *b, struct strbuf *out)
{
	strbuf_adds(out, b->writes ? " was written by " : " was read by ");
	threads_add_name(&r->threads, b->a, out);
	add_at(r, b->x, out);
	strbuf_adds(out, " before ");
	threads_add_name(&r->threads, b->b, out);
	strbuf_adds(out, b->writes ? " read it" : " wrote it");
	add_at(r, b->y, out);
}

static void name_cause(struct rewind *r)
{
	const struct between *b = &r->threads.cause;
	struct cause *c = &r->cause;
	struct strbuf sb = { 0 };

	c->kind = b->kind;
	c->insn = b->x;
	c->address = b->place;
	c->certain = r->threads.certain;
	dump_names_add_object(&r->names, b->place, &sb);
	if (b->kind == CAUSE_WRONG_ORDER) {
		say_wrong_order(r, b, &sb);
	} else if (b->place2) {
		strbuf_adds(&sb, " was written by ");
		threads_add_name(&r->threads, b->a, &sb);
		add_at(r, b->x, &sb);
		strbuf_adds(&sb, ", ");
		dump_names_add_object(&r->names, b->place2, &sb);
		strbuf_adds(&sb, b->future ? " was to follow" : " followed");
		add_at(r, b->z, &sb);
		strbuf_adds(&sb, "; in between ");
		threads_add_name(&r->threads, b->b, &sb);
		strbuf_adds(&sb, " read ");
		dump_names_add_object(&r->names, b->place2, &sb);
		add_at(r, b->y, &sb);
		strbuf_adds(&sb, " and ");
		dump_names_add_object(&r->names, b->place, &sb);
		add_at(r, b->y2, &sb);
	} else {
		bool reads = b->kind == CAUSE_LOST_UPDATE || b->kind == CAUSE_CHANGED_BETWEEN;
		bool writes = b->kind == CAUSE_LOST_UPDATE || b->kind == CAUSE_HALF_UPDATE;

		strbuf_addf(&sb, " was %s by ", reads ? "read" : "written");
		threads_add_name(&r->threads, b->a, &sb);
		add_at(r, b->x, &sb);
		strbuf_adds(&sb, writes ? " and written" : " and read");
		add_at(r, b->z, &sb);
		strbuf_adds(&sb, "; in between ");
		threads_add_name(&r->threads, b->b, &sb);
		strbuf_addf(&sb, " %s it", b->kind == CAUSE_HALF_UPDATE ? "read" : "wrote");
		add_at(r, b->y, &sb);
	}
	cause_say(c, &sb);
}

/* Was this link's value there when the next one wrote? Else another thread wrote in between. */
static bool was_overwritten(const struct rewind *r, const struct link *read,
			    const struct link *write)
{
	if (read->kind != LINK_READ || !read->has_value || write->kind != LINK_WRITTEN ||
	    !map_find(&r->h.shared, read->address))
		return false;
	if (write->function && strcmp(write->function, "calloc") == 0)
		return read->value;
	return !write->function && write->has_value && write->w == read->w &&
	       write->value != read->value;
}

/* The walk back does not see what other threads wrote: a write before they began that put something else there is not
 * where the value comes from. */
static void distrust_chain(struct rewind *r)
{
	struct cause *c = &r->cause;

	for (size_t i = 0; i + 1 < c->chain.len; i++) {
		if (!was_overwritten(r, &c->chain.data[i], &c->chain.data[i + 1]))
			continue;
		c->chain.len = i + 1;
		c->complete = c->certain = false;
		c->kind = CAUSE_NONE;
		c->insn = c->address = c->freed_at = 0;
		free(c->text);
		c->text = NULL;
	}
}

/* One combination of ways after the other, until there is an order. */
static struct err *find_order(struct rewind *r, double deadline)
{
	struct threads *t = &r->threads;
	uint32_t at[MOST_THREADS] = { 0 };
	struct err *err = NULL;

	t->failed = mate_of(t, r->thread);
	for (size_t i = 0; i < t->mates.len; i++)
		if (!t->tracks[i].all.len) {
			leave_out(t, "a thread's way to the dump was not found",
				  t->mates.data[i].entry);
			return NULL;
		}
	if (!t->begin)
		leave_out(t, "the moment before the threads began was not found", 0);
	do {
		for (size_t i = 0; i < t->mates.len; i++)
			t->chosen[i] = t->tracks[i].all.data[at[i]];
		err = try_combination(r, deadline);
	} while (!err && !t->found && work_seconds() < deadline &&
		 t->combinations < MOST_COMBINATIONS && threads_next(t, at));
	return err;
}

/* The first thread as one of those that are run forwards: from the moment before it began the others. */
static bool find_first(struct rewind *r, struct mate *ret)
{
	struct threads *t = &r->threads;
	size_t n = first_thread(r);
	uint64_t sp;

	*ret = (struct mate){ .thread = n, .from = t->begin };
	if (n == SIZE_MAX || !t->begin || t->mates.len == MOST_THREADS ||
	    !past_value(&r->h, t->knows, t->begin->registers[LIFT_RSP], &sp))
		return false;
	ret->entry = t->begin->pc;
	ret->self = r->dump.threads.data[n].registers.fs_base;
	for (size_t i = 0; i < r->dump.segments.len; i++) {
		const struct dump_segment *s = &r->dump.segments.data[i];

		if (sp - s->address < s->size) {
			ret->stack_low = s->address;
			ret->stack_high = s->address + s->size;
		}
	}
	return ret->stack_high;
}

/* What one attempt found; the other attempt's is dropped. */
static void drop_attempt(struct threads *t)
{
	for (size_t i = 0; i < t->mates.len; i++)
		tracks_deinit(&t->tracks[i]);
	weave_deinit(&t->weave);
	free(t->tracks);
	free(t->chosen);
}

/* Once more with the first thread. If that finds no cause, either, what was found without it stays. */
static struct err *work_with_first(struct rewind *r, const struct mate *first, double deadline)
{
	struct threads *t = &r->threads, old = *t, new;
	struct err *err;

	vec_push(&t->mates, *first);
	t->tracks = xcalloc(t->mates.len, sizeof(*t->tracks));
	t->chosen = xcalloc(t->mates.len, sizeof(*t->chosen));
	t->weave = (struct weave){ 0 };
	t->with_first = t->complete = true;
	t->found = false;
	t->why = NULL;
	t->combinations = t->refuted = 0;
	t->end = past_of_dump(&r->h, 0);
	go_round(r, 1, work_seconds() + (deadline - work_seconds()) / 2);
	err = find_order(r, deadline);
	old.mates = t->mates; /* it may lie elsewhere now, and so may these */
	old.possible = t->possible;
	old.scratch = t->scratch;
	if (t->cause.x) {
		old.mates.len--;
		drop_attempt(&old);
		return err;
	}
	new = *t;
	drop_attempt(&new);
	*t = old;
	t->mates.len--;
	return err;
}

/* First without the first thread, which mostly waits for the others; then with it. */
struct err *threads_work(struct rewind *r, double deadline)
{
	struct threads *t = &r->threads;
	double start = work_seconds();
	struct mate first;
	struct err *err;

	if (!t->mates.len)
		return NULL;
	distrust_chain(r);
	t->chosen = xcalloc(t->mates.len, sizeof(*t->chosen));
	err = find_order(r, start + FIRST_SHARE * (deadline - start));
	if (!err && !t->cause.x && (t->asks || !t->found || r->cause.kind == CAUSE_NONE) &&
	    find_first(r, &first))
		err = work_with_first(r, &first, deadline);
	if (!err && t->found && t->cause.x) {
		if (r->may_run)
			together_confirm(r);
		else
			t->not_confirmed = r->may_not_run;
		err = find_certain(r, MIN(deadline, work_seconds() + CERTAIN_SECONDS));
		if (!err && (t->confirmed || !r->may_run))
			name_cause(r);
	}
	t->seconds += work_seconds() - start;
	return err;
}
