/* rewind/library.c - see library.h.
 *
 * Three kinds. A pointer that leads nowhere: the argument that lies near the failing address. A length that is too large:
 * the copy began where memory is and failed where it ends, so the failing address also says how far it got. And the heap:
 * libc ends the program because a block was freed twice, because what it was given is no block, or because it found a
 * header that cannot be; that header's bytes are then followed to who wrote them. */
#include "rewind/library.h"

#include "base/strbuf.h"
#include "debug/heap.h"
#include "rewind/objects.h"

#include <inttypes.h>
#include <signal.h>

static const uint8_t arguments[] = { LIFT_RDI, LIFT_RSI, LIFT_RDX, LIFT_RCX };

/* What the call of libc that failed is known to do; NULL = not known. */
static const struct effect *effect_at(struct rewind *r)
{
	const char *why, *name;
	const struct function *f = code_function(r->code, r->start->pc, &why);
	const struct insn *call = f ? function_insn(f, r->start->pc) : NULL;

	name = call ? code_import(r->code, f, call) : NULL;
	return name ? effect_of(&r->h.arena, name, 0) : NULL;
}

static bool argument(struct rewind *r, unsigned n, uint64_t *ret)
{
	return n < ARRAY_SIZE(arguments) && r->best &&
	       past_value(&r->h, r->best->past, r->start->registers[arguments[n]], ret);
}

static bool is_heap_call(const struct effect *e)
{
	return e &&
	       (e->kind == EFFECT_FREES || e->kind == EFFECT_ALLOCATES ||
		e->kind == EFFECT_ZEROES || e->kind == EFFECT_RESIZES || e->kind == EFFECT_DOUBLES);
}

/* ---- the heap ---- */

static bool takes_block(const struct effect *e)
{
	return e->kind == EFFECT_FREES || e->kind == EFFECT_RESIZES;
}

static bool is_block(const struct rewind *r, uint64_t address, struct heap_chunk *c)
{
	return heap_chunk_at(&r->dump, address, c) && c->start == address;
}

static void use(struct trail *t, const struct effect *e, uint64_t value, uint64_t address)
{
	trail_add(t, (struct link){ .kind = LINK_USED,
				    .insn = t->r->start->pc,
				    .address = address,
				    .has_address = true,
				    .value = value,
				    .has_value = true,
				    .function = e ? e->function : NULL });
}

static bool trace_heap(struct trail *t, const struct effect *e)
{
	uint64_t given, header, broken = heap_broken_at(&t->r->dump);
	struct heap_chunk c;

	if (takes_block(e) && argument(t->r, 0, &given) && !is_block(t->r, given, &c) &&
	    (!broken || given < broken)) {
		use(t, e, given, given);
		t->place = (struct place){ .reg = LIFT_RDI };
		t->r->cause.complete = trail_walk(t);
		return true;
	}
	if (takes_block(e) && argument(t->r, 0, &given) && is_block(t->r, given, &c) &&
	    c.state == HEAP_FREE) {
		use(t, e, given, given);
		t->r->cause.complete =
			object_freed_at(t->r, given, &t->r->cause.chain.data[0]) != 0;
		return true;
	}
	if (!broken)
		return false;
	use(t, e, 0, broken + 8);
	t->r->cause.chain.data[0].has_value = false;
	if (dump_read(&t->r->dump, broken + 8, &header, 8))
		trail_add(t, (struct link){ .kind = LINK_READ,
					    .insn = t->r->start->pc,
					    .address = broken + 8,
					    .has_address = true,
					    .w = 64,
					    .value = header,
					    .has_value = true });
	t->place = (struct place){ .in_memory = true, .address = broken + 8, .w = 64 };
	t->r->cause.complete = trail_walk(t);
	return true;
}

/* ---- pointers and lengths ---- */

static bool trace_pointer(struct trail *t, const struct effect *e)
{
	const struct dump *d = &t->r->dump;
	uint64_t v;

	for (unsigned i = 0; i < ARRAY_SIZE(arguments); i++) {
		if (!argument(t->r, i, &v) || d->fault - v + 4096 > 8192 || is_mapped(d, v, 4))
			continue;
		use(t, e, v, d->fault);
		t->r->cause.chain.data[0].function = NULL;
		t->place = (struct place){ .reg = arguments[i] };
		t->r->cause.complete = trail_walk(t);
		return true;
	}
	return false;
}

/* Where the memory begins that ran out, if the length was too large; 0 = it was not. */
static uint64_t too_long(struct rewind *r, const struct effect *e, uint64_t *length)
{
	uint64_t at, fault = r->dump.fault;

	if (!e || e->length < 0 || e->scale || !argument(r, (unsigned)e->length, length))
		return 0;
	for (unsigned i = 0; i < 2; i++) { /* where it writes, where it reads */
		if (i && e->kind != EFFECT_COPIES && e->kind != EFFECT_COMPARES)
			break;
		if (argument(r, i ? 1 : e->where, &at) && is_mapped(&r->dump, at, 4) &&
		    fault - at < *length)
			return at;
	}
	return 0;
}

static bool trace_length(struct trail *t, const struct effect *e)
{
	uint64_t length, at = too_long(t->r, e, &length);

	if (!at)
		return false;
	use(t, e, length, t->r->dump.fault);
	t->place = (struct place){ .reg = arguments[e->length] };
	t->r->cause.complete = trail_walk(t);
	return true;
}

bool library_trace(struct trail *t)
{
	const struct dump *d = &t->r->dump;
	const struct effect *e = effect_at(t->r);
	bool faulted = d->signal != SIGABRT && d->code > 0;

	if (faulted && (trace_pointer(t, e) || trace_length(t, e)))
		return true;
	return is_heap_call(e) && trace_heap(t, e);
}

/* ---- names ---- */

static bool name_freed_twice(struct rewind *r, const struct link *l)
{
	uint64_t first = object_freed_at(r, l->value, l);
	struct strbuf sb = { 0 };
	struct heap_chunk c;

	if (!is_block(r, l->value, &c) || c.state != HEAP_FREE)
		return false;
	r->cause.kind = CAUSE_FREED;
	r->cause.insn = l->insn;
	r->cause.address = l->value;
	r->cause.freed_at = first;
	r->cause.certain = true; /* the block is free, and the call was given it */
	dump_names_add_object(&r->names, l->value, &sb);
	strbuf_addf(&sb, " was given to %s again, at ", l->function);
	dump_names_add_place(&r->names, l->insn, &sb);
	cause_say(&r->cause, &sb);
	return true;
}

/* It is no block, and nobody tells where it came from. */
static bool name_no_block(struct rewind *r, const struct link *l)
{
	struct strbuf sb = { 0 };
	struct heap_chunk c;

	if (is_block(r, l->value, &c))
		return false;
	r->cause.kind = CAUSE_BAD_VALUE;
	r->cause.insn = l->insn;
	r->cause.certain = true;
	strbuf_addf(&sb, "%s was given 0x%" PRIx64 ", which is no block of the heap (", l->function,
		    l->value);
	object_add_name(r, r->start, l->value, &sb);
	strbuf_adds(&sb, "), at ");
	dump_names_add_place(&r->names, l->insn, &sb);
	cause_say(&r->cause, &sb);
	return true;
}

static bool name_too_long(struct rewind *r, const struct effect *e, const struct link *l)
{
	uint64_t length, at = too_long(r, e, &length);
	struct strbuf sb = { 0 };

	if (!at)
		return false;
	r->cause.kind = CAUSE_PAST_END;
	r->cause.insn = l->insn;
	r->cause.address = at;
	r->cause.certain = true;
	strbuf_addf(&sb, "%s was given the length %" PRIu64 " for ", e->function, length);
	object_add_name(r, r->start, at, &sb);
	strbuf_adds(&sb, ", at ");
	dump_names_add_place(&r->names, l->insn, &sb);
	cause_say(&r->cause, &sb);
	return true;
}

bool library_judge(struct rewind *r, bool late)
{
	const struct link *l = r->cause.chain.data;
	const struct effect *e;

	if (!r->at_call || !r->cause.chain.len || l->kind != LINK_USED || !l->function)
		return false;
	e = effect_at(r);
	if (!e)
		return false;
	if (!late)
		return takes_block(e) && l->has_value && name_freed_twice(r, l);
	if (is_heap_call(e))
		return takes_block(e) && l->has_value && name_no_block(r, l);
	return name_too_long(r, e, l);
}
