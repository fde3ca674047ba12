/* order/model/build.c - from steps of native runs to the events of an order model.
 *
 * Steps arrive one by one; which bytes are shared, and how they are cut into cells, is known only
 * at the end. So a read answers at once with a placeholder, a symbol of the builder's own terms,
 * and order_build_finish does the rest in three passes:
 *
 *  1. Cut the accessed bytes into pieces (build-cells.c).
 *  2. Walk each thread. Synchronisation becomes events of the model. An access becomes one event
 * per piece that another thread can notice; a read of any other piece is whatever its thread wrote
 *     there last, or the initial value. This says what each placeholder stands for.
 *  3. Copy all terms into the model with the placeholders replaced. A term's operands have smaller
 *     numbers, and so have the values a local read can have, so one walk in order of numbers does.
 *
 * pthread_once is a cell: 0 not begun, 1 running, 2 done. */
#include "order/model/build-private.h"

#include "base/err.h"

#include <errno.h>
#include <inttypes.h>

/* ---- collecting ---- */

struct order_build *order_build_new(void)
{
	struct order_build *b = xcalloc(1, sizeof(*b));

	b->failure = TERM_NONE;
	return b;
}

void order_build_free(struct order_build *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->threads.len; i++) {
		free(b->threads.data[i].name);
		vec_deinit(&b->threads.data[i].steps);
		vec_deinit(&b->threads.data[i].nevents);
	}
	for (size_t i = 0; i < ARRAY_SIZE(b->objects); i++)
		map_deinit(&b->objects[i]);
	map_deinit(&b->onces);
	vec_deinit(&b->threads);
	vec_deinit(&b->placeholders);
	vec_deinit(&b->conditions);
	vec_deinit(&b->cut);
	vec_deinit(&b->pieces);
	vec_deinit(&b->parts);
	vec_deinit(&b->steps);
	vec_deinit(&b->late);
	vec_deinit(&b->freed[0]);
	vec_deinit(&b->freed[1]);
	vec_deinit(&b->uses);
	free(b->model_term);
	terms_deinit(&b->terms);
	free(b);
}

void order_built_deinit(struct order_built *b)
{
	order_model_free(b->m);
	free(b->step);
	free(b->nsteps);
	vec_deinit(&b->uses);
	*b = (struct order_built){ 0 };
}

struct terms *order_build_terms(struct order_build *b)
{
	return &b->terms;
}

uint32_t order_build_thread(struct order_build *b, const char *name)
{
	vec_push(&b->threads, (struct raw_thread){ .name = xstrdup(name) });
	return (uint32_t)b->threads.len - 1;
}

static bool is_memory(enum order_step_kind kind)
{
	return kind == ORDER_STEP_READ || kind == ORDER_STEP_WRITE || kind == ORDER_STEP_RMW;
}

static bool reads(enum order_step_kind kind)
{
	return kind == ORDER_STEP_READ || kind == ORDER_STEP_RMW;
}

static bool writes(const struct order_step *s)
{
	return s->kind == ORDER_STEP_WRITE || (s->kind == ORDER_STEP_RMW && s->value != TERM_NONE);
}

static term_id placeholder(struct order_build *b, unsigned bits, bool input, uint64_t hint)
{
	vec_push(&b->placeholders,
		 (struct placeholder){ .bits = bits, .input = input, .hint = hint });
	return term_symbol(&b->terms, bits, (uint32_t)b->placeholders.len - 1);
}

term_id order_build_input(struct order_build *b, unsigned bits, uint64_t hint)
{
	return placeholder(b, bits, true, hint);
}

static term_id add(struct order_build *b, uint32_t thread, const struct order_step *s, bool more)
{
	struct raw_thread *t = &b->threads.data[thread];
	struct raw r = { .s = *s, .placeholder = ORDER_NONE };
	term_id term = TERM_NONE;

	if (!more)
		t->nsteps++;
	r.step = t->nsteps ? t->nsteps - 1 : 0;
	if (is_memory(s->kind)) {
		assert(s->bits && s->bits % 8 == 0 && s->bits <= 64);
		if (s->kind == ORDER_STEP_RMW)
			r.s.value = TERM_NONE; /* order_build_value says */
		if (reads(s->kind)) {
			term = placeholder(b, s->bits, false, 0);
			r.placeholder = (uint32_t)b->placeholders.len - 1;
		}
	}
	vec_push(&t->steps, r);
	return term;
}

term_id order_build_step(struct order_build *b, uint32_t thread, const struct order_step *s)
{
	return add(b, thread, s, false);
}

term_id order_build_more(struct order_build *b, uint32_t thread, const struct order_step *s)
{
	return add(b, thread, s, true);
}

void order_build_value(struct order_build *b, uint32_t thread, term_id value)
{
	struct raw *r = vec_last(&b->threads.data[thread].steps);

	assert(r->s.kind == ORDER_STEP_RMW);
	r->s.value = value;
}

static struct byte_range range_of(const struct order_step *s, uint32_t thread)
{
	return (struct byte_range){
		.address = s->address, .bytes = s->bits / 8, .thread = thread, .writes = writes(s)
	};
}

size_t order_build_position(const struct order_build *b, uint32_t thread)
{
	return b->threads.data[thread].steps.len;
}

void order_build_cut(struct order_build *b, uint32_t thread, size_t n, bool blocked)
{
	struct raw_thread *t = &b->threads.data[thread];

	for (size_t i = n; i < t->steps.len; i++)
		if (writes(&t->steps.data[i].s))
			vec_push(&b->cut, range_of(&t->steps.data[i].s, thread));
	if (n < t->steps.len)
		t->steps.len = n;
	t->nsteps = t->steps.len ? vec_last(&t->steps)->step + 1 : 0;
	if (t->steps.len)
		vec_last(&t->steps)->s.blocked |= blocked;
	b->blocked |= blocked;
}

void order_build_condition(struct order_build *b, term_id condition, const struct order_taken *at)
{
	vec_push(&b->conditions, (struct raw_condition){ condition, *at, false });
}

void order_build_keep(struct order_build *b)
{
	b->keep = true;
}

void order_build_recorded(struct order_build *b, term_id condition, const struct order_taken *at)
{
	vec_push(&b->conditions, (struct raw_condition){ condition, *at, true });
}

void order_build_failure(struct order_build *b, uint32_t thread, term_id condition)
{
	b->fails = true;
	b->failing = thread;
	b->failure = condition;
}

/* ---- memory ---- */

static void find_pieces(struct order_build *b)
{
	VEC(struct byte_range) ranges = { 0 };

	for (uint32_t t = 0; t < b->threads.len; t++)
		for (size_t i = 0; i < b->threads.data[t].steps.len; i++) {
			const struct order_step *s = &b->threads.data[t].steps.data[i].s;

			if (is_memory(s->kind) && !s->blocked)
				vec_push(&ranges, range_of(s, t));
		}
	pieces_make(ranges.data, ranges.len, &b->pieces);
	vec_deinit(&ranges);
	for (size_t i = 0; i < b->pieces.len; i++) {
		b->pieces.data[i].object = ORDER_NONE;
		b->pieces.data[i].last = TERM_NONE;
	}
	for (size_t i = 0; i < b->cut.len; i++) {
		const struct byte_range *r = &b->cut.data[i];
		struct piece *p = pieces_find(&b->pieces, r->address);

		if (p > b->pieces.data && p[-1].address + p[-1].bytes > r->address)
			p--;
		for (; p < b->pieces.data + b->pieces.len && p->address < r->address + r->bytes;
		     p++)
			p->spoilt = true;
	}
}

static void name_of(struct order_build *b, uint64_t address, struct strbuf *out)
{
	if (b->memory && b->memory->name)
		b->memory->name(b->memory->arg, address, out);
	if (!out->len)
		strbuf_addf(out, "0x%" PRIx64, address);
}

static uint64_t initial_of(struct order_build *b, uint64_t address, unsigned bytes)
{
	return b->memory && b->memory->initial ? b->memory->initial(b->memory->arg, address, bytes)
					       : 0;
}

uint32_t build_object(struct order_build *b, enum order_object_kind kind, uint64_t address,
		      unsigned bits, uint64_t initial)
{
	_cleanup_(strbuf_deinit) struct strbuf name = { 0 };

	name_of(b, address, &name);
	return order_object(b->m, kind, strbuf_str(&name), bits, initial);
}

static uint32_t cell_of(struct order_build *b, struct piece *p)
{
	if (p->object == ORDER_NONE)
		p->object = build_object(b, ORDER_OBJECT_CELL, p->address, p->bytes * 8,
					 initial_of(b, p->address, p->bytes));
	return p->object;
}

uint32_t build_event(struct order_build *b, uint32_t thread, const struct raw *r,
		     enum order_kind kind, uint32_t object)
{
	uint32_t e = order_event(b->m, thread, kind, object);

	b->m->events.data[e].site = r->s.site;
	vec_push(&b->steps, r->step);
	return e;
}

static void local_access(struct order_build *b, const struct raw *r, struct piece *p)
{
	unsigned bits = p->bytes * 8, low = (unsigned)(p->address - r->s.address) * 8;

	if (reads(r->s.kind)) {
		struct part part = { true, p->last, p->last_low, bits };

		if (r->s.held != TERM_NONE && !p->spoilt)
			part = (struct part){ true, r->s.held, low, bits };
		else if (p->last == TERM_NONE)
			part = (struct part){ .term = term_const(
						      &b->m->terms, bits,
						      initial_of(b, p->address, p->bytes)),
					      .bits = bits };
		vec_push(&b->parts, part);
	}
	if (writes(&r->s)) {
		p->last = r->s.value;
		p->last_low = low;
	}
}

static void shared_access(struct order_build *b, uint32_t thread, const struct raw *r,
			  struct piece *p)
{
	unsigned bits = p->bytes * 8, low = (unsigned)(p->address - r->s.address) * 8;
	enum order_kind kind = !writes(&r->s)	  ? ORDER_READ
			       : reads(r->s.kind) ? ORDER_RMW
						  : ORDER_WRITE;
	uint32_t e = build_event(b, thread, r, kind, cell_of(b, p));

	if (kind != ORDER_WRITE)
		vec_push(&b->parts, (struct part){ false, order_value(b->m, e), 0, bits });
	if (kind != ORDER_READ)
		vec_push(&b->late, (struct late_value){ e, low, bits, r->s.value });
}

static struct err *access_event(struct order_build *b, uint32_t thread, const struct raw *r)
{
	struct piece *p = pieces_find(&b->pieces, r->s.address);
	struct piece *end = b->pieces.data + b->pieces.len;
	uint32_t first = (uint32_t)b->parts.len;
	unsigned n = 0, shared = 0;

	for (; p < end && p->address < r->s.address + r->s.bits / 8; p++, n++) {
		if (p->shared && p->written) {
			shared_access(b, thread, r, p);
			shared++;
		} else {
			local_access(b, r, p);
		}
	}
	if (n > 1 && r->s.kind == ORDER_STEP_RMW && shared)
		return err_new(ERR_ENV, "an atomic operation on bytes that are also accessed in "
					"other widths");
	if (r->placeholder != ORDER_NONE) {
		b->placeholders.data[r->placeholder].first = first;
		b->placeholders.data[r->placeholder].count = (uint32_t)b->parts.len - first;
	}
	b->out->split += shared > 1;
	b->out->local_steps += !shared;
	return NULL;
}

/* ---- terms ---- */

static term_id some_bits(struct order_build *b, term_id t, unsigned low, unsigned bits)
{
	assert(t != TERM_NONE);
	return term_get(&b->m->terms, t)->width == bits ? t
							: term_extract(&b->m->terms, t, low, bits);
}

static term_id stands_for(struct order_build *b, const struct placeholder *p)
{
	struct terms *ts = &b->m->terms;
	term_id all = TERM_NONE;

	if (p->input)
		return order_input(b->m, p->bits, p->hint);
	for (uint32_t i = 0; i < p->count; i++) {
		const struct part *part = &b->parts.data[p->first + i];
		term_id t = part->term;

		if (part->local)
			t = some_bits(b, b->model_term[t], part->low, part->bits);
		all = all == TERM_NONE ? t : term_binary(ts, TERM_CONCAT, t, all);
	}
	return all;
}

/* Copy one term; its operands are there already. */
static term_id copy_term(struct order_build *b, const struct term *from)
{
	struct term t = *from;
	unsigned arity = term_arity(&t);

	if (t.op == TERM_SYMBOL)
		return stands_for(b, &b->placeholders.data[t.value]);
	if (t.op == TERM_CONST)
		return term_const(&b->m->terms, t.width, t.value);
	t.a = b->model_term[t.a];
	if (arity > 1)
		t.b = b->model_term[t.b];
	if (arity > 2)
		t.c = b->model_term[t.c];
	return term_build(&b->m->terms, t);
}

/* A read that was cut off stands for nothing; so does whatever is made of it. */
static bool is_used(const struct order_build *b, const struct term *t)
{
	unsigned arity = term_arity(t);

	if (t->op == TERM_SYMBOL)
		return b->placeholders.data[t->value].input || b->placeholders.data[t->value].count;
	return (arity < 1 || b->model_term[t->a] != TERM_NONE) &&
	       (arity < 2 || b->model_term[t->b] != TERM_NONE) &&
	       (arity < 3 || b->model_term[t->c] != TERM_NONE);
}

static bool is_const(const struct terms *ts, term_id t, uint64_t value)
{
	return term_get(ts, t)->op == TERM_CONST && term_get(ts, t)->value == value;
}

static struct order_place place_of(const struct order_build *b, size_t condition)
{
	const struct raw_condition *c = &b->conditions.data[condition];
	const struct raw_thread *t = &b->threads.data[c->at.thread];
	struct order_place p = { .thread = c->at.thread,
				 .index = (uint32_t)b->m->threads.data[c->at.thread].len,
				 .nth = (uint32_t)condition,
				 .pin = c->recorded,
				 .was = c->at.was,
				 .bit = c->at.bit,
				 .node = c->at.node,
				 .writes = c->at.writes,
				 .doom = c->at.doom,
				 .site = c->at.site };

	if (c->at.position < t->nevents.len)
		p.index = t->nevents.data[c->at.position];
	return p;
}

/* Branches come first, then recorded values. */
static void copy_conditions(struct order_build *b, bool recorded)
{
	for (size_t i = 0; i < b->conditions.len; i++) {
		term_id t = b->model_term[b->conditions.data[i].term];
		struct order_place at;

		if (b->conditions.data[i].recorded != recorded || t == TERM_NONE ||
		    (is_const(&b->m->terms, t, 1) && (recorded || !b->keep)))
			continue;
		if (recorded && is_const(&b->m->terms, t, 0)) {
			b->out->contradicted++;
			continue;
		}
		at = place_of(b, i);
		order_condition_at(b->m, t, &at);
	}
}

static void copy_terms(struct order_build *b)
{
	b->model_term = xcalloc(b->terms.len + 1, sizeof(*b->model_term));
	for (term_id i = 0; i < b->terms.len; i++) {
		struct term t = *term_get(&b->terms, i);

		b->model_term[i] = is_used(b, &t) ? copy_term(b, &t) : TERM_NONE;
	}
	for (size_t i = 0; i < b->late.len; i++) {
		struct late_value v = b->late.data[i];

		b->m->events.data[v.event].value =
			some_bits(b, b->model_term[v.term], v.low, v.bits);
	}
	copy_conditions(b, false);
	copy_conditions(b, true);
}

/* ---- the whole ---- */

static struct err *walk_thread(struct order_build *b, uint32_t t)
{
	struct raw_thread *r = &b->threads.data[t];
	struct err *err = NULL;

	for (size_t i = 0; i < r->steps.len && !err; i++) {
		size_t first = b->m->events.len;

		vec_push(&r->nevents, (uint32_t)b->m->threads.data[t].len);
		if (is_memory(r->steps.data[i].s.kind))
			err = r->steps.data[i].s.blocked ? NULL
							 : access_event(b, t, &r->steps.data[i]);
		else
			err = build_sync(b, t, &r->steps.data[i]);
		if (!err)
			build_note_use(b, t, &r->steps.data[i], first);
	}
	return err_wrap(err, "thread %s", r->name);
}

static void set_failure(struct order_build *b)
{
	struct order_thread *t = &b->m->threads.data[b->failing];
	struct raw at_end = { .step = b->threads.data[b->failing].nsteps };

	if (!t->len)
		build_event(b, b->failing, &at_end, ORDER_POINT, ORDER_NONE);
	b->m->failure_event = t->data[t->len - 1];
	if (b->failure != TERM_NONE)
		b->m->failure = b->model_term[b->failure];
}

/* Locks that a thread held when the failure stopped it are free behind the failure only: natively
 * the thread would go on in its critical section. A cell that the failing thread writes last says
 * so. */
static void close_threads(struct order_build *b)
{
	struct order_model *m = b->m;
	struct terms *ts = &m->terms;
	term_id one = term_const(ts, 1, 1);
	uint32_t cell = ORDER_NONE, e;

	for (uint32_t t = 0; t < m->threads.len; t++) {
		if (!order_thread_holds(m, t))
			continue;
		if (b->fails && t != b->failing) {
			if (cell == ORDER_NONE) {
				cell = order_object(m, ORDER_OBJECT_CELL, "the failure", 1, 0);
				e = order_write(m, b->failing, cell, one);
				m->events.data[e].synthetic = true;
			}
			e = order_event(m, t, ORDER_READ, cell);
			m->events.data[e].synthetic = true;
			order_condition(m, term_binary(ts, TERM_EQ, order_value(m, e), one));
		}
		if (t != b->failing)
			order_close_thread(m, t);
	}
	order_close_thread(m, b->failing);
}

struct err *order_build_finish(struct order_build *b, const struct order_memory *memory,
			       struct order_built *ret)
{
	struct err *err = NULL;

	*ret = (struct order_built){ .m = order_model_new() };
	b->memory = memory;
	b->out = ret;
	b->m = ret->m;
	for (size_t t = 0; t < b->threads.len; t++)
		order_thread(b->m, b->threads.data[t].name);
	find_pieces(b);
	build_counts(b);
	build_find_freed(b);
	for (uint32_t t = 0; t < b->threads.len && !err; t++)
		err = walk_thread(b, t);
	if (err) {
		order_built_deinit(ret);
		return err;
	}
	build_finish_uses(b);
	copy_terms(b);
	if (b->fails)
		set_failure(b);
	if (b->blocked)
		order_model_stick(b->m);
	else if (b->threads.len)
		close_threads(b);
	ret->nsteps = xcalloc(b->threads.len + 1, sizeof(*ret->nsteps));
	for (size_t t = 0; t < b->threads.len; t++)
		ret->nsteps[t] = b->threads.data[t].nsteps;
	ret->step = xcalloc(b->m->events.len + 1, sizeof(*ret->step));
	for (size_t i = 0; i < b->m->events.len; i++) /* synthetic ones come last */
		ret->step[i] = i < b->steps.len ? b->steps.data[i]
						: ret->nsteps[b->m->events.data[i].thread];
	err = order_model_check(b->m);
	if (err)
		order_built_deinit(ret);
	return err;
}
