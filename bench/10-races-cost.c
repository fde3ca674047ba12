/* 10-races-cost NAME RUNS ROUNDS PROGRAM [ARG]... - what looking for data races adds to a controlled run.
 *
 * Two sessions in turn, one whose runs look for races and one whose runs do not, with the same seeds.
 * Prints one row: processor time of a run without, and the ratio. Least of ROUNDS. */
#include "base/err.h"
#include "run/run.h"

#include <stdio.h>
#include <sys/resource.h>

enum { POINTS = 2000000 };

static double children_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static struct err *measure(char **argv, unsigned runs, uint32_t flags, double *seconds,
			   uint64_t *steps)
{
	struct target target = { .argv = argv, .timeout = 60 };
	struct run_result r = { 0 };
	struct session *s = NULL;
	double start = children_seconds();
	struct err *err = session_open(&target, &s);

	*steps = 0;
	for (unsigned i = 0; i < runs && !err; i++) {
		struct run_request q = { .strategy = i % 2 ? PLAIT_STRATEGY_POS
							   : PLAIT_STRATEGY_RANDOM,
					 .seed = i + 1,
					 .points = PLAIT_POINTS_LEARNED,
					 .flags = PLAIT_CONTROL_LEARN | PLAIT_CONTROL_PAIRS |
						  PLAIT_CONTROL_AGAIN | flags,
					 .point_budget = POINTS };

		err = session_run(s, &q, &r);
		*steps += r.steps;
	}
	run_result_deinit(&r);
	session_close(s); /* its processes are waited for here */
	*seconds = children_seconds() - start;
	return err;
}

int main(int argc, char **argv)
{
	double least[2] = { 0 }, seconds;
	unsigned runs, rounds;
	uint64_t steps = 0;

	if (argc < 5)
		return 2;
	runs = (unsigned)atoi(argv[2]);
	rounds = (unsigned)atoi(argv[3]);
	for (unsigned i = 0; i < 2 * rounds; i++) {
		struct err *err = measure(argv + 4, runs, i % 2 ? PLAIT_CONTROL_RACES : 0, &seconds,
					  &steps);

		if (err) {
			fprintf(stderr, "%s\n", err_message(err));
			return 3;
		}
		if (i < 2 || seconds < least[i % 2])
			least[i % 2] = seconds;
	}
	printf("| %s | %llu | %.3f | %.2f |\n", argv[1], (unsigned long long)(steps / runs),
	       least[0] / runs * 1e3, least[1] / least[0]);
	return 0;
}
