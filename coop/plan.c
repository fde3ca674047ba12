/* coop/plan.c - who records what.
 *
 * Uniform: every profile is a random subset of the elements that pilot runs have seen (section
 * 3.1.2). Elements that no pilot run accessed are in every profile of more than one element: they
 * cost nothing until they matter.
 *
 * Informed: vectors that differ from run to run fit together only when they come from one run, so
 * the elements with the highest dispersion are recorded together, as many as fit; where they do not
 * all fit, a window moves over them from instance to instance, so that neighbouring profiles
 * overlap. The places that are left go round the calm elements, whose vectors fit with
 * anything: a few instances cover them all. Among equally scattered elements, those that are
 * accessed less come first: the load of an instance stays low. */
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

static const struct coop_program *sorting;

static int by_dispersion(const void *a, const void *b)
{
	const struct program_element *x = &sorting->elements.data[*(const uint32_t *)a];
	const struct program_element *y = &sorting->elements.data[*(const uint32_t *)b];

	if (x->dispersion != y->dispersion)
		return x->dispersion < y->dispersion ? 1 : -1;
	if (x->accesses != y->accesses)
		return x->accesses > y->accesses ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static void choose_informed(const struct coop_program *p, uint32_t *order, uint32_t n,
			    uint32_t size, uint32_t instance, bool *ret)
{
	uint32_t lively = 0, together, calm;

	sorting = p;
	qsort(order, n, sizeof(*order), by_dispersion);
	while (lively < n && p->elements.data[order[lively]].dispersion > 0.5)
		lively++;
	/* one place stays free for the calm ones, unless there are none */
	together = MIN(lively, size - (size > 1 && lively < n));
	for (uint32_t i = 0; i < together; i++)
		ret[order[(i + (together < lively ? instance : 0)) % lively]] = true;
	calm = n - lively;
	for (uint32_t i = 0; i < size - together && calm; i++)
		ret[order[lively + (instance * (size - together) + i) % calm]] = true;
}

void plan_choose(const struct coop_program *p, const struct plan_options *o, uint32_t instance,
		 bool *ret)
{
	uint32_t *order = xcalloc(p->elements.len + 1, sizeof(*order)), n = 0;
	uint32_t size = plan_size(p, o);
	uint64_t state = hash_u64(o->seed) ^ instance;

	for (uint32_t i = 0; i < p->elements.len; i++) {
		if (p->elements.data[i].seen)
			order[n++] = i;
		ret[i] = !p->elements.data[i].seen && size > 1;
	}
	if (o->informed) {
		choose_informed(p, order, n, size, instance, ret);
	} else {
		for (uint32_t i = 0; i < size && i < n; i++) {
			uint32_t k = i + (uint32_t)(next_random(&state) % (n - i)), t = order[i];

			order[i] = order[k];
			order[k] = t;
			ret[order[i]] = true;
		}
	}
	free(order);
}
