/* sched/strategy.c - the common part of all strategies: the generator, the table, dispatch. */
#include "sched/strategy.h"

#include <assert.h>
#include <string.h>

static const char *const names[] = {
#define STRATEGY(id, name, summary) name,
#include "unplait/strategies.def"
#undef STRATEGY
};

static const struct strategy *const table[PLAIT_STRATEGY_COUNT] = {
	[PLAIT_STRATEGY_REPLAY] = &strategy_stay,
	[PLAIT_STRATEGY_RANDOM] = &strategy_random,
	[PLAIT_STRATEGY_PCT] = &strategy_pct,
	[PLAIT_STRATEGY_POS] = &strategy_pos,
	[PLAIT_STRATEGY_FAIR] = &strategy_fair,
	[PLAIT_STRATEGY_STAY] = &strategy_stay,
	/* RF is POS plus READS constraints, which the engine applies to the candidates */
	[PLAIT_STRATEGY_RF] = &strategy_pos,
	/* the tool drives DFS with decision prefixes; the tail stays with the running thread */
	[PLAIT_STRATEGY_DFS] = &strategy_stay,
	[PLAIT_STRATEGY_FOLLOW] = &strategy_follow,
	[PLAIT_STRATEGY_SURW] = &strategy_surw,
};

/* xorshift64*, seeded through splitmix64 so that neighbouring seeds are unrelated. */
uint64_t sched_random(struct sched *s)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return s->random * 0x2545f4914f6cdd1dull;
}

uint64_t sched_below(struct sched *s, uint64_t n)
{
	assert(n > 0);
	return n == 1 ? 0 : (sched_random(s) >> 16) % n;
}

static uint64_t scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static const struct strategy *strategy_of(const struct sched *s)
{
	assert(s->params.strategy < PLAIT_STRATEGY_COUNT);
	return table[s->params.strategy];
}

void sched_init(struct sched *s, const struct sched_params *params)
{
	memset(s, 0, sizeof(*s));
	s->params = *params;
	s->random = scramble(params->seed);
	if (!s->random)
		s->random = 1;
	if (strategy_of(s)->begin)
		strategy_of(s)->begin(s);
}

void sched_task_new(struct sched *s, struct sched_task *task)
{
	task->priority = 0;
	if (strategy_of(s)->task_new)
		strategy_of(s)->task_new(s, task);
}

struct sched_task *sched_pick(struct sched *s, const struct sched_view *v)
{
	struct sched_task *next;

	assert(v->ntasks > 0);
	s->turn++;
	next = strategy_of(s)->pick(s, v);
	if (next != v->current)
		s->turn = 0;
	next->turn = ++s->clock;
	return next;
}

void sched_yielded(struct sched *s, struct sched_task *task)
{
	if (strategy_of(s)->yielded)
		strategy_of(s)->yielded(s, task);
}

uint32_t sched_choose(struct sched *s, uint32_t n)
{
	/* the tool explores these alternatives itself */
	if (s->params.strategy == PLAIT_STRATEGY_DFS)
		return 0;
	return (uint32_t)sched_below(s, n);
}

bool sched_conflict(const struct sched_op *a, const struct sched_op *b)
{
	if (!a->object || !b->object || !(a->writes || b->writes))
		return false;
	return a->object < b->object + (b->size ? b->size : 1) &&
	       b->object < a->object + (a->size ? a->size : 1);
}

uint32_t sched_strategy_find(const char *name)
{
	uint32_t i;

	for (i = 0; i < PLAIT_STRATEGY_COUNT; i++)
		if (!strcmp(names[i], name))
			break;
	return i;
}

const char *sched_strategy_name(uint32_t strategy)
{
	return strategy < PLAIT_STRATEGY_COUNT ? names[strategy] : "unknown";
}
