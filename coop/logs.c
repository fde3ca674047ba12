/* coop/logs.c - the set of partial logs: elements, vectors stored once, which logs count. */
#include "coop/coop.h"

#include <xxhash.h>

enum { LONG_VECTOR = 1 << 20 }; /* bytes: worth not being copied */

void coop_deinit(struct coop *c)
{
	names_deinit(&c->threads);
	names_deinit(&c->signatures);
	vec_deinit(&c->elements);
	vec_deinit(&c->vectors);
	vec_deinit(&c->entries);
	vec_deinit(&c->logs);
	vec_deinit(&c->chosen);
	map_deinit(&c->vector_ids);
	map_deinit(&c->element_ids);
	map_deinit(&c->counts);
	map_deinit(&c->passed);
	for (size_t i = 0; i < c->taken.len; i++)
		free(c->taken.data[i]);
	vec_deinit(&c->taken);
	arena_deinit(&c->arena);
}

uint32_t coop_element(struct coop *c, uint32_t id, const char *name)
{
	uint64_t *slot = map_put(&c->element_ids, id, c->elements.len);
	struct coop_element *e;

	if (*slot == c->elements.len) {
		e = vec_add(&c->elements);
		e->id = id;
		e->name = "";
	}
	e = &c->elements.data[*slot];
	if (name && *name && !*e->name)
		e->name = arena_strdup(&c->arena, name);
	return (uint32_t)*slot;
}

static bool same_runs(const struct coop_vector *v, const struct coop_run *runs, size_t n)
{
	return v->nruns == n && (n == 0 || memcmp(v->runs, runs, n * sizeof(*runs)) == 0);
}

size_t coop_push_run(struct coop_run *out, size_t len, uint32_t thread, uint64_t count)
{
	if (len && out[len - 1].thread == thread) {
		count += out[len - 1].count;
		len--;
	}
	for (; count > PLAIT_VECTORS_COUNT_MAX; count -= PLAIT_VECTORS_COUNT_MAX)
		out[len++] = (struct coop_run){ thread, PLAIT_VECTORS_COUNT_MAX };
	if (count)
		out[len++] = (struct coop_run){ thread, (uint32_t)count };
	return len;
}

/* Runs in their shortest form: no empty ones, neighbours of one thread joined. */
static size_t join(const struct coop_run *runs, size_t n, struct coop_run *out)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len = coop_push_run(out, len, runs[i].thread, runs[i].count);
	return len;
}

/* The vector with these runs, which are joined. A new one borrows them: *fresh. */
static uint32_t find_or_add(struct coop *c, const struct coop_run *runs, size_t nruns, bool *fresh)
{
	uint64_t hash = XXH3_64bits(runs, nruns * sizeof(*runs)), *slot;
	struct coop_vector *v;

	assert(nruns == 0 || (runs[0].count && runs[nruns - 1].count)); /* they are joined */
	*fresh = false;
	/* two vectors of one hash: the second gets the next free key */
	for (;; hash++) {
		slot = map_put(&c->vector_ids, hash, c->vectors.len);
		if (*slot == c->vectors.len)
			break;
		if (same_runs(&c->vectors.data[*slot], runs, nruns))
			return (uint32_t)*slot;
	}
	*fresh = true;
	v = vec_add(&c->vectors);
	v->hash = hash;
	v->nruns = (uint32_t)nruns;
	v->runs = nruns ? runs : NULL;
	for (size_t i = 0; i < nruns; i++)
		v->accesses += runs[i].count;
	return (uint32_t)c->vectors.len - 1;
}

static void keep_runs(struct coop *c, struct coop_vector *v)
{
	if (v->nruns)
		v->runs = arena_memdup(&c->arena, v->runs, v->nruns * sizeof(*v->runs));
}

uint32_t coop_vector(struct coop *c, const struct coop_run *runs, size_t nruns)
{
	_cleanup_(xfreep) struct coop_run *joined = xcalloc(nruns + 1, sizeof(*joined));
	uint32_t id;
	bool fresh;

	nruns = join(runs, nruns, joined);
	id = find_or_add(c, joined, nruns, &fresh);
	if (fresh)
		keep_runs(c, &c->vectors.data[id]);
	return id;
}

void coop_begin_log(struct coop *c, const char *name, const char *signature)
{
	struct coop_log *log = vec_add(&c->logs);

	log->name = arena_strdup(&c->arena, name);
	log->signature = signature ? names_intern(&c->signatures, signature) : COOP_NONE;
	log->first = c->entries.len;
}

void coop_add(struct coop *c, uint32_t element, const struct coop_run *runs, size_t nruns)
{
	assert(element < c->elements.len);
	vec_push(&c->entries, (struct coop_entry){ element, coop_vector(c, runs, nruns) });
	vec_last(&c->logs)->n++;
}

void coop_take(struct coop *c, uint32_t element, struct coop_run *runs, size_t nruns)
{
	uint32_t id;
	bool fresh;

	assert(element < c->elements.len);
	id = find_or_add(c, runs, nruns, &fresh);
	vec_push(&c->entries, (struct coop_entry){ element, id });
	vec_last(&c->logs)->n++;
	if (fresh && nruns * sizeof(*runs) >= LONG_VECTOR) {
		vec_push(&c->taken, runs);
		return;
	}
	if (fresh)
		keep_runs(c, &c->vectors.data[id]);
	free(runs);
}

static int by_element(const void *a, const void *b)
{
	const struct coop_entry *x = a, *y = b;

	return (x->element > y->element) - (x->element < y->element);
}

bool coop_end_log(struct coop *c)
{
	struct coop_log *log = vec_last(&c->logs);
	struct coop_entry *e;

	if (log->n == 0)
		return true;
	e = c->entries.data + log->first;
	qsort(e, log->n, sizeof(*e), by_element);
	for (uint32_t i = 1; i < log->n; i++) {
		if (e[i].element != e[i - 1].element)
			continue;
		c->entries.len = log->first;
		(void)vec_pop(&c->logs);
		return false;
	}
	return true;
}

uint32_t coop_find(const struct coop *c, uint32_t log, uint32_t element)
{
	const struct coop_entry *e = coop_entries(c, log);
	uint32_t low = 0, high = c->logs.data[log].n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (e[middle].element == element)
			return e[middle].vector;
		if (e[middle].element < element)
			low = middle + 1;
		else
			high = middle;
	}
	return COOP_NONE;
}

/* ---- which logs count ---- */

static uint64_t pair_key(uint32_t element, uint32_t vector)
{
	return (uint64_t)element << 32 | vector;
}

void coop_choose(struct coop *c, uint32_t signature)
{
	assert(signature == COOP_NONE || signature < c->signatures.len);
	c->signature = signature;
	c->distinct = 0;
	vec_clear(&c->chosen);
	map_clear(&c->counts);
	map_clear(&c->passed);
	for (size_t i = 0; i < c->elements.len; i++)
		c->elements.data[i].distinct = c->elements.data[i].recorded = 0;
	for (size_t i = 0; i < c->logs.len; i++) {
		const struct coop_entry *e = coop_entries(c, (uint32_t)i);

		for (uint32_t k = 0;
		     c->logs.data[i].signature == COOP_NONE && k < c->logs.data[i].n; k++)
			++*map_put(&c->passed, pair_key(e[k].element, e[k].vector), 0);
		if (c->logs.data[i].signature != signature)
			continue;
		vec_push(&c->chosen, (uint32_t)i);
		for (uint32_t k = 0; k < c->logs.data[i].n; k++) {
			uint64_t *count =
				map_put(&c->counts, pair_key(e[k].element, e[k].vector), 0);

			if ((*count)++ == 0) {
				c->elements.data[e[k].element].distinct++;
				c->distinct++;
			}
			c->elements.data[e[k].element].recorded++;
		}
	}
}

uint32_t coop_count(const struct coop *c, uint32_t element, uint32_t vector)
{
	return (uint32_t)map_get_or(&c->counts, pair_key(element, vector), 0);
}

uint32_t coop_main_signature(const struct coop *c)
{
	uint32_t *count = xcalloc(c->signatures.len + 1, sizeof(*count)), best = COOP_NONE;

	for (size_t i = 0; i < c->logs.len; i++)
		if (c->logs.data[i].signature != COOP_NONE)
			count[c->logs.data[i].signature]++;
	for (uint32_t s = 0; s < c->signatures.len; s++)
		if (count[s] && (best == COOP_NONE || count[s] > count[best]))
			best = s;
	free(count);
	return best;
}
