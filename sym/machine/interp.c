/* sym/machine/interp.c - run the current thread.
 *
 * The loop exists in several copies (interp-loop.h): while a frame's registers are all concrete
 * nothing checks for expressions at all, which is where the speed comes from; the first symbolic
 * value that enters a frame moves it to the other loop until the function returns. A third copy of
 * the loop hands every decision to the guide, for following recorded paths, and a fourth, concrete
 * again, stops at scheduling points. */
#include "sym/machine/machine.h"

#include <string.h>

#define MAX_DEPTH 100000
#define SLICE	  (1u << 24) /* operations between looks at the clock */

static uint32_t switch_target(const struct switch_table *t, uint64_t v)
{
	uint32_t lo = 0, hi = t->n;

	if (t->dense) {
		uint64_t i = t->n ? v - t->values[0] : 0;

		return t->targets[i < t->n ? i : t->n];
	}
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (t->values[mid] == v)
			return t->targets[mid];
		if (t->values[mid] < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t->targets[t->n];
}

#define LOOP_NAME loop_concrete
#define SYMBOLIC  0
#define FOLLOW	  0
#define POINTS	  0
#include "sym/machine/interp-loop.h"
#undef LOOP_NAME
#undef POINTS
#define LOOP_NAME loop_points
#define POINTS	  1
#include "sym/machine/interp-loop.h"
#undef LOOP_NAME
#undef SYMBOLIC
#undef POINTS
#define LOOP_NAME loop_symbolic
#define SYMBOLIC  1
#define POINTS	  0
#include "sym/machine/interp-loop.h"
#undef LOOP_NAME
#undef FOLLOW
#define LOOP_NAME loop_follow
#define FOLLOW	  1
#include "sym/machine/interp-loop.h"

enum stop interp(struct machine *m)
{
	enum stop st;

	frame_own(&current_thread(m)->top);
	do {
		struct frame *f = current_thread(m)->top;

		if (m->guide->follows)
			frame_make_symbolic(f);
		if (m->guide->points && f->x)
			return machine_fault(m, SYM_UNSUPPORTED,
					     "symbolic values while schedules are explored");
		st = m->guide->follows	? loop_follow(m)
		     : m->guide->points ? loop_points(m)
		     : f->x		? loop_symbolic(m)
					: loop_concrete(m);
	} while (st == STOP_SWITCH);
	return st;
}
