/* sched/predicate.c - the stack machine of conditions over variables.
 *
 * Every number is kept in 64 bits as its C type has it: a signed one with its sign, an unsigned one
 * with zeros. An operation works in 64 bits, and the compiler puts a CONVERT behind it where the C type
 * is smaller. So only division, shifts to the right and comparisons must know whether their type is
 * unsigned. */
#include "sched/predicate.h"

#include <string.h>

struct stack {
	uint32_t n;
	uint64_t data[PLAIT_PREDICATE_STACK];
};

static uint64_t pop(struct stack *s)
{
	return s->n ? s->data[--s->n] : 0;
}

static bool push(struct stack *s, uint64_t value)
{
	if (s->n == PLAIT_PREDICATE_STACK)
		return false;
	s->data[s->n++] = value;
	return true;
}

static uint64_t convert(uint64_t value, uint32_t type)
{
	uint32_t bits = 64 - 8 * (type & 15);

	if (bits >= 64)
		return value;
	return type & PLAIT_PREDICATE_UNSIGNED ? value << bits >> bits
					       : (uint64_t)((int64_t)(value << bits) >> bits);
}

static bool load(const struct predicate_memory *m, uint32_t type, struct stack *s)
{
	uint64_t value = 0, at = pop(s);

	if (m->read_with ? !m->read_with(m->arg, at, &value, type & 15)
			 : !m->read(at, &value, type & 15))
		return false;
	return push(s, convert(value, type));
}

/* False: there is no such number. */
static bool divide(uint64_t a, uint64_t b, bool is_unsigned, bool rest, uint64_t *ret)
{
	if (!b || (!is_unsigned && b == UINT64_MAX && a == 1ull << 63))
		return false;
	if (is_unsigned)
		*ret = rest ? a % b : a / b;
	else
		*ret = (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
	return true;
}

static bool is_less(uint64_t a, uint64_t b, bool is_unsigned)
{
	return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

static bool combine(const struct plait_predicate_step *step, struct stack *s)
{
	bool is_unsigned = step->type & PLAIT_PREDICATE_UNSIGNED;
	uint64_t b = pop(s), a = pop(s), r = 0;

	switch (step->op) {
	case PLAIT_PREDICATE_DIVIDE:
	case PLAIT_PREDICATE_REMAINDER:
		if (!divide(a, b, is_unsigned, step->op == PLAIT_PREDICATE_REMAINDER, &r))
			return false;
		break;
	case PLAIT_PREDICATE_MULTIPLY:
		r = a * b;
		break;
	case PLAIT_PREDICATE_ADD:
		r = a + b;
		break;
	case PLAIT_PREDICATE_SUBTRACT:
		r = a - b;
		break;
	case PLAIT_PREDICATE_LEFT:
		r = a << (b & 63);
		break;
	case PLAIT_PREDICATE_RIGHT:
		r = is_unsigned ? a >> (b & 63) : (uint64_t)((int64_t)a >> (b & 63));
		break;
	case PLAIT_PREDICATE_LESS:
		r = is_less(a, b, is_unsigned);
		break;
	case PLAIT_PREDICATE_LESS_EQUAL:
		r = !is_less(b, a, is_unsigned);
		break;
	case PLAIT_PREDICATE_EQUAL:
		r = a == b;
		break;
	case PLAIT_PREDICATE_UNEQUAL:
		r = a != b;
		break;
	case PLAIT_PREDICATE_AND:
		r = a & b;
		break;
	case PLAIT_PREDICATE_XOR:
		r = a ^ b;
		break;
	case PLAIT_PREDICATE_OR:
		r = a | b;
		break;
	}
	return push(s, r);
}

/* One step; *at is the next one. False: nothing can be said. */
static bool perform(const struct plait_predicate_step *step, const struct predicate_memory *m,
		    struct stack *s, uint32_t *at)
{
	switch (step->op) {
	case PLAIT_PREDICATE_NUMBER:
		return push(s, (uint64_t)step->value);
	case PLAIT_PREDICATE_PLACE:
		return push(s, m->load_address + (uint64_t)step->value);
	case PLAIT_PREDICATE_LOAD:
		return load(m, step->type, s);
	case PLAIT_PREDICATE_CONVERT:
		return push(s, convert(pop(s), step->type));
	case PLAIT_PREDICATE_JUMP:
		*at = (uint32_t)step->value;
		return true;
	case PLAIT_PREDICATE_UNLESS:
		if (!pop(s))
			*at = (uint32_t)step->value;
		return true;
	default:
		return combine(step, s);
	}
}

bool predicate_value(const struct plait_predicate *p, const struct predicate_memory *m,
		     uint64_t *ret)
{
	struct stack s = { 0 };

	/* jumps lead forward only */
	for (uint32_t at = 0; at < p->n && at < PLAIT_PREDICATE_STEPS;) {
		const struct plait_predicate_step *step = &p->step[at++];

		if (!perform(step, m, &s, &at))
			return false;
	}
	*ret = pop(&s);
	return true;
}

enum predicate_answer predicate_evaluate(const struct plait_predicate *p,
					 const struct predicate_memory *m)
{
	uint64_t v;

	if (!predicate_value(p, m, &v))
		return PREDICATE_UNKNOWN;
	return v ? PREDICATE_HOLDS : PREDICATE_BROKEN;
}
