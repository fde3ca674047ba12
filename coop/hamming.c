/* coop/hamming.c - Hamming similarity of every pair of vectors of an element, at once.
 *
 * Five hundred logs of 130 000 accesses have billions of positions to compare. Vectors with few
 * runs are compared run by run. The others are spread out, one byte per access, a slice of SLICE
 * positions of all vectors at a time: the slice stays in the cache while every pair is compared, 16
 * positions per instruction. */
#include "coop/hamming.h"

#include "coop/similar.h"

enum { WIDTH = 16, ROUNDS = 255, SLICE = WIDTH * ROUNDS }; /* 255: byte counters do not overflow */

typedef uint8_t bytes16 __attribute__((vector_size(WIDTH)));

/* Positions where two slices agree. */
static uint32_t equal_bytes(const uint8_t *a, const uint8_t *b)
{
	bytes16 equal = { 0 };
	uint32_t sum = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		bytes16 x, y;

		memcpy(&x, a + i * WIDTH, WIDTH);
		memcpy(&y, b + i * WIDTH, WIDTH);
		equal -= (bytes16)(x == y); /* a true lane is -1 */
	}
	for (unsigned i = 0; i < WIDTH; i++)
		sum += equal[i];
	return sum;
}

/* Where in its runs a vector has been spread out to. */
struct spread {
	const struct coop_vector *v;
	uint32_t run, used;
};

static void spread_next(struct spread *s, uint8_t *out)
{
	unsigned len = 0;

	while (len < SLICE && s->run < s->v->nruns) {
		const struct coop_run *r = &s->v->runs[s->run];
		uint32_t n = MIN(r->count - s->used, SLICE - len);

		memset(out + len, (int)r->thread, n);
		len += n;
		s->used += n;
		if (s->used == r->count) {
			s->run++;
			s->used = 0;
		}
	}
	memset(out + len, 0xff, SLICE - len);
}

/* Slice after slice; positions behind the end of both vectors are not agreement. */
static void count_by_slices(const struct coop_vector **v, uint32_t n, uint64_t longest,
			    uint64_t *equal)
{
	uint8_t *slices = xmalloc((size_t)n * SLICE);
	struct spread *at = xcalloc(n, sizeof(*at));

	for (uint32_t i = 0; i < n; i++)
		at[i].v = v[i];
	for (uint64_t start = 0; start < longest; start += SLICE) {
		for (uint32_t i = 0; i < n; i++)
			spread_next(&at[i], slices + (size_t)i * SLICE);
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t k = i + 1; k < n; k++) {
				uint64_t len = MAX(v[i]->accesses, v[k]->accesses);
				uint64_t beyond = len >= start + SLICE ? 0
						  : len > start	       ? start + SLICE - len
								       : SLICE;

				if (beyond < SLICE)
					equal[(size_t)i * n + k] +=
						equal_bytes(slices + (size_t)i * SLICE,
							    slices + (size_t)k * SLICE) -
						beyond;
			}
		}
	}
	free(at);
	free(slices);
}

static void compare_all(const struct coop_vector **v, struct hamming_element *e)
{
	uint64_t *equal = xcalloc((size_t)e->n * e->n, sizeof(*equal));
	uint64_t runs = 0, accesses = 0, longest = 0;
	bool narrow = true;

	for (uint32_t i = 0; i < e->n; i++) {
		runs += v[i]->nruns;
		accesses += v[i]->accesses;
		longest = MAX(longest, v[i]->accesses);
		for (uint32_t k = 0; k < v[i]->nruns; k++)
			narrow &= v[i]->runs[k].thread < 255;
	}
	/* a run costs about as much as 100 positions side by side */
	if (narrow && runs * 100 > accesses) {
		count_by_slices(v, e->n, longest, equal);
	} else {
		for (uint32_t i = 0; i < e->n; i++)
			for (uint32_t k = i + 1; k < e->n; k++)
				equal[(size_t)i * e->n + k] = similar_positions(v[i], v[k]);
	}
	e->share = xmalloc((size_t)e->n * e->n * sizeof(*e->share) + 1);
	for (uint32_t i = 0; i < e->n; i++) {
		e->share[(size_t)i * e->n + i] = 1;
		for (uint32_t k = i + 1; k < e->n; k++) {
			uint64_t len = MAX(v[i]->accesses, v[k]->accesses);
			float share = (float)((double)equal[(size_t)i * e->n + k] / (double)len);

			e->share[(size_t)i * e->n + k] = e->share[(size_t)k * e->n + i] = share;
		}
	}
	free(equal);
}

void hamming_init(struct hamming *h, const struct coop *c)
{
	const struct coop_vector ***of = xcalloc(c->elements.len + 1, sizeof(*of));

	*h = (struct hamming){ .nelements = c->elements.len };
	h->elements = xcalloc(h->nelements + 1, sizeof(*h->elements));
	for (size_t i = 0; i < c->elements.len; i++)
		of[i] = xcalloc(c->elements.data[i].distinct + 1u, sizeof(**of));
	for (size_t i = 0; i < c->counts.len; i++) {
		uint32_t element = (uint32_t)(c->counts.entries[i].key >> 32);
		struct hamming_element *e = &h->elements[element];

		map_put(&h->local, c->counts.entries[i].key, e->n);
		of[element][e->n++] = &c->vectors.data[(uint32_t)c->counts.entries[i].key];
	}
	for (size_t i = 0; i < h->nelements; i++) {
		compare_all(of[i], &h->elements[i]);
		free(of[i]);
	}
	free(of);
}

void hamming_deinit(struct hamming *h)
{
	for (size_t i = 0; i < h->nelements; i++)
		free(h->elements[i].share);
	free(h->elements);
	map_deinit(&h->local);
}

double hamming_get(const struct hamming *h, uint32_t element, uint32_t a, uint32_t b)
{
	const struct hamming_element *e = &h->elements[element];
	uint64_t key = (uint64_t)element << 32;

	return e->share[*map_find(&h->local, key | a) * e->n + *map_find(&h->local, key | b)];
}
