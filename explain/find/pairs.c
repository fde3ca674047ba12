/* explain/find/pairs.c - event pairs worth turning round (000 section 4.1.5, found dynamically).
 *
 * Each step is paired with the last steps of other threads that it conflicts with: a read with the
 * write it observed; a write with the previous write and with the reads in between. If both stand
 * in critical sections of one lock, turning the accesses round means turning the sections round, so
 * the pair becomes the two acquisitions. An acquisition is paired with the last few of other
 * threads. A broken-off section (the lock is still held at the end) counts to the end
 * of the run. */
#include "explain/find/pairs.h"

#include "base/map.h"
#include "unplait/abi.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HELD = 16, READS_PER_WRITE = 16, SECTIONS = 6 };

/* Locks a thread holds, as the steps that acquired them, outermost first. */
struct held {
	uint32_t step[MAX_HELD];
	uint32_t n;
};

static void acquire(struct held *h, uint32_t step)
{
	if (h->n < MAX_HELD)
		h->step[h->n++] = step;
}

/* The lock that an acquiring step took; a woken waiter has its mutex again. */
static uint64_t lock_of(const struct step *e)
{
	return e->kind == PLAIT_EV_WOKEN ? e->value : e->address;
}

static void release(struct held *h, const struct steps *s, uint64_t lock)
{
	for (uint32_t i = h->n; i-- > 0;) {
		if (lock_of(&s->data[h->step[i]]) != lock)
			continue;
		memmove(&h->step[i], &h->step[i + 1], (h->n - i - 1) * sizeof(h->step[0]));
		h->n--;
		return;
	}
}

/* A condition wait gives its mutex up; the mutex is in `value` of WAIT and WOKEN steps. */
static void follow_locks(struct held *h, const struct steps *s, uint32_t i)
{
	const struct step *e = &s->data[i];

	if (step_is_acquire(e) || e->kind == PLAIT_EV_WOKEN)
		acquire(h, i);
	else if (step_is_release(e))
		release(h, s, e->address);
	else if (e->kind == PLAIT_EV_WAIT)
		release(h, s, e->value);
}

struct finder {
	const struct steps *s;
	struct held *held;	   /* [thread], now */
	struct held *held_at;	   /* [step], copied */
	uint32_t *acquired_before; /* [step]: the previous acquisition of the same lock, + 1 */
	struct map seen;	   /* pairs already there */
	struct step_pairs *out;
};

/* The acquisition of a lock held at both steps, for each of them; false when there is none. */
static bool common_lock(const struct finder *f, uint32_t a, uint32_t b, uint32_t *ret_a,
			uint32_t *ret_b)
{
	const struct held *x = &f->held_at[a], *y = &f->held_at[b];

	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < y->n; k++)
			if (lock_of(&f->s->data[x->step[i]]) == lock_of(&f->s->data[y->step[k]])) {
				*ret_a = x->step[i];
				*ret_b = y->step[k];
				return true;
			}
	return false;
}

static void add_pair(struct finder *f, uint32_t first, uint32_t second)
{
	uint32_t a = first, b = second;
	uint64_t *slot;

	common_lock(f, first, second, &a, &b);
	slot = map_put(&f->seen, (uint64_t)a << 32 | b, 0);
	if (*slot)
		return;
	*slot = 1;
	vec_push(f->out, (struct step_pair){ a, b, second });
}

/* What has happened to one object so far. */
struct history {
	uint32_t write;			 /* last write, + 1 */
	uint32_t reads[READS_PER_WRITE]; /* since then, + 1, of different threads, latest first */
};

static void note_read(const struct steps *s, struct history *h, uint32_t i)
{
	uint32_t k = 0;

	while (k < READS_PER_WRITE - 1 && h->reads[k] &&
	       s->data[h->reads[k] - 1].thread != s->data[i].thread)
		k++;
	memmove(&h->reads[1], &h->reads[0], k * sizeof(h->reads[0]));
	h->reads[0] = i + 1;
}

static void meet(struct finder *f, struct history *h, uint32_t i)
{
	const struct step *e = &f->s->data[i];
	const struct step *w = h->write ? &f->s->data[h->write - 1] : NULL;

	if (w && w->thread != e->thread)
		add_pair(f, h->write - 1, i);
	for (int k = 0; k < READS_PER_WRITE && step_writes(e) && h->reads[k]; k++)
		if (f->s->data[h->reads[k] - 1].thread != e->thread)
			add_pair(f, h->reads[k] - 1, i);
	if (step_writes(e)) {
		memset(h, 0, sizeof(*h));
		h->write = i + 1;
	} else {
		note_read(f->s, h, i);
	}
}

/* The sections of other threads since this one had the lock: what is done in them may be out of
 * sight (in a library), so each of them may be the one that came too early. */
static void meet_lock(struct finder *f, struct map *last_acquire, uint32_t i)
{
	const struct step *e = &f->s->data[i];
	uint64_t *last = map_put(last_acquire, e->address, 0);
	uint32_t n = 0;

	f->acquired_before[i] = (uint32_t)*last;
	for (uint32_t k = (uint32_t)*last; k && n < SECTIONS; k = f->acquired_before[k - 1], n++) {
		if (f->s->data[k - 1].thread == e->thread)
			break;
		add_pair(f, k - 1, i);
	}
	*last = i + 1;
}

static int latest_first(const void *a, const void *b)
{
	const struct step_pair *x = a, *y = b;

	if (x->about != y->about)
		return x->about > y->about ? -1 : 1;
	return x->first > y->first ? -1 : x->first < y->first;
}

void pairs_find(const struct steps *failing, struct step_pairs *ret)
{
	struct finder f = { .s = failing, .out = ret };
	struct map objects = { 0 }, last_acquire = { 0 };
	VEC(struct history) histories = { 0 };

	memset(ret, 0, sizeof(*ret));
	f.held = xcalloc(failing->nthreads, sizeof(*f.held));
	f.held_at = xcalloc(failing->len, sizeof(*f.held_at));
	f.acquired_before = xcalloc(failing->len, sizeof(*f.acquired_before));
	for (uint32_t i = 0; i < failing->len; i++) {
		const struct step *e = &failing->data[i];
		struct held *held = &f.held[e->thread];

		f.held_at[i] = *held;
		if (step_is_acquire(e)) {
			meet_lock(&f, &last_acquire, i);
		} else if (!step_is_release(e) && (step_reads(e) || step_writes(e))) {
			uint64_t *at = map_put(&objects, e->address, histories.len);

			if (*at == histories.len)
				vec_push(&histories, (struct history){ 0 });
			meet(&f, &histories.data[*at], i);
		}
		follow_locks(held, failing, i);
	}
	vec_sort(ret, latest_first);
	vec_deinit(&histories);
	map_deinit(&objects);
	map_deinit(&last_acquire);
	map_deinit(&f.seen);
	free(f.held);
	free(f.held_at);
	free(f.acquired_before);
}
