/* order/search/saturate.c - order edges, unique sources and known values, to a fixed point.
 *
 * For each read keep the writes that can still supply it. A write is out when it must come after
 * the read; when a write that must precede the read must follow it; when its value breaks a
 * condition on that read alone; when a lock that both hold shows the read another write. A read
 * with one source left gives edges: the source before the read, every other write before the source
 * or after the read as soon as one side is known. A read with a few sources left still comes after
 * whatever all of them come after. Critical sections whose halves are ordered are ordered as a
 * whole. Known values make writes constant, which narrows other reads; new edges move the clocks;
 * repeat.
 *
 * Counters need an argument of their own, because no order of the additions is certain: a cell that
 * is only added to, each time undisturbed, holds the sum of what was added.
 *
 * Lists of sources are only kept when short (LIMIT): a read with more is decided by search. */
#include "order/search/saturate.h"

#include "order/model/eval.h"

#define LIMIT 48

struct valued {
	uint64_t value;
	uint32_t write;
};

struct pass {
	struct facts *f;
	struct problem *p;
	struct eval known;    /* values of pinned symbols */
	struct valued *fixed; /* per cell, at writes.first[cell]: fixed writes by value */
	uint32_t *nfixed;
	uint32_t *loose; /* per cell, at writes.first[cell]: the others */
	uint32_t *nloose;
	struct lists by_lock; /* per lock * nt + thread: sections */
	uint32_t *last;	      /* per thread: last write before the read at hand */
	VEC(uint32_t) buffer;
	bool changed;
};

/* ---- edges ---- */

static void impossible(struct pass *s)
{
	s->f->impossible = true;
}

/* a before b, widened to whole critical sections where both hold one lock. */
static void add_edge(struct pass *s, uint32_t a, uint32_t b)
{
	struct problem *p = s->p;
	uint32_t i, j;

	if (a == b || must_precede(p, b, a)) {
		impossible(s);
		return;
	}
	if (p->ev[a].thread != p->ev[b].thread && common_lock(p, a, b, &i, &j)) {
		if (p->sections.data[i].close == NONE) {
			impossible(s);
			return;
		}
		a = p->sections.data[i].close;
		b = p->sections.data[j].open;
		if (must_precede(p, b, a)) {
			impossible(s);
			return;
		}
	}
	if (must_precede(p, a, b))
		return;
	vec_push(&p->edges, (struct edge){ a, b });
	s->changed = true;
}

/* ---- sources ---- */

/* Last write of thread t to the cell of r that must precede r, NONE. */
static uint32_t last_before(const struct problem *p, uint32_t r, uint32_t t)
{
	const struct ev *v = &p->ev[r];
	uint32_t n = t == v->thread ? v->index : (uint32_t)p->clock[(size_t)r * p->nt + t];
	uint32_t i = write_at_or_after(p, v->cell, p->first[t] + n);

	if (i == p->writes.first[v->cell] || p->writes.item[i - 1] < p->first[t])
		return NONE;
	return p->writes.item[i - 1];
}

/* Both hold one lock: is w hidden from r by a write inside either section? */
static bool hidden_by_lock(const struct problem *p, uint32_t r, uint32_t w)
{
	uint32_t i, j;

	if (p->ev[w].thread == p->ev[r].thread || !common_lock(p, w, r, &i, &j))
		return false;
	const struct section *sw = &p->sections.data[i], *sr = &p->sections.data[j];
	if (sw->close == NONE || must_precede(p, sr->open, sw->close))
		return true;
	if (p->next_write[w] != NONE && p->next_write[w] < sw->close)
		return true;
	return p->prev_write[r] != NONE && p->prev_write[r] >= sr->open;
}

static bool source_alive(const struct facts *f, uint32_t r, uint32_t w, const uint32_t *last)
{
	const struct problem *p = f->p;

	if (w == INITIAL) {
		for (uint32_t t = 0; t < p->nt; t++)
			if (last[t] != NONE)
				return false;
		return unary_accepts(p, r, p->initial[p->ev[r].cell]);
	}
	if (w == r || must_precede(p, r, w))
		return false;
	if (f->fixed[w] && !unary_accepts(p, r, f->fixed_value[w]))
		return false;
	for (uint32_t t = 0; t < p->nt; t++)
		if (last[t] != NONE && last[t] != w && must_precede(p, w, last[t]))
			return false;
	return !hidden_by_lock(p, r, w);
}

bool can_supply(const struct facts *f, uint32_t r, uint32_t w)
{
	const struct problem *p = f->p;
	uint32_t last[p->nt + 1];

	for (uint32_t t = 0; t < p->nt; t++)
		last[t] = last_before(p, r, t);
	return source_alive(f, r, w, last);
}

/* All writes that might supply r before filtering. */
static void first_candidates(struct pass *s, uint32_t r)
{
	const struct problem *p = s->p;
	const struct facts *f = s->f;
	uint32_t cell = p->ev[r].cell, base = p->writes.first[cell];

	if (!f->pinned[r]) {
		for (uint32_t i = base; i < p->writes.first[cell + 1]; i++)
			vec_push(&s->buffer, p->writes.item[i]);
		vec_push(&s->buffer, INITIAL);
		return;
	}
	uint32_t lo = 0, hi = s->nfixed[cell];
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (s->fixed[base + mid].value < f->pin[r])
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->nfixed[cell] && s->fixed[base + lo].value == f->pin[r]; lo++)
		vec_push(&s->buffer, s->fixed[base + lo].write);
	for (uint32_t i = 0; i < s->nloose[cell]; i++)
		vec_push(&s->buffer, s->loose[base + i]);
	if (p->initial[cell] == f->pin[r])
		vec_push(&s->buffer, INITIAL);
}

static void pin(struct pass *s, uint32_t r, uint64_t value)
{
	struct facts *f = s->f;

	if (f->pinned[r]) {
		if (f->pin[r] != value)
			impossible(s);
		return;
	}
	if (!unary_accepts(s->p, r, value)) {
		impossible(s);
		return;
	}
	f->pinned[r] = 1;
	f->pin[r] = value;
	eval_set(&s->known, s->p->ev[r].symbol, value);
	s->changed = true;
}

static void unique_source(struct pass *s, uint32_t r, uint32_t w)
{
	struct facts *f = s->f;

	f->source[r] = w;
	f->unique++;
	s->changed = true;
	if (w == INITIAL) {
		pin(s, r, s->p->initial[s->p->ev[r].cell]);
		return;
	}
	add_edge(s, w, r);
	if (f->fixed[w])
		pin(s, r, f->fixed_value[w]);
}

/* r comes after whatever all its sources come after. */
static void after_all_sources(struct pass *s, uint32_t r)
{
	const struct problem *p = s->p;
	int32_t least[p->nt + 1];

	for (uint32_t t = 0; t < p->nt; t++)
		least[t] = INT32_MAX;
	for (size_t k = 0; k < s->buffer.len; k++) {
		uint32_t w = s->buffer.data[k], i, j;
		if (w == INITIAL)
			return;
		if (p->ev[w].thread != p->ev[r].thread && common_lock(p, w, r, &i, &j))
			w = p->sections.data[i].close;
		for (uint32_t t = 0; t < p->nt; t++)
			least[t] = MIN(least[t], p->clock[(size_t)w * p->nt + t]);
	}
	for (uint32_t t = 0; t < p->nt; t++)
		if (t != p->ev[r].thread && least[t] > p->clock[(size_t)r * p->nt + t])
			add_edge(s, p->first[t] + (uint32_t)least[t] - 1, r);
}

static void narrow(struct pass *s, uint32_t r)
{
	struct facts *f = s->f;
	const struct problem *p = s->p;
	struct sources *list = &f->sources[r];
	size_t kept = 0;

	s->buffer.len = 0;
	if (f->listed[r])
		for (size_t i = 0; i < list->len; i++)
			vec_push(&s->buffer, list->data[i]);
	else
		first_candidates(s, r);
	for (uint32_t t = 0; t < p->nt; t++)
		s->last[t] = last_before(p, r, t);
	for (size_t i = 0; i < s->buffer.len; i++) {
		if (!source_alive(f, r, s->buffer.data[i], s->last))
			continue;
		s->buffer.data[kept++] = s->buffer.data[i];
		if (kept > LIMIT)
			return;
	}
	s->buffer.len = kept;
	if (!kept) {
		impossible(s);
		return;
	}
	if (!f->listed[r] || kept < list->len) {
		list->len = 0;
		for (size_t i = 0; i < kept; i++)
			vec_push(list, s->buffer.data[i]);
		f->listed[r] = 1;
	}
	if (kept == 1)
		unique_source(s, r, s->buffer.data[0]);
	else
		after_all_sources(s, r);
}

/* Other writes stay out of the span between a read and its only source. */
static void protect(struct pass *s, uint32_t r)
{
	struct problem *p = s->p;
	uint32_t cell = p->ev[r].cell, w = s->f->source[r];

	for (uint32_t t = 0; t < p->nt && !s->f->impossible; t++) {
		uint32_t from = write_at_or_after(p, cell, p->first[t]);
		uint32_t to = write_at_or_after(p, cell, p->first[t + 1]);
		if (from == to)
			continue;
		uint32_t before = last_before(p, r, t);
		if (before != NONE && before != w) {
			if (w == INITIAL)
				impossible(s);
			else if (!must_precede(p, before, w))
				add_edge(s, before, w);
		}
		uint32_t lo = from, hi = to;
		while (lo < hi && w != INITIAL) { /* first write of t that must follow w */
			uint32_t mid = (lo + hi) / 2;
			if (must_precede(p, w, p->writes.item[mid]))
				hi = mid;
			else
				lo = mid + 1;
		}
		if (lo < to && p->writes.item[lo] != w && p->writes.item[lo] != r &&
		    !must_precede(p, r, p->writes.item[lo]))
			add_edge(s, r, p->writes.item[lo]);
	}
}

/* ---- values ---- */

static int by_value(const void *a, const void *b)
{
	const struct valued *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->write < y->write ? -1 : x->write > y->write;
}

static void fix_write(struct pass *s, uint32_t e)
{
	struct facts *f = s->f;

	if (s->p->ev[e].value == TERM_NONE || f->fixed[e] ||
	    !eval_get(&s->known, s->p->ev[e].value, &f->fixed_value[e]))
		return;
	f->fixed[e] = 1;
	s->changed = true;
}

static void fix_writes(struct pass *s)
{
	struct problem *p = s->p;
	struct facts *f = s->f;

	for (uint32_t e = 0; e < p->ne; e++)
		fix_write(s, e);
	for (uint32_t c = 0; c < p->ncells; c++) {
		uint32_t base = p->writes.first[c];
		s->nfixed[c] = s->nloose[c] = 0;
		for (uint32_t i = base; i < p->writes.first[c + 1]; i++) {
			uint32_t w = p->writes.item[i];
			if (f->fixed[w])
				s->fixed[base + s->nfixed[c]++] =
					(struct valued){ f->fixed_value[w], w };
			else
				s->loose[base + s->nloose[c]++] = w;
		}
		if (s->nfixed[c] > 1)
			qsort(s->fixed + base, s->nfixed[c], sizeof(*s->fixed), by_value);
	}
}

/* Reads whose conditions leave one value: "read plus constant equals constant". */
static void pin_by_conditions(struct pass *s)
{
	struct problem *p = s->p;

	for (size_t i = 0; i < p->conditions.len; i++) {
		const struct condition *c = &p->conditions.data[i];
		const struct term *t = &p->terms.data[c->term];

		if (c->symbol == NONE || t->op != TERM_EQ || p->reader[c->symbol] == NONE)
			continue;
		struct term_linear x = term_linear(&p->terms, t->a),
				   y = term_linear(&p->terms, t->b);
		if (!x.ok || !y.ok || x.has_symbol == y.has_symbol)
			continue;
		uint64_t mask = term_mask(p->terms.data[t->a].width);
		pin(s, p->reader[c->symbol],
		    (x.has_symbol ? y.offset - x.offset : x.offset - y.offset) & mask);
	}
}

/* ---- counters ---- */

/* Is w, together with the read it is computed from, an undisturbed "add a constant" to its cell?
 * The lock that protects it is the same for all writes of the cell: *lock, NONE while unknown. */
static bool is_addition(const struct problem *p, uint32_t w, uint32_t *lock)
{
	const struct ev *v = &p->ev[w];
	struct term_linear t = term_linear(&p->terms, v->value);
	uint32_t r = t.ok && t.has_symbol ? p->reader[t.symbol] : NONE;

	if (r == w)
		return true;
	if (r == NONE || p->ev[r].cell != v->cell || p->ev[r].thread != v->thread || r > w ||
	    (p->prev_write[w] != NONE && p->prev_write[w] >= r))
		return false;
	for (uint32_t i = p->held.first[w]; i < p->held.first[w + 1]; i++) {
		const struct section *x = &p->sections.data[p->held.item[i]];
		if (x->open > r || x->shared || (*lock != NONE && *lock != x->lock))
			continue;
		*lock = x->lock;
		return true;
	}
	return false;
}

/* A cell that is only ever added to, undisturbed: its value is what was added before, in whatever
 * order. Reads for which all additions are before or after are certain. */
static void count_cell(struct pass *s, uint32_t cell)
{
	struct problem *p = s->p;
	const uint32_t *first = p->writes.first, *write = p->writes.item;
	uint32_t lock = NONE;
	bool atomic = false, locked = false;

	for (uint32_t i = first[cell]; i < first[cell + 1]; i++) {
		if (!is_addition(p, write[i], &lock))
			return;
		struct term_linear t = term_linear(&p->terms, p->ev[write[i]].value);
		atomic |= p->reader[t.symbol] == write[i];
		locked |= p->reader[t.symbol] != write[i];
	}
	if (atomic && locked) /* an atomic step may fall into a critical section */
		return;
	for (uint32_t r = 0; r < p->ne && !s->f->impossible; r++) {
		if (p->ev[r].cell != cell || p->ev[r].symbol == NONE || s->f->pinned[r])
			continue;
		uint64_t sum = p->initial[cell];
		bool certain = true;
		for (uint32_t i = first[cell]; i < first[cell + 1] && certain; i++) {
			bool before = must_precede(p, write[i], r);
			certain = before || write[i] == r || must_precede(p, r, write[i]);
			if (before)
				sum += term_linear(&p->terms, p->ev[write[i]].value).offset;
		}
		if (certain)
			pin(s, r, sum & term_mask(p->cell_width[cell]));
	}
}

/* ---- locks ---- */

static void order_sections(struct pass *s, uint32_t j)
{
	struct problem *p = s->p;
	const struct section *y = &p->sections.data[j];

	for (uint32_t t = 0; t < p->nt; t++) {
		size_t key = (size_t)y->lock * p->nt + t;
		uint32_t lo = s->by_lock.first[key], hi = s->by_lock.first[key + 1], from = lo;
		if (t == y->thread || lo == hi)
			continue;
		if (y->close != NONE) {
			uint32_t n = (uint32_t)p->clock[(size_t)y->close * p->nt + t];
			while (lo < hi) {
				uint32_t mid = (lo + hi) / 2;
				uint32_t open = p->sections.data[s->by_lock.item[mid]].open;
				if (p->ev[open].index < n)
					lo = mid + 1;
				else
					hi = mid;
			}
		} else {
			lo = hi;
		}
		while (lo > from && y->shared && p->sections.data[s->by_lock.item[lo - 1]].shared)
			lo--;
		if (lo == from)
			continue;
		uint32_t close = p->sections.data[s->by_lock.item[lo - 1]].close;
		if (close == NONE)
			impossible(s);
		else
			add_edge(s, close, y->open);
	}
}

static void list_sections(struct pass *s)
{
	struct problem *p = s->p;
	size_t keys = (size_t)p->nlocks * p->nt, n = p->sections.len;

	s->by_lock.first = xcalloc(keys + 2, sizeof(uint32_t));
	s->by_lock.item = xcalloc(n + 1, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++) {
		const struct section *x = &p->sections.data[i];
		s->by_lock.first[(size_t)x->lock * p->nt + x->thread + 2]++;
	}
	for (size_t k = 0; k < keys; k++)
		s->by_lock.first[k + 2] += s->by_lock.first[k + 1];
	for (uint32_t i = 0; i < n; i++) {
		const struct section *x = &p->sections.data[i];
		s->by_lock.item[s->by_lock.first[(size_t)x->lock * p->nt + x->thread + 1]++] = i;
	}
}

/* ---- the loop ---- */

static void one_pass(struct pass *s)
{
	struct problem *p = s->p;
	struct facts *f = s->f;
	size_t edges = p->edges.len;

	f->passes++;
	s->changed = false;
	fix_writes(s);
	for (uint32_t e = 0; e < p->ne && !f->impossible; e++) {
		if (p->ev[e].symbol != NONE && f->source[e] == OPEN)
			narrow(s, e);
		fix_write(s, e); /* a chain of reads and writes in one pass */
	}
	for (uint32_t e = 0; e < p->ne && !f->impossible; e++) {
		if (p->ev[e].symbol == NONE || f->source[e] == OPEN)
			continue;
		uint32_t w = f->source[e];
		if (w != INITIAL && f->fixed[w])
			pin(s, e, f->fixed_value[w]);
		protect(s, e);
	}
	for (uint32_t i = 0; i < p->sections.len && !f->impossible; i++)
		order_sections(s, i);
	if (!f->impossible && p->edges.len > edges && !problem_clocks(p))
		impossible(s);
	if (f->impossible || s->changed)
		return;
	for (uint32_t c = 0; c < p->ncells && !f->impossible; c++)
		if (p->writes.first[c] < p->writes.first[c + 1])
			count_cell(s, c);
}

void facts_init(struct facts *f, struct problem *p)
{
	size_t ne = p->ne + 1, nw = p->writes.first[p->ncells] + 1;
	struct pass s = { .f = f, .p = p };

	*f = (struct facts){ .p = p };
	f->pinned = xcalloc(ne, 1);
	f->pin = xcalloc(ne, sizeof(*f->pin));
	f->fixed = xcalloc(ne, 1);
	f->fixed_value = xcalloc(ne, sizeof(*f->fixed_value));
	f->listed = xcalloc(ne, 1);
	f->sources = xcalloc(ne, sizeof(*f->sources));
	f->source = xcalloc(ne, sizeof(*f->source));
	for (uint32_t e = 0; e < p->ne; e++) {
		f->source[e] = OPEN;
		f->reads += p->ev[e].symbol != NONE;
	}
	eval_init(&s.known, &p->terms, p->nsymbols);
	s.fixed = xcalloc(nw, sizeof(*s.fixed));
	s.loose = xcalloc(nw, sizeof(*s.loose));
	s.nfixed = xcalloc(p->ncells + 1, sizeof(*s.nfixed));
	s.nloose = xcalloc(p->ncells + 1, sizeof(*s.nloose));
	s.last = xcalloc(p->nt + 1, sizeof(*s.last));
	for (uint32_t i = 0; i < p->nsymbols; i++)
		if (p->reader[i] == NONE)
			eval_set(&s.known, i, p->input[i]);
	list_sections(&s);
	f->impossible = p->impossible || !problem_clocks(p);
	pin_by_conditions(&s);
	for (s.changed = true; s.changed && !f->impossible;)
		one_pass(&s);
	eval_deinit(&s.known);
	free(s.fixed);
	free(s.loose);
	free(s.nfixed);
	free(s.nloose);
	free(s.last);
	free(s.by_lock.first);
	free(s.by_lock.item);
	vec_deinit(&s.buffer);
}

void facts_deinit(struct facts *f)
{
	for (uint32_t e = 0; f->sources && e < f->p->ne; e++)
		vec_deinit(&f->sources[e]);
	free(f->pinned);
	free(f->pin);
	free(f->fixed);
	free(f->fixed_value);
	free(f->listed);
	free(f->sources);
	free(f->source);
	memset(f, 0, sizeof(*f));
}
