/* order/why/switches.c - fewer context switches, same outcome (000 section 4.1.7, algorithm 6).
 *
 * A segment is a run of events of one thread. Forward: pull the thread's next segment up behind
 * this one. Backward: push its previous segment down in front of this one. Keep what the referee
 * accepts; repeat while the count drops. The published algorithm asks a solver each time; the
 * referee's linear check answers the same question for a complete order. */
#include "order/order.h"
#include "base/log.h"

#include "base/err.h"
#include "order/search/forward.h"

struct reducer {
	const struct order_model *m;
	enum order_want want;
	uint32_t *order, *trial;
	size_t len, tried;
	double deadline;
};

static uint32_t thread_at(const struct reducer *r, size_t i)
{
	return r->m->events.data[r->order[i]].thread;
}

static size_t segment_end(const struct reducer *r, size_t i)
{
	size_t end = i + 1;

	while (end < r->len && thread_at(r, end) == thread_at(r, i))
		end++;
	return end;
}

static size_t segment_start(const struct reducer *r, size_t i)
{
	while (i > 0 && thread_at(r, i - 1) == thread_at(r, i))
		i--;
	return i;
}

/* Exchange the neighbouring spans [a, b) and [b, c); keep it when it is still a run. */
static bool exchange(struct reducer *r, size_t a, size_t b, size_t c)
{
	memcpy(r->trial, r->order, r->len * sizeof(*r->order));
	memcpy(r->trial + a, r->order + b, (c - b) * sizeof(*r->order));
	memcpy(r->trial + a + (c - b), r->order + a, (b - a) * sizeof(*r->order));
	r->tried++;
	if (!order_validate(r->m, r->want, r->trial, r->len, NULL, NULL))
		return false;
	memcpy(r->order, r->trial, r->len * sizeof(*r->order));
	return true;
}

static bool late(const struct reducer *r)
{
	return clock_seconds() > r->deadline;
}

static void forward(struct reducer *r)
{
	for (size_t i = 0; i < r->len && !late(r);) {
		size_t end = segment_end(r, i), next = end;
		while (next < r->len && thread_at(r, next) != thread_at(r, i))
			next++;
		if (next < r->len && exchange(r, end, next, segment_end(r, next)))
			continue; /* the segment grew; it may grow again */
		i = end;
	}
}

static void backward(struct reducer *r)
{
	for (size_t i = r->len; i > 0 && !late(r);) {
		size_t start = segment_start(r, i - 1), previous = start;
		while (previous > 0 && thread_at(r, previous - 1) != thread_at(r, i - 1))
			previous--;
		if (previous > 0 && exchange(r, segment_start(r, previous - 1), previous, start))
			continue;
		i = start;
	}
}

struct err *order_reduce_switches(const struct order_model *m, enum order_want want,
				  uint32_t *order, size_t len, double seconds, size_t *ret)
{
	struct reducer r = { .m = m, .want = want, .order = order, .len = len };
	size_t before, after;

	if (len != m->events.len || !order_validate(m, want, order, len, NULL, NULL))
		return err_new(ERR_ENV, "the order to simplify is not a run with that outcome");
	r.deadline = seconds ? clock_seconds() + seconds : 1e30;
	r.trial = xcalloc(len + 1, sizeof(*r.trial));
	do {
		before = order_count_switches(m, order, len);
		forward(&r);
		backward(&r);
		after = order_count_switches(m, order, len);
	} while (after < before && !late(&r));
	free(r.trial);
	*ret = r.tried;
	return NULL;
}
