/* race/predict.c - sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021).
 *
 * Two conflicting accesses can be next at once if there is a set of events, closed in the following
 * sense, that has what comes before either of them and neither of them:
 *
 *	- with an event, all events of its thread before it;
 *	- with a read, the write that it saw; with a thread's first event, the fork; with a join, all of
 *	  the thread; with what waits, what woke it (semaphores, barriers, once, messages, signals);
 *	- of two sections of one lock, the end of the earlier one.
 *
 * The events of that set in the order of the run are then a run themselves: every read sees what it
 * saw, every lock is free when it is taken. So nothing here is guessed; what a native run needs beyond
 * it is that the threads do not depend on what the recording does not have.
 *
 * A set is a prefix of each thread, so the closure is a fixed point over one number per thread. We
 * compute it anew for each pair of accesses; pairs are tried at most TRIES times per two sites, and a
 * lock that both hold rules a pair out beforehand.
 *
 * Sections for reading count as exclusive, which predicts less. */
#include "race/predict.h"

#include "base/err.h"
#include "base/map.h"
#include "race/messages.h"
#include "race/orders.h"
#include "race/wcp.h"
#include "trace/trace.h"

#include <errno.h>
#include <string.h>

enum { NONE = UINT32_MAX };
enum {
	TRIES = 24, /* per two sites */
	KEEP = 3,   /* accesses of one thread, site and place that are paired with later ones */
	FOUND = TRIES + 1,
	GUESSES = 16,	/* predictions of wcp.c's alone */
	QUESTIONS = 16, /* to the order engine */
	HELD = 8,	/* locks held that are compared beforehand */
	EVENTS_MAX = 1 << 22,
	WORK_MAX = 1 << 28, /* events looked at, over all closures */
};

/* One event of the run. */
struct item {
	uint32_t thread, index; /* the index-th that we keep of its thread */
	uint32_t need, nneeds;	/* in needs: events that must come with it */
	uint32_t lock;		/* of an acquire: number of the lock, else NONE */
	uint32_t release;	/* of an acquire: the event that ends the section, or NONE */
	uint32_t held;		/* of an access: in helds, NONE without locks */
	uint32_t site;
	uint64_t address, size;
	bool access, write, atomic;
};

struct held {
	uint32_t n, lock[HELD];
};

struct lane VEC_FIELDS(uint32_t); /* a thread's events */

struct lock_state {
	uint32_t open;	      /* the acquire whose section is open, NONE */
	uint32_t seen, stamp; /* in a closure: the latest acquire that belongs to it */
};

struct bytes {
	uint32_t writer[8];
};

struct predictor {
	VEC(struct item) items;
	VEC(uint32_t) needs;
	VEC(struct lane) lanes;
	VEC(uint32_t) forked;	  /* by thread: its fork, or NONE */
	VEC(struct held) helds;	  /* each set once in a row */
	VEC(struct held) holding; /* by thread */
	VEC(struct lock_state) locks;
	VEC(struct bytes) bytes;
	struct map lock_of, bytes_of; /* address: number */
	struct map senders;	      /* object: in `sent` */
	VEC(struct lane) sent;	      /* what was posted there */
	VEC(uint32_t) prefix, done;   /* of a closure, by thread */
	uint32_t stamp;
	uint64_t work;
};

struct predictor *predictor_new(void)
{
	return xcalloc(1, sizeof(struct predictor));
}

void predictor_free(struct predictor *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->lanes.len; i++)
		vec_deinit(&p->lanes.data[i]);
	for (size_t i = 0; i < p->sent.len; i++)
		vec_deinit(&p->sent.data[i]);
	vec_deinit(&p->items);
	vec_deinit(&p->needs);
	vec_deinit(&p->lanes);
	vec_deinit(&p->forked);
	vec_deinit(&p->helds);
	vec_deinit(&p->holding);
	vec_deinit(&p->locks);
	vec_deinit(&p->bytes);
	vec_deinit(&p->sent);
	vec_deinit(&p->prefix);
	vec_deinit(&p->done);
	map_deinit(&p->lock_of);
	map_deinit(&p->bytes_of);
	map_deinit(&p->senders);
	free(p);
}

/* ---- taking the run in ---- */

static void reserve_thread(struct predictor *p, uint32_t thread)
{
	while (p->lanes.len <= thread) {
		vec_add(&p->lanes);
		vec_add(&p->holding);
		vec_push(&p->forked, NONE);
		vec_push(&p->prefix, 0);
		vec_push(&p->done, 0);
	}
}

/* The event being added must come with this one. */
static void need(struct predictor *p, uint32_t other)
{
	struct item *last = vec_last(&p->items);

	if (other == NONE || other == p->items.len - 1)
		return;
	for (uint32_t i = 0; i < last->nneeds; i++)
		if (p->needs.data[last->need + i] == other)
			return;
	vec_push(&p->needs, other);
	last->nneeds++;
}

static struct lane *sent_to(struct predictor *p, uint64_t object)
{
	uint64_t *number = map_put(&p->senders, object, p->sent.len);

	if (*number == p->sent.len)
		vec_add(&p->sent);
	return &p->sent.data[*number];
}

/* The last one of each thread is enough: what comes before it comes with it. */
static void send(struct predictor *p, uint64_t object, uint32_t number)
{
	struct lane *l = sent_to(p, object);
	uint32_t thread = p->items.data[number].thread;

	for (size_t i = 0; i < l->len; i++) {
		if (p->items.data[l->data[i]].thread == thread) {
			l->data[i] = number;
			return;
		}
	}
	vec_push(l, number);
}

static void need_sent(struct predictor *p, uint64_t object)
{
	struct lane *l = sent_to(p, object);

	for (size_t i = 0; i < l->len; i++)
		need(p, l->data[i]);
}

static void take_access(struct predictor *p, const struct event *ev, uint32_t number)
{
	uint64_t last = ev->address + (ev->n ? ev->n - 1 : 0);
	bool writes = event_is_write(ev);

	for (uint64_t a = ev->address; ev->n && a <= last; a++) {
		uint64_t *at = map_put(&p->bytes_of, a / 8, p->bytes.len);

		if (*at == p->bytes.len) {
			struct bytes *b = vec_add(&p->bytes);

			memset(b, 0xff, sizeof(*b));
		}
		if (plait_reads(ev->kind))
			need(p, p->bytes.data[*at].writer[a % 8]);
		if (writes)
			p->bytes.data[*at].writer[a % 8] = number;
	}
}

static uint32_t lock_number(struct predictor *p, uint64_t address)
{
	uint64_t *number = map_put(&p->lock_of, address, p->locks.len);

	if (*number == p->locks.len)
		vec_push(&p->locks, (struct lock_state){ .open = NONE });
	return (uint32_t)*number;
}

static void take_lock(struct predictor *p, const struct event *ev, uint64_t address,
		      uint32_t number)
{
	uint32_t lock = lock_number(p, address);
	struct held *h = &p->holding.data[ev->thread];

	if (p->locks.data[lock].open != NONE &&
	    p->items.data[p->locks.data[lock].open].thread == ev->thread)
		return; /* recursive */
	p->items.data[number].lock = lock;
	p->locks.data[lock].open = number;
	if (h->n < HELD)
		h->lock[h->n++] = lock;
}

static void give_lock(struct predictor *p, const struct event *ev, uint64_t address,
		      uint32_t number)
{
	uint32_t lock = lock_number(p, address), open = p->locks.data[lock].open;
	struct held *h = &p->holding.data[ev->thread];

	if (open == NONE || p->items.data[open].thread != ev->thread)
		return;
	p->items.data[open].release = number;
	p->locks.data[lock].open = NONE;
	for (uint32_t i = 0; i < h->n; i++)
		if (h->lock[i] == lock)
			h->lock[i] = h->lock[--h->n];
}

/* What a wait for something needs, and what waits need. Conservative: a wait that did not get it
 * needs what was there, too. */
static void take_sync(struct predictor *p, const struct event *ev, uint32_t number)
{
	uint32_t effects = plait_effects_of(ev->kind, ev->result);
	enum message message = message_of_kind(ev->kind);

	switch (ev->kind) {
	case PLAIT_EV_FORK:
		reserve_thread(p, ev->other);
		p->forked.data[ev->other] = number;
		break;
	case PLAIT_EV_JOIN:
		reserve_thread(p, ev->other);
		if (ev->result == 0 && p->lanes.data[ev->other].len)
			need(p, *vec_last(&p->lanes.data[ev->other]));
		break;
	case PLAIT_EV_WAIT:
		give_lock(p, ev, ev->address2, number);
		break;
	case PLAIT_EV_WOKEN:
		need_sent(p, ev->address);
		take_lock(p, ev, ev->address2, number);
		break;
	default:
		if (message == MESSAGE_SENT)
			send(p, ev->address, number);
		else if (message == MESSAGE_RECEIVED)
			need_sent(p, ev->address);
		else if (effects & EV_ACQUIRES)
			take_lock(p, ev, ev->address, number);
		else if (plait_acquires(ev->kind)) /* it was held: that must stay so */
			need(p, p->locks.data[lock_number(p, ev->address)].open);
		else if (effects & EV_RELEASES && ev->result == 0)
			give_lock(p, ev, ev->address, number);
	}
}

static uint32_t held_now(struct predictor *p, uint32_t thread)
{
	const struct held *h = &p->holding.data[thread];

	if (!h->n)
		return NONE;
	if (!p->helds.len || memcmp(vec_last(&p->helds), h, sizeof(*h)) != 0)
		vec_push(&p->helds, *h);
	return (uint32_t)p->helds.len - 1;
}

void predictor_add(struct predictor *p, const struct event *ev)
{
	uint32_t number = (uint32_t)p->items.len;
	struct item *item;

	reserve_thread(p, ev->thread);
	item = vec_add(&p->items);
	*item = (struct item){ .thread = ev->thread,
			       .index = (uint32_t)p->lanes.data[ev->thread].len,
			       .need = (uint32_t)p->needs.len,
			       .lock = NONE,
			       .release = NONE,
			       .held = NONE,
			       .site = ev->site,
			       .address = ev->address,
			       .size = ev->n,
			       .access = plait_is_access(ev->kind),
			       .atomic = plait_is_atomic(ev->kind),
			       .write = plait_is_access(ev->kind) && event_is_write(ev) };
	if (item->index == 0)
		need(p, p->forked.data[ev->thread]);
	if (item->access) {
		vec_last(&p->items)->held = held_now(p, ev->thread);
		take_access(p, ev, number);
	} else {
		take_sync(p, ev, number);
	}
	vec_push(&p->lanes.data[ev->thread], number);
}

/* ---- the closure ---- */

struct closure {
	struct predictor *p;
	const struct item *first, *second;
	bool failed;
};

/* The event belongs to the set, and with it all before it in its thread. */
static void include(struct closure *c, uint32_t number)
{
	const struct item *i = &c->p->items.data[number];

	if (number == NONE || (i->thread == c->first->thread && i->index >= c->first->index) ||
	    (i->thread == c->second->thread && i->index >= c->second->index)) {
		c->failed = true;
		return;
	}
	if (c->p->prefix.data[i->thread] <= i->index)
		c->p->prefix.data[i->thread] = i->index + 1;
}

/* Of the sections of one lock only the last may be open. */
static void include_section(struct closure *c, uint32_t number, const struct item *i)
{
	struct lock_state *l = &c->p->locks.data[i->lock];
	uint32_t before;

	if (l->stamp != c->p->stamp) {
		l->stamp = c->p->stamp;
		l->seen = number;
		return;
	}
	before = l->seen < number ? l->seen : number;
	l->seen = l->seen < number ? number : l->seen;
	if (before != l->seen) {
		uint32_t release = c->p->items.data[before].release;

		if (release == NONE)
			c->failed = true;
		else
			include(c, release);
	}
}

static void look_at_event(struct closure *c, uint32_t number)
{
	const struct item *i = &c->p->items.data[number];

	c->p->work++;
	for (uint32_t k = 0; k < i->nneeds && !c->failed; k++)
		include(c, c->p->needs.data[i->need + k]);
	if (i->lock != NONE && !c->failed)
		include_section(c, number, i);
}

bool predictor_meet(struct predictor *p, uint32_t first, uint32_t second)
{
	struct closure c = { .p = p,
			     .first = &p->items.data[first],
			     .second = &p->items.data[second] };
	bool more = true;

	if (c.first->thread == c.second->thread)
		return false;
	memset(p->prefix.data, 0, p->prefix.len * sizeof(*p->prefix.data));
	memset(p->done.data, 0, p->done.len * sizeof(*p->done.data));
	p->stamp++;
	p->prefix.data[c.first->thread] = c.first->index;
	p->prefix.data[c.second->thread] = c.second->index;
	/* a thread whose first event is the access itself has been forked all the same */
	for (unsigned i = 0; i < 2; i++) {
		const struct item *e = i ? c.second : c.first;

		if (e->index == 0 && p->forked.data[e->thread] != NONE)
			include(&c, p->forked.data[e->thread]);
	}
	while (more && !c.failed) {
		more = false;
		for (uint32_t t = 0; t < p->lanes.len && !c.failed; t++)
			for (; p->done.data[t] < p->prefix.data[t] && !c.failed; more = true)
				look_at_event(&c, p->lanes.data[t].data[p->done.data[t]++]);
	}
	return !c.failed;
}

/* ---- pairs ---- */

/* Accesses that later ones are paired with: of one granule, the first few of each thread and site. */
struct place VEC_FIELDS(uint32_t);

struct span {
	uint64_t low, high;
};

struct pairing {
	struct predictor *p;
	struct map place_of; /* granule: in places */
	VEC(struct place) places;
	struct map tried; /* two sites: how often; TRIES: no more */
	struct race_instances *out;
	VEC(struct race_access) accesses; /* by event, in step with the predictor's items */
	struct wcp *wcp;
	VEC(uint32_t) times; /* by event, of wcp */
	unsigned guesses;    /* pairs that wcp alone has named */
	struct map open_of;  /* two sites, neither of which has named: in open */
	VEC(struct race_instance) open;
	VEC(struct span) benign; /* memory that the program says is nobody's race */
	VEC(uint8_t) ignores;	 /* by thread: PLAIT_EV_IGNORE */
};

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static bool locks_meet(const struct predictor *p, const struct item *a, const struct item *b)
{
	if (a->held == NONE || b->held == NONE)
		return false;
	for (uint32_t i = 0; i < p->helds.data[a->held].n; i++)
		for (uint32_t k = 0; k < p->helds.data[b->held].n; k++)
			if (p->helds.data[a->held].lock[i] == p->helds.data[b->held].lock[k])
				return true;
	return false;
}

static bool may_race(const struct item *a, const struct item *b)
{
	return a->thread != b->thread && (a->write || b->write) && !(a->atomic && b->atomic) &&
	       a->address < b->address + b->size && b->address < a->address + a->size;
}

/* The closure keeps sections of a lock in their order. The weaker relation of wcp.c does not, and may be
 * wrong; the second access is the latest event that it knows of. */
static bool is_guessed(struct pairing *g, uint32_t first, uint32_t second)
{
	const struct item *a = &g->p->items.data[first], *b = &g->p->items.data[second];

	if (g->guesses == GUESSES ||
	    wcp_is_before(g->wcp, a->thread, g->times.data[first], b->thread))
		return false;
	g->guesses++;
	return true;
}

static struct race_instance instance_of(const struct pairing *g, uint32_t first, uint32_t second)
{
	const struct race_access *a = &g->accesses.data[first], *b = &g->accesses.data[second];

	return (struct race_instance){ .first = *a,
				       .second = *b,
				       .address = MAX(a->address, b->address) };
}

/* Of equal pairs the last is asked about: the others need more of the run to be as it was. */
static void leave_open(struct pairing *g, uint32_t first, uint32_t second)
{
	uint64_t key = pair_key(g->p->items.data[first].site, g->p->items.data[second].site);
	uint64_t *place = map_put(&g->open_of, key, g->open.len);

	if (*place < g->open.len)
		g->open.data[*place] = instance_of(g, first, second);
	else if (g->open.len < QUESTIONS)
		vec_push(&g->open, instance_of(g, first, second));
}

static void try_pair(struct pairing *g, uint32_t first, uint32_t second)
{
	const struct item *a = &g->p->items.data[first], *b = &g->p->items.data[second];
	uint64_t *tried;

	if (!may_race(a, b) || locks_meet(g->p, a, b))
		return;
	tried = map_put(&g->tried, pair_key(a->site, b->site), 0);
	if (*tried >= TRIES || g->p->work > WORK_MAX) {
		g->out->lost += g->p->work > WORK_MAX;
		return;
	}
	++*tried;
	if (!predictor_meet(g->p, first, second) && !is_guessed(g, first, second)) {
		leave_open(g, first, second);
		return;
	}
	*tried = FOUND;
	g->out->seen++;
	vec_push(g->out, instance_of(g, first, second));
}

/* The few that are left go to the order engine. */
static struct err *ask_orders(struct pairing *g, struct trace *t)
{
	bool meets[QUESTIONS] = { 0 };
	struct err *err;
	size_t n = 0;

	for (size_t i = 0; i < g->open.len; i++) {
		const struct race_instance *in = &g->open.data[i];

		if (map_get_or(&g->tried, pair_key(in->first.site, in->second.site), 0) != FOUND)
			g->open.data[n++] = *in;
	}
	err = orders_meet(t, g->open.data, n, meets);
	for (size_t i = 0; i < n && !err; i++) {
		if (!meets[i])
			continue;
		g->out->seen++;
		vec_push(g->out, g->open.data[i]);
	}
	return err;
}

static struct place *place_of(struct pairing *g, uint64_t granule)
{
	uint64_t *number = map_put(&g->place_of, granule, g->places.len);

	if (*number == g->places.len)
		vec_add(&g->places);
	return &g->places.data[*number];
}

/* Keep it for later ones: the first of its kind, and the last KEEP - 1. */
static void keep(const struct predictor *p, struct place *l, uint32_t number)
{
	const struct item *me = &p->items.data[number];
	uint32_t same = 0;
	size_t second = 0;

	for (size_t i = 0; i < l->len; i++) {
		const struct item *old = &p->items.data[l->data[i]];

		if (old->thread != me->thread || old->site != me->site)
			continue;
		if (++same == 2)
			second = i;
	}
	if (same < KEEP) {
		vec_push(l, number);
		return;
	}
	memmove(&l->data[second], &l->data[second + 1], (l->len - second - 1) * sizeof(*l->data));
	l->data[l->len - 1] = number;
}

/* New memory has nothing to do with what was there. */
static void forget(struct pairing *g, uint64_t address, uint64_t size)
{
	uint64_t first = address / 8, last = (address + (size ? size - 1 : 0)) / 8;

	if (last - first > g->place_of.len) {
		for (size_t i = 0; i < g->place_of.len; i++) {
			const struct map_entry *e = &g->place_of.entries[i];

			if (e->key >= first && e->key <= last)
				vec_clear(&g->places.data[e->value]);
		}
		return;
	}
	for (; first <= last; first++) {
		uint64_t *number = map_find(&g->place_of, first);

		if (number)
			vec_clear(&g->places.data[*number]);
	}
}

/* What the program says about its own races (rt/modes/annotations.c). */
static void take_word(struct pairing *g, const struct event *ev)
{
	if (ev->kind == PLAIT_EV_BENIGN)
		vec_push(&g->benign, (struct span){ ev->address, ev->address + ev->n });
	if (ev->kind != PLAIT_EV_IGNORE)
		return;
	while (g->ignores.len <= ev->thread)
		vec_push(&g->ignores, 0);
	g->ignores.data[ev->thread] = (uint8_t)ev->n;
}

static bool is_nobodys(const struct pairing *g, const struct event *ev)
{
	if (ev->thread < g->ignores.len &&
	    g->ignores.data[ev->thread] & (plait_writes(ev->kind) ? 2 : 1))
		return true;
	for (size_t i = 0; i < g->benign.len; i++)
		if (ev->address < g->benign.data[i].high &&
		    ev->address + ev->n > g->benign.data[i].low)
			return true;
	return false;
}

static void pair_event(struct pairing *g, const struct event *ev, uint32_t number)
{
	struct place *l;

	if (ev->kind == PLAIT_EV_ALLOC || ev->kind == PLAIT_EV_STACK)
		forget(g, ev->address, ev->n);
	take_word(g, ev);
	if (!plait_is_access(ev->kind) || !ev->n || is_nobodys(g, ev))
		return;
	l = place_of(g, ev->address / 8); /* wide accesses: their first granule alone */
	for (size_t i = 0; i < l->len; i++)
		try_pair(g, l->data[i], number);
	keep(g->p, l, number);
}

static struct err *pair_all(struct pairing *g, struct trace *t)
{
	struct cursor c;
	struct err *err;
	const struct event *ev;
	uint32_t number = 0;

	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		vec_push(&g->times, wcp_add(g->wcp, ev));
		pair_event(g, ev, number++);
	}
	cursor_deinit(&c);
	return err;
}

static struct err *take_in(struct pairing *g, struct trace *t)
{
	struct cursor c;
	struct err *err;
	const struct event *ev;

	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		predictor_add(g->p, ev);
		vec_push(&g->accesses, race_access_of(ev));
	}
	cursor_deinit(&c);
	return err;
}

/* What races in this run needs no prediction. */
static struct err *know_races(struct pairing *g, struct trace *t)
{
	struct race_instances found = { 0 };
	struct err *err = race_detect(t, &found);

	for (size_t i = 0; i < found.len; i++)
		*map_put(&g->tried, pair_key(found.data[i].first.site, found.data[i].second.site),
			 0) = FOUND;
	g->out->exact = found.exact;
	race_instances_deinit(&found);
	return err;
}

struct err *race_predict(struct trace *t, struct race_instances *ret)
{
	struct pairing g = { .out = ret };
	struct err *err;

	if (trace_meta(t)->nevents > EVENTS_MAX) {
		ret->lost = trace_meta(t)->nevents;
		return NULL;
	}
	g.p = predictor_new();
	g.wcp = wcp_new();
	err = know_races(&g, t);
	if (!err)
		err = take_in(&g, t);
	if (!err)
		err = pair_all(&g, t);
	if (!err)
		err = ask_orders(&g, t);
	for (size_t i = 0; i < g.places.len; i++)
		vec_deinit(&g.places.data[i]);
	vec_deinit(&g.places);
	vec_deinit(&g.open);
	map_deinit(&g.open_of);
	vec_deinit(&g.accesses);
	vec_deinit(&g.times);
	vec_deinit(&g.benign);
	vec_deinit(&g.ignores);
	map_deinit(&g.place_of);
	map_deinit(&g.tried);
	predictor_free(g.p);
	wcp_free(g.wcp);
	return err;
}
