/* sym/follow/recorded.c - read a plait into queues per thread. One walk over the events of all threads by
 * clock, so that a FREE finds the block it ends. */
#include "sym/follow/recorded.h"

#include "base/err.h"
#include "base/map.h"

#include <string.h>

const struct plait_site *recorded_site(const struct recorded *r, uint32_t site)
{
	return site && site <= r->nsites ? &r->sites->sites[site - 1] : NULL;
}

static void add_bit(struct rec_thread *t, bool bit)
{
	if (t->nbits % 64 == 0)
		vec_push(&t->bits, 0);
	*vec_last(&t->bits) |= (uint64_t)bit << t->nbits % 64;
	t->nbits++;
}

static void add_bits(struct rec_thread *t, uint64_t bits, uint64_t n)
{
	while (n-- > 0)
		add_bit(t, bits >> n & 1);
}

static bool bit_at(const struct rec_thread *t, uint64_t n)
{
	return t->bits.data[n / 64] >> n % 64 & 1;
}

/* What was recorded belongs to another path. Births and joins stay: who is born does not depend on
 * what its parent does meanwhile. */
static void leave_path(struct rec_thread *t)
{
	t->left = t->ended = true;
	t->values.len = t->value < t->values.len ? t->value : t->values.len;
	t->raw.len = t->raw_at;
	t->raw_open = false;
	t->inputs.len = t->input;
	t->blocks.len = t->block;
	t->arms.len = t->arm;
}

bool recorded_bit(struct rec_thread *t, bool *ret)
{
	if (t->bit >= t->nbits)
		return false;
	*ret = bit_at(t, t->bit);
	if (t->bit++ == t->leaves)
		leave_path(t);
	return true;
}

void recorded_detour(struct rec_thread *t, const char *bits)
{
	uint64_t n = 0, old = t->nbits;

	while (bits[n] && n < old && bit_at(t, n) == (bits[n] == '1'))
		n++;
	t->leaves = bits[n] ? n : UINT64_MAX;
	vec_clear(&t->bits);
	t->nbits = 0;
	for (; *bits; bits++)
		add_bit(t, *bits == '1');
}

static void add_value(struct rec_thread *t, uint64_t value, uint64_t clock)
{
	vec_push(&t->values, ((struct rec_value){ value, clock, UINT64_MAX }));
}

static void add_values(struct rec_thread *t, const struct event *ev, uint64_t known)
{
	size_t n = ev->nbytes;

	t->raw_open = ev->n == 0;
	if (ev->n || known)
		n = MIN(n, (ev->n ? ev->n : known) - 1);
	else
		while (n && !ev->bytes[n - 1])
			n--;
	vec_push(&t->pieces, ((struct rec_piece){ t->raw.len, ev->clock }));
	for (size_t i = 0; i < n; i++)
		vec_push(&t->raw, ev->bytes[i]);
}

size_t recorded_values_left(const struct rec_thread *t)
{
	return t->pieces.len ? t->raw.len - t->raw_at : t->values.len - t->value;
}

/* Of the last value in an open piece, bytes that are 0 may be missing. */
bool recorded_value(struct rec_thread *t, unsigned bytes, struct rec_value *ret)
{
	size_t left = recorded_values_left(t);

	*ret = (struct rec_value){ .until = UINT64_MAX };
	if (!left || (t->pieces.len && left < bytes && !t->raw_open))
		return false;
	if (!t->pieces.len) {
		*ret = t->values.data[t->value++];
		return true;
	}
	while (t->piece + 1 < t->pieces.len && t->pieces.data[t->piece + 1].first <= t->raw_at)
		t->piece++;
	ret->clock = t->pieces.data[t->piece].clock;
	if (t->piece + 1 < t->pieces.len)
		ret->until = t->pieces.data[t->piece + 1].clock;
	for (unsigned i = 0; i < bytes && i < left; i++)
		ret->value |= (uint64_t)t->raw.data[t->raw_at + i] << 8 * i;
	t->raw_at += MIN(bytes, left);
	t->value++;
	return true;
}

static void add_block(struct recorded *r, struct map *live, const struct event *ev)
{
	*map_put(live, ev->address, 0) = r->blocks.len;
	vec_push(&r->threads[ev->thread].blocks, (uint32_t)r->blocks.len);
	vec_push(&r->blocks, ((struct rec_block){ .address = ev->address,
						  .size = ev->n,
						  .born = ev->clock,
						  .died = UINT64_MAX,
						  .thread = ev->thread,
						  .site = ev->site }));
}

static void end_block(struct recorded *r, struct map *live, const struct event *ev)
{
	uint64_t *i = map_find(live, ev->address);

	if (i && r->blocks.data[*i].died == UINT64_MAX)
		r->blocks.data[*i].died = ev->clock;
}

static void add_input(struct recorded *r, struct rec_thread *t, const struct event *ev)
{
	const struct plait_site *s = recorded_site(r, ev->site);

	if (ev->kind == PLAIT_EV_INPUT) {
		if (s && s->kind == PLAIT_SITE_INPUT)
			vec_push(&t->inputs, ((struct rec_input){ ev->site, ev->value, ev->clock,
								  (uint32_t)r->pool.len, 0 }));
	} else if (t->inputs.len && vec_last(&t->inputs)->site == ev->site) {
		struct rec_input *in = vec_last(&t->inputs);

		if (in->len == 0)
			in->first = (uint32_t)r->pool.len;
		for (size_t i = 0; i < ev->nbytes; i++)
			vec_push(&r->pool, ev->bytes[i]);
		in->len += (uint32_t)ev->nbytes;
	}
}

/* The decisions among the events of a full recording. */
static void add_full(struct recorded *r, struct rec_thread *t, const struct event *ev)
{
	const struct plait_site *s = recorded_site(r, ev->site);

	if (ev->kind == PLAIT_EV_BRANCH) {
		if (s && s->kind == PLAIT_SITE_SWITCH)
			vec_push(&t->arms, (uint32_t)ev->n);
		else
			add_bit(t, ev->n);
	} else if (plait_is_access(ev->kind) && s && s->flags & PLAIT_SITE_FEEDS_ADDRESS) {
		add_value(t, ev->value, ev->clock);
	}
}

bool recorded_is_checked(uint32_t kind)
{
	switch (kind) {
	case PLAIT_EV_READ:
	case PLAIT_EV_WRITE:
	case PLAIT_EV_ATOMIC_READ:
	case PLAIT_EV_ATOMIC_WRITE:
	case PLAIT_EV_ATOMIC_RMW:
	case PLAIT_EV_READ_RANGE:
	case PLAIT_EV_WRITE_RANGE:
	case PLAIT_EV_LOCK:
	case PLAIT_EV_TRYLOCK:
	case PLAIT_EV_UNLOCK:
	case PLAIT_EV_RDLOCK:
	case PLAIT_EV_TRYRDLOCK:
	case PLAIT_EV_WRLOCK:
	case PLAIT_EV_TRYWRLOCK:
	case PLAIT_EV_RWUNLOCK:
	case PLAIT_EV_WAIT:
	case PLAIT_EV_WOKEN:
	case PLAIT_EV_SIGNAL:
	case PLAIT_EV_BROADCAST:
	case PLAIT_EV_SEM_INIT:
	case PLAIT_EV_SEM_WAIT:
	case PLAIT_EV_SEM_TRYWAIT:
	case PLAIT_EV_SEM_POST:
	case PLAIT_EV_BARRIER_WAIT:
	case PLAIT_EV_BARRIER_LEAVE:
	case PLAIT_EV_ONCE_BEGIN:
	case PLAIT_EV_ONCE_END:
	case PLAIT_EV_ONCE_PASS:
	case PLAIT_EV_FORK:
	case PLAIT_EV_JOIN:
	case PLAIT_EV_BRANCH:
		return true;
	default:
		return false;
	}
}

static void add_event(struct recorded *r, struct map *live, const struct event *ev)
{
	struct rec_thread *t = &r->threads[ev->thread];

	t->lost += ev->lost;
	t->last_clock = ev->clock;
	switch (ev->kind) {
	case PLAIT_EV_PATH_BITS:
		add_bits(t, ev->value, ev->n);
		break;
	case PLAIT_EV_PATH_SWITCH:
		vec_push(&t->arms, (uint32_t)ev->n);
		break;
	case PLAIT_EV_PATH_VALUE:
		add_value(t, ev->value, ev->clock);
		break;
	case PLAIT_EV_PATH_VALUES:
		add_values(t, ev, r->meta->threads[ev->thread].values);
		break;
	case PLAIT_EV_INPUT:
	case PLAIT_EV_INPUT_BYTES:
		add_input(r, t, ev);
		break;
	case PLAIT_EV_ALLOC:
		add_block(r, live, ev);
		break;
	case PLAIT_EV_FREE:
		end_block(r, live, ev);
		break;
	case PLAIT_EV_FORK:
	case PLAIT_EV_JOIN:
	case PLAIT_EV_ONCE_BEGIN:
	case PLAIT_EV_ONCE_PASS:
		vec_push(&t->marks,
			 ((struct rec_mark){ ev->kind, ev->site, ev->other, ev->clock }));
		break;
	case PLAIT_EV_EXIT:
		t->ended = true;
		break;
	default:
		break;
	}
	if (r->full)
		add_full(r, t, ev);
}

/* A value was read before the next record of its thread with a later clock. */
static void bound_values(struct rec_thread *t)
{
	uint64_t until = UINT64_MAX;

	for (size_t i = t->values.len; i-- > 0;) {
		t->values.data[i].until = until;
		if (i && t->values.data[i - 1].clock < t->values.data[i].clock)
			until = t->values.data[i].clock;
	}
}

static struct err *find_binary(struct recorded *r)
{
	const struct trace_module *m = NULL;
	struct err *err;

	for (size_t i = 0; i < r->meta->nmodules; i++)
		if (r->meta->modules[i].nsites && r->meta->modules[i].first_site <= 1)
			m = &r->meta->modules[i];
	if (!m)
		return err_new(ERR_ENV,
			       "%s is not of a program built with `unplait cc`: there is no "
			       "bitcode to follow it in",
			       trace_path(r->trace));
	err = sites_open(m->path, &r->sites);
	if (err)
		return err_wrap(err, "following %s", trace_path(r->trace));
	if (m->build_id[0] && strcmp(m->build_id, r->sites->build_id) != 0)
		return err_new(ERR_ENV,
			       "%s was recorded with another build of %s; record again, or bring "
			       "the old binary back",
			       trace_path(r->trace), m->path);
	r->binary = xstrdup(m->path);
	r->nsites = r->sites->header.nsites;
	return NULL;
}

struct err *recorded_open(struct trace *t, struct recorded *ret)
{
	struct recorded *r = ret;
	struct map live = { 0 };
	const struct event *ev;
	struct cursor c;
	struct err *err;

	*r = (struct recorded){ .trace = t, .meta = trace_meta(t) };
	r->full = r->meta->mode != PLAIT_MODE_PATH;
	if (r->full && r->meta->mode != PLAIT_MODE_FULL && r->meta->mode != PLAIT_MODE_CONTROL)
		return err_new(ERR_ENV,
			       "%s is of mode %s; following needs one of mode path or full",
			       trace_path(t), mode_name(r->meta->mode));
	err = find_binary(r);
	if (err)
		return err;
	r->nthreads = r->meta->nthreads;
	r->threads = xcalloc(r->nthreads + 1, sizeof(*r->threads));
	for (size_t i = 0; i < r->nthreads; i++)
		r->threads[i].leaves = UINT64_MAX;
	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev)
		if (ev->thread < r->nthreads)
			add_event(r, &live, ev);
	cursor_deinit(&c);
	map_deinit(&live);
	for (size_t i = 0; i < r->nthreads; i++) {
		uint64_t rest = r->meta->threads[i].bits;

		if (rest > 1 && r->meta->mode != PLAIT_MODE_CONTROL) {
			unsigned n = 63 - (unsigned)__builtin_clzll(rest);

			add_bits(&r->threads[i], rest & ~(1ull << n), n);
		}
		bound_values(&r->threads[i]);
	}
	return err ? err : r->full ? recorded_add_check(r, t) : NULL;
}

struct err *recorded_add_check(struct recorded *r, struct trace *full)
{
	const struct event *ev;
	struct cursor c;
	struct err *err;

	if (trace_meta(full)->nthreads != r->nthreads)
		return err_new(ERR_ENV, "%s has %zu threads, %s %zu: not the same run",
			       trace_path(full), trace_meta(full)->nthreads, trace_path(r->trace),
			       r->nthreads);
	for (size_t i = 0; i < r->nthreads; i++)
		vec_clear(&r->threads[i].events);
	cursor_init(&c, full, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		struct event copy = *ev;

		copy.bytes = NULL;
		r->branch_events |= ev->kind == PLAIT_EV_BRANCH;
		if (recorded_is_checked(ev->kind) && ev->thread < r->nthreads)
			vec_push(&r->threads[ev->thread].events, copy);
	}
	cursor_deinit(&c);
	return err;
}

uint64_t recorded_next_clock(const struct recorded *r, const struct rec_thread *t)
{
	uint64_t c = UINT64_MAX;

	if (t->value < t->values.len)
		c = MIN(c, t->values.data[t->value].clock);
	if (t->raw_at < t->raw.len) {
		size_t i = t->piece;

		while (i + 1 < t->pieces.len && t->pieces.data[i + 1].first <= t->raw_at)
			i++;
		c = MIN(c, t->pieces.data[i].clock);
	}
	if (t->input < t->inputs.len)
		c = MIN(c, t->inputs.data[t->input].clock);
	if (t->block < t->blocks.len)
		c = MIN(c, r->blocks.data[t->blocks.data[t->block]].born);
	if (t->mark < t->marks.len)
		c = MIN(c, t->marks.data[t->mark].clock);
	return c;
}

void recorded_close(struct recorded *r)
{
	for (size_t i = 0; i < r->nthreads; i++) {
		struct rec_thread *t = &r->threads[i];

		vec_deinit(&t->bits);
		vec_deinit(&t->arms);
		vec_deinit(&t->values);
		vec_deinit(&t->raw);
		vec_deinit(&t->pieces);
		vec_deinit(&t->inputs);
		vec_deinit(&t->blocks);
		vec_deinit(&t->marks);
		vec_deinit(&t->events);
	}
	free(r->threads);
	free(r->binary);
	sites_close(r->sites);
	vec_deinit(&r->blocks);
	vec_deinit(&r->pool);
}
