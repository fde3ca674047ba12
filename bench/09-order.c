/* bench/09-order.c - how the order engine grows: traces in the papers' shapes, ever longer.
 * usage: bench-order [shape [accesses [seeds [seconds]]]] */
#include "order/order.h"
#include "test/unit/order-shapes.h"

#include "base/err.h"

#include <stdio.h>
#include <sys/resource.h>

static long megabytes(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

static void measure(const char *shape, size_t accesses, uint64_t seed, double seconds)
{
	static const char *const word[] = { "unknown", "sat", "unsat" };
	struct order_model *m = shape_make(shape, accesses, seed, 0);
	struct order_budget budget = { .seconds = seconds, .seed = 1 };
	struct order_answer a;

	if (!m) {
		printf("%-15s %7zu  seed %ju: the simulated program did not fail\n", shape, accesses,
		       (uintmax_t)seed);
		return;
	}
	struct err *err = order_solve(m, ORDER_FAIL, &budget, &a);
	if (err) {
		printf("%s: %s\n", shape, err_message(err));
		err_free(err);
	} else {
		printf("%-15s %7zu %8zu %3zu  %-7s %-10s %8.3f s %5ld MB  nodes %ju dead %ju  "
		       "conflicts %ju rounds %ju  unique %ju/%ju\n",
		       shape, shape_accesses(m), m->events.len, m->threads.len, word[a.status],
		       a.stats.how ? a.stats.how : "-", a.stats.seconds, megabytes(),
		       (uintmax_t)a.stats.nodes, (uintmax_t)a.stats.dead_ends,
		       (uintmax_t)a.stats.conflicts, (uintmax_t)a.stats.rounds,
		       (uintmax_t)a.stats.unique_reads, (uintmax_t)a.stats.reads);
		order_answer_deinit(&a);
	}
	fflush(stdout);
	order_model_free(m);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 300, 1250, 10000, 100000 };
	uint64_t seeds = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	double seconds = argc > 4 ? strtod(argv[4], NULL) : 60;

	printf("%-15s %7s %8s %3s\n", "shape", "accesses", "events", "thr");
	if (argc > 2) {
		for (uint64_t s = 1; s <= seeds; s++)
			measure(argv[1], strtoull(argv[2], NULL, 10), s, seconds);
		return 0;
	}
	for (size_t i = 0; shape_names[i]; i++)
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++)
			if (argc < 2 || !strcmp(argv[1], shape_names[i]))
				measure(shape_names[i], sizes[k], 1, seconds);
	for (size_t i = 0; cured_names[i]; i++)
		for (size_t k = 0; k < 2; k++)
			if (argc < 2 || !strcmp(argv[1], cured_names[i]))
				measure(cured_names[i], k ? 1000 : 100, 1, MIN(seconds, 10));
	return 0;
}
