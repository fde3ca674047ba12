/* run/improvise.c - see improvise() in perform.h.
 *
 * Actors are stepped while they are in the program's own code, and may be interrupted between any two of its
 * instructions. A call of a library runs at full speed, up to where it returns. How often an actor has come to each
 * instruction is counted, because that is how a script names the place of a switch. (What the program does inside of
 * a library's call, as `qsort` calls back, is not seen and not counted.) */
#include "run/perform.h"

#include "base/log.h"
#include "run/stage.h"

#include <string.h>

enum { WAY_IN = 50000 }; /* instructions from a thread's birth to the program's code */

/* What an actor does outside of the program. */
struct trip {
	uint64_t back;	/* the address that it returns to; 0 = it is not in a call */
	bool leaves;	/* it has returned for good */
	unsigned steps; /* since it was born, or made a thread */
};

struct improvisation {
	struct stage *stage;
	uint64_t rng;
	unsigned one_in;
	VEC(struct trip) trips; /* by actor */
	VEC(struct map) visits; /* by actor: instruction -> how often */
	struct turns_made *made;
	struct actor *now;
};

static uint64_t random_of(struct improvisation *i, uint64_t n)
{
	i->rng = i->rng * 6364136223846793005ull + 1442695040888963407ull;
	return hash_u64(i->rng) % n;
}

static size_t number_of(struct improvisation *i, const struct actor *a)
{
	size_t n = 0;

	while (i->stage->actors.data[n] != a)
		n++;
	while (i->trips.len <= n) {
		vec_push(&i->trips, (struct trip){ 0 });
		vec_push(&i->visits, (struct map){ 0 });
	}
	return n;
}

static struct actor *any_ready(struct improvisation *i)
{
	struct stage *s = i->stage;
	uint64_t n = 0, k;

	for (size_t a = 0; a < s->actors.len; a++)
		n += s->actors.data[a]->state == ACTOR_READY;
	if (!n)
		return NULL;
	k = random_of(i, n);
	for (size_t a = 0;; a++)
		if (s->actors.data[a]->state == ACTOR_READY && !k--)
			return s->actors.data[a];
}

static void add_turn(struct improvisation *i, const struct actor *a, uint64_t at, uint64_t hit)
{
	struct turn t = { .at = at, .hit = (uint32_t)hit };

	memcpy(t.thread, a->name, sizeof(t.thread));
	vec_push(i->made, t);
}

/* It has left the program, by a call or for good. The first call of a function goes through the loader, which has
 * two words on top of the return address. */
static void leave(struct improvisation *i, struct trip *t, uint64_t sp)
{
	uint64_t top[3] = { 0 };

	stage_read(i->stage, sp, top, sizeof(top));
	for (size_t k = 0; k < ARRAY_SIZE(top) && !t->back; k++)
		if (stage_owns(i->stage, top[k]))
			t->back = top[k];
	t->leaves = !t->back || !stage_set_break(i->stage, t->back);
}

/* The actor has come to an instruction. */
static void arrive(struct improvisation *i, struct actor *a, bool was_inside)
{
	size_t n = number_of(i, a);
	struct trip *t = &i->trips.data[n];
	struct user_regs_struct regs;
	uint64_t visits;
	struct actor *next;

	if (!stage_registers(a, &regs))
		return;
	if (!stage_owns(i->stage, regs.rip)) {
		if (was_inside)
			leave(i, t, regs.rsp);
		else
			t->leaves |= !t->back && ++t->steps > WAY_IN;
		return;
	}
	if (t->back) {
		stage_clear_break(i->stage, t->back);
		t->back = 0;
	}
	visits = ++*map_put(&i->visits.data[n], regs.rip, 0);
	if (random_of(i, i->one_in))
		return;
	next = any_ready(i);
	if (next && next != a) {
		add_turn(i, a, regs.rip - i->stage->bias, visits);
		i->now = next;
	}
}

/* True: it is over. */
static bool move(struct improvisation *i, enum performed *ret)
{
	struct actor *a = i->now;
	size_t n = number_of(i, a);
	const struct trip *t = &i->trips.data[n];
	bool inside = stage_owns(i->stage, stage_place(i->stage, a) + i->stage->bias);

	switch (stage_go(i->stage, a, t->back || t->leaves ? STAGE_ON : STAGE_STEP)) {
	case STAGE_FAILED:
		*ret = PERFORM_FAILED;
		return true;
	case STAGE_EXITS:
		*ret = PERFORM_EXITS;
		return true;
	case STAGE_LATE:
		*ret = PERFORM_LATE;
		return true;
	case STAGE_ASLEEP:
	case STAGE_GONE:
		add_turn(i, a, 0, 0);
		i->now = NULL;
		return false;
	case STAGE_BREAK:
	case STAGE_STEPPED:
		arrive(i, a, inside);
		return false;
	case STAGE_BORN:
	case STAGE_WOKE:
		return false;
	}
	return false;
}

static enum performed go(struct improvisation *i)
{
	enum performed ret = PERFORM_EXITS;

	for (;;) {
		if (!i->now) {
			stage_look_around(i->stage);
			i->now = any_ready(i);
		}
		if (i->now ? move(i, &ret) : !wait_for_somebody(i->stage, &ret))
			return ret;
	}
}

enum performed improvise(struct stage *s, uint64_t seed, unsigned one_in, struct actor **who,
			 struct turns_made *made)
{
	struct improvisation i = { .stage = s, .rng = seed, .one_in = one_in, .made = made };
	struct performance alone = { .stage = s, .only_begin = true };
	enum performed ret = perform(&alone);

	i.now = alone.now;
	if (alone.begun)
		ret = go(&i);
	*who = i.now ? i.now : s->actors.data[0];
	for (size_t n = 0; n < i.visits.len; n++)
		map_deinit(&i.visits.data[n]);
	vec_deinit(&i.visits);
	vec_deinit(&i.trips);
	performance_deinit(&alone);
	return ret;
}
