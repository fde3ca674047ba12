/* run/turns.c - schedules as turns: who executes how many events, in which order.
 *
 * Decisions say "after so many events of the whole run": exact, and of no use as soon as the run
 * differs anywhere. Turns say "until this thread has executed so many events of its own", which
 * keeps its meaning when other threads do more or less than before. */
#include "run/run.h"

#include "base/map.h"

/* Each thread's number of events so far. */
struct counts VEC_FIELDS(uint64_t);

static uint64_t *count_of(struct counts *c, uint32_t thread)
{
	while (c->len <= thread)
		vec_push(c, 0);
	return &c->data[thread];
}

static void add_turn(struct turns *t, struct counts *c, uint32_t thread, uint64_t length)
{
	*count_of(c, thread) += length;
	if (length)
		vec_push(t, (struct plait_turn){ thread, PLAIT_ANY, *count_of(c, thread) });
}

void schedule_turns(const struct schedule *s, struct turns *ret)
{
	struct counts counts = { 0 };
	uint64_t start = 0;
	uint32_t thread = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < s->decisions.len; i++) {
		const struct decision *d = &s->decisions.data[i];

		if (d->kind == DECISION_CHOICE) {
			vec_push(ret, (struct plait_turn){ PLAIT_ANY, PLAIT_ANY, d->value });
			continue;
		}
		add_turn(ret, &counts, thread, d->step - start);
		start = d->step;
		thread = d->value;
	}
	/* the last turn goes on to the end */
	vec_push(ret, (struct plait_turn){ thread, PLAIT_ANY, UINT64_MAX });
	vec_deinit(&counts);
}

void turns_link(struct turns *t)
{
	struct map last = { 0 }; /* thread -> its latest turn, + 1 */
	size_t n = 0;

	for (size_t i = 0; i < t->len; i++) {
		struct plait_turn turn = t->data[i];
		uint64_t *before = map_put(&last, turn.thread, 0);
		struct plait_turn *previous = *before ? &t->data[*before - 1] : NULL;

		if (turn.thread != PLAIT_ANY && previous && turn.upto <= previous->upto)
			continue;
		if (turn.thread != PLAIT_ANY && previous && *before == n) {
			previous->upto = turn.upto;
			continue;
		}
		if (previous)
			previous->next = (uint32_t)n;
		turn.next = PLAIT_ANY;
		t->data[n++] = turn;
		*before = n;
	}
	t->len = n;
	map_deinit(&last);
}

/* ---- neighbours ---- */

static uint64_t draw(uint64_t *state, uint64_t below)
{
	return below ? hash_u64(++*state) % below : 0;
}

static void leave_out(struct turns *t, size_t at)
{
	memmove(&t->data[at], &t->data[at + 1], (t->len - at - 1) * sizeof(t->data[0]));
	t->len--;
}

/* Where the thread stood before the turn. */
static uint64_t begin_of(const struct turns *t, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (t->data[i].thread == t->data[at].thread)
			return t->data[i].upto;
	return 0;
}

static void put_end_behind_next(struct turns *t, size_t at, uint64_t *state)
{
	struct plait_turn end = t->data[at];
	uint64_t begin = begin_of(t, at);

	if (at + 1 >= t->len || end.upto == UINT64_MAX || end.upto < begin + 2)
		return;
	t->data[at].upto = begin + 1 + draw(state, end.upto - begin - 1);
	vec_push(t, end);
	memmove(&t->data[at + 3], &t->data[at + 2], (t->len - at - 3) * sizeof(end));
	t->data[at + 2] = end;
}

void turns_disturb(struct turns *t, uint64_t seed)
{
	uint64_t state = hash_u64(seed);

	for (uint64_t n = draw(&state, 4); n > 0 && t->len > 2; n--) {
		size_t at = draw(&state, t->len - 1);

		if (t->data[at].thread == PLAIT_ANY)
			continue;
		if (draw(&state, 2))
			leave_out(t, at);
		else
			put_end_behind_next(t, at, &state);
	}
}
