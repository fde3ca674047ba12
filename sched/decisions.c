/* sched/decisions.c - see decisions.h. */
#include "sched/decisions.h"

static uint8_t *put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

uint8_t *decision_write(uint8_t *p, const struct decision *d, uint64_t last)
{
	p = put(p, (d->step - last) << 2 | d->kind);
	return put(p, d->value);
}

void decision_reader_init(struct decision_reader *r, const void *data, size_t len)
{
	r->next = data;
	r->end = r->next + len;
	r->step = 0;
	r->damaged = false;
}

static bool get(struct decision_reader *r, uint64_t *ret)
{
	uint64_t v = 0;
	int shift = 0;

	while (r->next < r->end && shift < 64) {
		uint8_t b = *r->next++;

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret = v;
			return true;
		}
		shift += 7;
	}
	r->damaged = true;
	return false;
}

bool decision_read(struct decision_reader *r, struct decision *ret)
{
	uint64_t head, value;

	if (r->next == r->end || !get(r, &head) || !get(r, &value) || value > UINT32_MAX)
		return false;
	r->step += head >> 2;
	ret->step = r->step;
	ret->kind = head & 3;
	ret->value = (uint32_t)value;
	return true;
}
