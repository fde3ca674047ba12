/* order/search/oracle.c - one cell at a time, the remaining accesses as a shuffle of strings.
 *
 * Seen through one cell, each thread is a string of operations: a read that insists on some values,
 * a write, or both in one critical section or read-modify-write. The rest of the run must be a
 * shuffle of these strings in which every read gets a value it accepts and edges that always hold
 * are respected. Everything else is ignored, so a "no" is certain and comes long before the threads
 * really get stuck; a "yes" means little, and is only looked for some operations ahead. Operations
 * that leave the value alone are taken as soon as they can be: that never hurts. States are
 * remembered: (next operation of each thread, value). */
#include "order/search/oracle.h"

#define HORIZON 40  /* value changes to look ahead */
#define EFFORT	400 /* states per question; then the answer is yes */
#define SLOTS	(1 << 16)

struct op { /* accesses first .. last of one thread, as one step */
	uint32_t first, last;
	bool changes;
};

struct ops {
	struct op *data;
	size_t len, cap;
};

struct oracle {
	const struct problem *p;
	const struct facts *f;
	const struct relevance *rel;
	struct ops *ops;      /* per cell * nt + thread */
	uint8_t *interesting; /* per cell: some write can make a reader wait */
	uint64_t *memo;	      /* hash with the low bit: dead */
	uint32_t *index;      /* scratch: per thread */
	uint32_t effort;
};

/* ---- strings ---- */

/* What the write of event e leaves in the cell; false: not known from this cell alone. */
static bool written(const struct oracle *o, uint32_t e, uint32_t first, const uint64_t *read,
		    uint64_t *ret)
{
	const struct problem *p = o->p;
	struct term_linear t;

	if (o->f->fixed[e]) {
		*ret = o->f->fixed_value[e];
		return true;
	}
	t = term_linear(&p->terms, p->ev[e].value);
	if (!t.ok)
		return false;
	*ret = t.offset;
	if (!t.has_symbol)
		return true;
	uint32_t r = p->reader[t.symbol];
	if (r == NONE || p->ev[r].cell != p->ev[e].cell || r < first || r > e || r - first >= 64)
		return false;
	*ret = (t.offset + read[r - first]) & term_mask(p->cell_width[p->ev[e].cell]);
	return true;
}

enum { REFUSED, ACCEPTED, UNKNOWN };

static int apply(const struct oracle *o, uint32_t cell, const struct op *op, uint64_t *value)
{
	const struct problem *p = o->p;
	uint64_t read[64] = { 0 };

	for (uint32_t e = op->first; e <= op->last; e++) {
		const struct ev *v = &p->ev[e];
		if (v->cell != cell)
			continue;
		if (v->symbol != NONE) {
			if (!unary_accepts(p, e, *value))
				return REFUSED;
			if (e - op->first < 64)
				read[e - op->first] = *value;
		}
		if (v->value != TERM_NONE && !written(o, e, op->first, read, value))
			return UNKNOWN;
	}
	return ACCEPTED;
}

/* Last event that belongs to the same undisturbed step as e. */
static uint32_t step_end(const struct oracle *o, uint32_t e)
{
	const struct problem *p = o->p;

	if (p->held.first[e] == p->held.first[e + 1])
		return o->rel->whole[e] - 1;
	uint32_t close = p->sections.data[p->held.item[p->held.first[e]]].close;
	return close == NONE ? p->first[p->ev[e].thread + 1] - 1 : close;
}

static void add_access(struct oracle *o, uint32_t e, uint32_t *until)
{
	const struct problem *p = o->p;
	const struct ev *v = &p->ev[e];
	struct ops *list = &o->ops[(size_t)v->cell * p->nt + v->thread];

	if (list->len && e <= until[v->cell]) {
		vec_last(list)->last = e;
	} else {
		vec_push(list, (struct op){ .first = e });
		vec_last(list)->last = e;
		until[v->cell] = step_end(o, e);
	}
	vec_last(list)->changes |= v->value != TERM_NONE;
}

struct oracle *oracle_new(const struct problem *p, const struct facts *f,
			  const struct relevance *rel)
{
	struct oracle *o = xcalloc(1, sizeof(*o));
	uint32_t *until = xcalloc(p->ncells + 1, sizeof(*until));

	o->p = p;
	o->f = f;
	o->rel = rel;
	o->ops = xcalloc((size_t)p->ncells * p->nt + 1, sizeof(*o->ops));
	o->interesting = xcalloc(p->ncells + 1, 1);
	o->memo = xcalloc(SLOTS, sizeof(*o->memo));
	o->index = xcalloc(p->nt + 1, sizeof(*o->index));
	for (uint32_t e = 0; e < p->ne; e++)
		if (p->unary.first[e] < p->unary.first[e + 1] && p->ev[e].cell != NONE)
			o->interesting[p->ev[e].cell] = 1;
	for (uint32_t e = 0; e < p->ne; e++) {
		if (p->ev[e].index == 0)
			memset(until, 0, p->ncells * sizeof(*until));
		if (p->ev[e].cell != NONE && o->interesting[p->ev[e].cell])
			add_access(o, e, until);
	}
	free(until);
	return o;
}

void oracle_free(struct oracle *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < (size_t)o->p->ncells * o->p->nt; i++)
		vec_deinit(&o->ops[i]);
	free(o->ops);
	free(o->interesting);
	free(o->memo);
	free(o->index);
	free(o);
}

/* ---- looking ahead ---- */

static uint64_t state_hash(const struct oracle *o, uint32_t cell, const uint32_t *index,
			   uint64_t value)
{
	uint64_t h = hash_u64(cell * UINT64_C(0x9E3779B97F4A7C15) + value);

	for (uint32_t t = 0; t < o->p->nt; t++)
		h = hash_u64(h + index[t]);
	return h & ~UINT64_C(1);
}

/* May thread t go on, or must the next operation of another thread come first? */
static bool allowed(const struct oracle *o, const struct ops *ops, const uint32_t *index,
		    uint32_t t)
{
	const struct problem *p = o->p;
	const int32_t *clock = p->clock + (size_t)ops[t].data[index[t]].first * p->nt;

	for (uint32_t u = 0; u < p->nt; u++)
		if (u != t && index[u] < ops[u].len &&
		    (int32_t)p->ev[ops[u].data[index[u]].first].index < clock[u])
			return false;
	return true;
}

static bool look(struct oracle *o, uint32_t cell, const uint32_t *from, uint64_t value, int ahead)
{
	const struct problem *p = o->p;
	const struct ops *ops = &o->ops[(size_t)cell * p->nt];
	uint32_t index[p->nt + 1], left = 0;

	memcpy(index, from, p->nt * sizeof(*index));
	for (bool again = true; again;) { /* harmless operations first */
		again = false;
		left = 0;
		for (uint32_t t = 0; t < p->nt; t++) {
			uint64_t v = value;
			while (index[t] < ops[t].len && !ops[t].data[index[t]].changes &&
			       allowed(o, ops, index, t) &&
			       apply(o, cell, &ops[t].data[index[t]], &v) == ACCEPTED) {
				index[t]++;
				again = true;
			}
			left += index[t] < ops[t].len;
		}
	}
	if (!left || !ahead || !o->effort)
		return true;
	o->effort--;
	uint64_t h = state_hash(o, cell, index, value);
	uint64_t *slot = &o->memo[(h >> 8) & (SLOTS - 1)];
	if ((*slot & ~UINT64_C(1)) == h)
		return !(*slot & 1);
	bool alive = false;
	for (uint32_t t = 0; t < p->nt && !alive; t++) {
		uint64_t v = value;
		if (index[t] == ops[t].len || !ops[t].data[index[t]].changes ||
		    !allowed(o, ops, index, t))
			continue;
		switch (apply(o, cell, &ops[t].data[index[t]], &v)) {
		case UNKNOWN:
			alive = true;
			break;
		case ACCEPTED:
			index[t]++;
			alive = look(o, cell, index, v, ahead - 1);
			index[t]--;
			break;
		default:
			break;
		}
	}
	*slot = h | !alive;
	return alive;
}

bool oracle_alive(struct oracle *o, const struct run *r, uint32_t cell)
{
	const struct problem *p = o->p;

	if (!o->interesting[cell])
		return true;
	for (uint32_t t = 0; t < p->nt; t++) {
		const struct ops *ops = &o->ops[(size_t)cell * p->nt + t];
		uint32_t next = p->first[t] + r->pos[t], lo = 0, hi = (uint32_t)ops->len;
		while (lo < hi) {
			uint32_t mid = (lo + hi) / 2;
			if (ops->data[mid].last < next)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo < ops->len && ops->data[lo].first < next)
			return true; /* in the middle of a step: wait and see */
		o->index[t] = lo;
	}
	o->effort = EFFORT;
	return look(o, cell, o->index, r->mem[cell], HORIZON);
}
