/* explain/rank/plan.c - which cures are worth a trial, the most promising first.
 *
 * Cures that tell failing from passing schedules about equally well stand in one group, the cheapest
 * first, blocks before orders unless an order tells them apart as well as any block; the best group is
 * tried first. So a cure that merely keeps the threads from running side by side comes late, however
 * well it works. */
#define LOG_DOMAIN "explain"
#include "explain/rank/plan.h"

#include "base/log.h"
#include "explain/rank/candidate.h"

#define DEAR	    100000000u /* more than any block costs */
#define ABOUT_EQUAL 0.15       /* separations that differ by less are equally good */
#define HARDLY_LESS 0.02
#define LOOP_ROUND  0.35 /* ... what a round of a loop as a block has to make up for */
#define STALE_CHECK 0.25 /* ... and what a wait between check and use is worth */
#define CAME_BACK   0.35 /* ... or what was there before, and not the same */
#define FORGOTTEN   0.1	 /* ... or a lock that every other access holds */

static int best_first(const void *a, const void *b)
{
	const struct planned_cure *x = a, *y = b;

	if (x->worth != y->worth)
		return x->worth > y->worth ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static int cheapest_of_group_first(const void *a, const void *b)
{
	const struct planned_cure *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->cure.cost != y->cure.cost)
		return x->cure.cost < y->cure.cost ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Nobody wants all rounds of a loop in one critical section, however well that works; what is checked
 * before a wait and used after it, a compare-and-swap that what came back deceives, and a lock that only one
 * place forgets, are well-known mistakes. */
static double worth_of(const struct planned_cure *c)
{
	if (!cure_observable(&c->cure))
		return 1;
	return cure_separation(&c->seen) - (c->cure.loop ? LOOP_ROUND : 0) +
	       (c->cure.waits ? STALE_CHECK : 0) + (c->cure.came_back ? CAME_BACK : 0) +
	       (c->lacks_lock ? FORGOTTEN : 0);
}

/* An order is between two roles: who fills in, who uses. Where two threads come to both places, now one
 * way round and now the other, the race itself gives the roles away, and nobody could know for whom to
 * wait. */
static bool has_roles(const struct planned_cure *c)
{
	uint64_t both = c->first_threads & c->then_threads;

	return c->cure.barrier || !(both & (both - 1));
}

/* What a read should have seen, and did not, says how it failed; a block that was broken may say why. */
static bool is_telling_order(const struct planned_cure *c, double best)
{
	return c->cure.kind == BUG_ORDER && has_roles(c) && !c->cure.missed &&
	       c->worth >= SEPARATION_TELLING && c->worth >= best - HARDLY_LESS &&
	       (c->cure.constraints[0].kind != PLAIT_CONSTRAINT_LATE || c->cure.barrier ||
		c->cure.teardown);
}

/* An order that tells failing from passing schedules as well as any block is the simpler story than
 * a block of several variables: where a block's beginning matters, the same order passes when the
 * block begins later. Only blocks around one variable that do as well come before it. Waiting for
 * everybody is for tearing things down, not for looking at them. */
static void prefer_telling_orders(struct planned_cures *all)
{
	double best = all->len ? all->data[0].worth : 0;
	uint32_t blocks = 0;
	bool telling = false;

	for (size_t i = 0; i < all->len; i++) {
		const struct planned_cure *c = &all->data[i];

		telling |= is_telling_order(c, best);
		if (c->cure.kind == BUG_ATOMICITY && c->worth >= best - HARDLY_LESS)
			blocks = MAX(blocks, MIN(c->cure.cost, DEAR));
	}
	for (size_t i = 0; i < all->len && telling; i++) {
		struct planned_cure *c = &all->data[i];

		if (is_telling_order(c, best))
			c->cure.cost = blocks + 1;
		else if (c->cure.kind != BUG_ORDER && c->worth < best - HARDLY_LESS)
			c->cure.cost = MIN(c->cure.cost, DEAR) + blocks + 2;
		else if (c->cure.kind == BUG_MULTI_VARIABLE)
			c->cure.cost = MIN(c->cure.cost, DEAR) + blocks + 2;
	}
}

void plan_make(struct planned_cures *all)
{
	double leader = 0;

	for (size_t i = 0; i < all->len; i++)
		all->data[i].worth = worth_of(&all->data[i]);
	vec_sort(all, best_first);
	prefer_telling_orders(all);
	for (size_t i = 0; i < all->len; i++) {
		struct planned_cure *c = &all->data[i];

		c->group = i ? all->data[i - 1].group : 0;
		if (!i || c->worth < leader - ABOUT_EQUAL) {
			c->group += i > 0;
			leader = c->worth;
		}
	}
	vec_sort(all, cheapest_of_group_first);
	for (size_t i = 0; i < all->len; i++)
		all->data[i].place = (uint32_t)i;
	for (size_t i = 0; i < all->len; i++)
		log_debug(2, "cure %zu: kind %d, steps %u to %u, cost %u, separation %.2f", i,
			  all->data[i].cure.kind, all->data[i].cure.from, all->data[i].cure.to,
			  all->data[i].cure.cost, all->data[i].worth);
}
