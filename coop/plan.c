/* coop/plan.c - who records what.
 *
 * Uniform: every profile is a random subset of the elements that pilot runs have seen (section
 * 3.1.2). Elements that no pilot run accessed are in every profile of more than one element: they
 * cost nothing until they matter.
 *
 * Informed: recording costs by the access, not by the element, and most elements are hardly
 * accessed. The rarest, which together have at most half the share of the accesses, are in every
 * profile. Each instance draws each of the others with the probability that makes its expected load
 * the share of all accesses. This costs as much as a uniform profile and records far more elements,
 * so logs overlap more and lack less. It equals uniform only for elements of similar load. */
#include "coop/program.h"

#include <math.h>

static uint64_t next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ull;
	return hash_u64(*state);
}

static uint32_t count_seen(const struct coop_program *p)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->elements.len; i++)
		n += p->elements.data[i].seen;
	return n;
}

uint32_t plan_size(const struct coop_program *p, const struct plan_options *o)
{
	uint32_t n = count_seen(p), size = (uint32_t)(n * o->share + 0.5);

	return MIN(n, MAX(1, size));
}

double plan_miss(const struct coop_program *p, const struct plan_options *o)
{
	uint32_t n = count_seen(p);

	return n ? pow(1 - (double)plan_size(p, o) / n, o->instances) : 0;
}

static int by_accesses(const void *a, const void *b, void *program)
{
	const struct coop_program *p = program;
	const struct coop_program_element *x = &p->elements.data[*(const uint32_t *)a];
	const struct coop_program_element *y = &p->elements.data[*(const uint32_t *)b];

	if (x->accesses != y->accesses)
		return x->accesses < y->accesses ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void choose_informed(const struct coop_program *p, double share, uint32_t *order, uint32_t n,
			    uint64_t state, bool *ret)
{
	double total = 0, cold = 0, chance;
	bool drawn = false;
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++)
		total += (double)p->elements.data[order[i]].accesses;
	qsort_r(order, n, sizeof(*order), by_accesses, (void *)p);
	for (; k < n; k++) {
		double more = cold + (double)p->elements.data[order[k]].accesses;

		if (more > share / 2 * total)
			break;
		cold = more;
		ret[order[k]] = true;
	}
	chance = cold < total ? (share * total - cold) / (total - cold) : 1;
	for (uint32_t i = k; i < n; i++) {
		ret[order[i]] = (double)(next_random(&state) >> 11) * 0x1p-53 < chance;
		drawn |= ret[order[i]];
	}
	if (!k && !drawn && n) /* every instance records something */
		ret[order[next_random(&state) % n]] = true;
}

void plan_choose(const struct coop_program *p, const struct plan_options *o, uint32_t instance,
		 bool *ret)
{
	uint32_t *order = xcalloc(p->elements.len + 1, sizeof(*order)), n = 0;
	uint32_t size = plan_size(p, o);
	uint64_t state = hash_u64(o->seed) ^ instance;

	assert(o->share >= 0 && o->share <= 1);
	for (uint32_t i = 0; i < p->elements.len; i++) {
		if (p->elements.data[i].seen)
			order[n++] = i;
		ret[i] = !p->elements.data[i].seen && size > 1;
	}
	if (o->informed && o->share > 0) {
		choose_informed(p, o->share, order, n, state, ret);
	} else {
		for (uint32_t i = 0; i < size && i < n; i++) {
			uint32_t k = i + (uint32_t)(next_random(&state) % (n - i)), t = order[i];

			order[i] = order[k];
			order[k] = t;
			ret[order[i]] = true;
		}
	}
	assert(size <= n);
	free(order);
}

void plan_load(const struct coop_program *p, const struct plan_options *o, double *elements,
	       double *accesses)
{
	bool *chosen = xcalloc(p->elements.len + 1, sizeof(*chosen));
	uint32_t n = MIN(MAX(o->instances, 1), 50);
	double total = 0, sum = 0, count = 0;

	for (uint32_t i = 0; i < n; i++) {
		plan_choose(p, o, i, chosen);
		for (size_t k = 0; k < p->elements.len; k++) {
			const struct coop_program_element *e = &p->elements.data[k];

			count += e->seen && chosen[k];
			sum += chosen[k] ? (double)e->accesses : 0;
			total += (double)e->accesses;
		}
	}
	*elements = count / n;
	*accesses = total > 0 ? sum / total : 0;
	free(chosen);
}
