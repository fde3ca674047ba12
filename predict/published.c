/* predict/published.c - which branches to flip, in the published order: see published.h. */
#include "predict/published.h"

#include "base/mem.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

void published_deinit(struct published *r)
{
	vec_deinit(&r->branches);
	vec_deinit(&r->sets);
}

/* ---- sets ---- */

static unsigned distance(uint32_t set)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 32; i++)
		sum += set >> i & 1 ? i + 1 : 0;
	return sum;
}

static int compare_sets(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int size = __builtin_popcount(a) - __builtin_popcount(b);
	int far = (int)distance(a) - (int)distance(b);

	if (size || far)
		return size ? size : far;
	/* the one that has the nearest branch in which they differ */
	return a == b ? 0 : a >> __builtin_ctz(a ^ b) & 1 ? -1 : 1;
}

size_t published_sets(size_t d, uint32_t **ret)
{
	size_t n = (1u << d) - 1;
	uint32_t *sets = xcalloc(n + 1, sizeof(*sets));

	assert(d <= PUBLISHED_MOST_FLIPS);
	for (uint32_t i = 0; i < n; i++)
		sets[i] = i + 1;
	if (n)
		qsort(sets, n, sizeof(*sets), compare_sets);
	*ret = sets;
	return n;
}

/* ---- executions ---- */

/* The threads that a set changes, and the ways each of them may go on. */
struct ways {
	uint32_t thread;
	struct published_texts paths;
	size_t at;
};

struct search {
	const struct published_source *source;
	size_t n;
	struct published *out;
	struct map tried; /* hash of an execution -> 1 */
	struct ways ways[PUBLISHED_MOST_FLIPS];
	size_t nways;
};

/* The path up to the last branch that is flipped. NULL: none of this thread is. */
static char *flipped_prefix(const struct search *s, uint32_t set, uint32_t thread)
{
	char *path = xstrdup(s->source->path(s->source->arg, thread));
	size_t end = 0, len = strlen(path);

	for (size_t i = 0; i < s->out->branches.len; i++) {
		const struct published_branch *b = &s->out->branches.data[i];

		if (!(set >> i & 1) || b->thread != thread)
			continue;
		assert(b->bit < len);
		path[b->bit] = path[b->bit] == '1' ? '0' : '1';
		end = MAX(end, (size_t)b->bit + 1);
	}
	path[end] = '\0';
	if (end)
		return path;
	free(path);
	return NULL;
}

static bool is_known(const struct search *s, uint32_t thread)
{
	for (size_t i = 0; i < s->nways; i++)
		if (s->ways[i].thread == thread)
			return true;
	return false;
}

/* False: a thread has no path that begins as it should. */
static struct err *find_ways(struct search *s, uint32_t set, bool *ret)
{
	*ret = true;
	for (size_t i = 0; i < s->out->branches.len && *ret; i++) {
		uint32_t thread = s->out->branches.data[i].thread;
		char *prefix = set >> i & 1 && !is_known(s, thread) ? flipped_prefix(s, set, thread)
								    : NULL;
		struct ways *w = &s->ways[s->nways];
		struct err *err;

		if (!prefix)
			continue;
		*w = (struct ways){ .thread = thread };
		s->nways++;
		err = s->source->find(s->source->arg, thread, prefix, s->n, &w->paths);
		free(prefix);
		if (err)
			return err;
		*ret = w->paths.len != 0;
	}
	return NULL;
}

static void drop_ways(struct search *s)
{
	for (size_t i = 0; i < s->nways; i++) {
		for (size_t k = 0; k < s->ways[i].paths.len; k++)
			free(s->ways[i].paths.data[k]);
		vec_deinit(&s->ways[i].paths);
	}
	s->nways = 0;
}

/* The next combination; false: there is none. */
static bool next_ways(struct search *s)
{
	for (size_t i = 0; i < s->nways; i++) {
		if (++s->ways[i].at < s->ways[i].paths.len)
			return true;
		s->ways[i].at = 0;
	}
	return false;
}

static struct err *try_ways(struct search *s, struct published_set *set)
{
	struct published_path paths[PUBLISHED_MOST_FLIPS];
	uint64_t key = 0;

	for (size_t i = 0; i < s->nways; i++) {
		paths[i].thread = s->ways[i].thread;
		paths[i].bits = s->ways[i].paths.data[s->ways[i].at];
		key += hash_bytes(paths[i].bits, strlen(paths[i].bits), paths[i].thread + 1);
	}
	if (*map_put(&s->tried, key, 0))
		return NULL; /* another set led here */
	*map_put(&s->tried, key, 0) = 1;
	set->tries++;
	s->out->tries++;
	return s->source->fails(s->source->arg, set->flips, paths, s->nways, &set->fails);
}

static bool is_over(const struct search *s)
{
	return s->source->over && s->source->over(s->source->arg);
}

static struct err *try_set(struct search *s, uint32_t flips)
{
	struct published_set set = { .flips = flips };
	bool there;
	struct err *err = find_ways(s, flips, &there);

	if (!err && there)
		do
			err = try_ways(s, &set);
		while (!err && !set.fails && !is_over(s) && next_ways(s));
	drop_ways(s);
	vec_push(&s->out->sets, set);
	s->out->fails = set.fails;
	return err;
}

struct err *published_search(const struct published_source *source, size_t d, size_t n,
			     struct published *ret)
{
	struct search s = { .source = source, .n = n, .out = ret };
	uint32_t *sets = NULL;
	size_t nsets = 0;
	struct err *err;

	*ret = (struct published){ 0 };
	err = source->branches(source->arg, d, &ret->branches);
	if (!err)
		nsets = published_sets(MIN(d, ret->branches.len), &sets);
	for (size_t i = 0; i < nsets && !err && !ret->fails && !is_over(&s); i++)
		err = try_set(&s, sets[i]);
	free(sets);
	map_deinit(&s.tried);
	return err;
}
