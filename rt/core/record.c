/* rt/core/record.c - events into buffers; the fast path is in record.h, the layouts in events.def. */
#include "rt/core/record.h"

bool rt_recording;
bool rt_writing;
void (*rt_on_sync)(const struct rt_sync *s);
void (*rt_on_main)(void);
void (*rt_on_end)(struct rt_thread *t);
void (*rt_on_signal)(int number);
bool rt_stepping;
uint64_t rt_steps;
uint64_t rt_tsc0;
static uint64_t last_sync_clock;

/* The time stamp counter, made strictly increasing over all threads: a thread that asks while holding an
 * object is after everyone who asked while holding it before, even if the cores' counters are
 * a little apart. */
uint64_t rt_sync_clock(void)
{
	uint64_t last = __atomic_load_n(&last_sync_clock, __ATOMIC_RELAXED), now = rt_tsc();

	do {
		if (now <= last)
			now = last + 1;
	} while (!__atomic_compare_exchange_n(&last_sync_clock, &last, now, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return now;
}

RECORD_SLOW uint8_t *put_far_site(uint8_t *p, uint64_t delta)
{
	return put_varint(p, delta);
}

static uint8_t *put_clock_record(uint8_t *p, uint64_t delta)
{
	uint8_t *end = put_varint(p + 1, delta);

	put_tag(p, PLAIT_EV_CLOCK);
	return end;
}

RECORD_SLOW uint8_t *put_clock_slow(struct rt_thread *t, uint8_t *p, bool exact)
{
	uint64_t now;

	if (rt_stepping) {
		uint64_t delta = rt_steps - t->last_clock;

		t->last_clock = rt_steps;
		return delta == 1 ? p : put_clock_record(p, delta);
	}
	t->buffer.clock_at = p + RECORD_CLOCK_EVERY;
	now = exact ? rt_sync_clock() : rt_tsc();
	if (now <= t->last_clock)
		return p;
	p = put_clock_record(p, now - t->last_clock);
	t->last_clock = now;
	return p;
}

/* Tell the reader how many events are missing right here. */
static uint8_t *put_lost(struct rt_thread *t, uint8_t *p)
{
	uint8_t *end = put_varint(p + 1, t->buffer.lost);

	put_tag(p, PLAIT_EV_LOST);
	t->buffer.lost = 0;
	return t->buffer.next = end;
}

RECORD_SLOW uint8_t *record_begin_slow(struct rt_thread *t, size_t n)
{
	uint8_t *p;

	if (t->depth & RT_BUSY || t->buffer.limit == BUFFER_BUSY) {
		t->buffer.lost++;
		__atomic_fetch_add(&rt_run->threads[t->index].lost, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	if (t->depth > 0)
		return NULL;
	if (t->values.block)
		rt_values_close(t);
	t->depth = RT_BUSY;
	t->buffer.limit = NULL;
	p = rt_buffer_room(t, n + RECORD_MAX);
	if (p)
		return t->buffer.lost ? put_lost(t, p) : p;
	t->depth = 0;
	return NULL;
}

/* Who listens hears of it whether or not it is recorded. */
static inline void tell(const struct rt_sync *s)
{
	if (unlikely(rt_on_sync != NULL))
		rt_on_sync(s);
}

void rt_record_sa_r(uint32_t kind, uint32_t site, const void *object, int result)
{
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	tell(&(struct rt_sync){ .kind = kind, .site = site, .object = object, .result = result });
	if (!rt_recording || !(p = record_begin(t, 0, true)))
		return;
	q = put_site(t, p + 1, site);
	q = put_address(t, q, object);
	q = put_varint(q, zigzag(result));
	record_end(t, p, q, kind);
}

static bool has_count(uint32_t kind)
{
	switch (kind) {
	case PLAIT_EV_SIGNAL:
	case PLAIT_EV_BROADCAST:
	case PLAIT_EV_ONCE_BEGIN:
	case PLAIT_EV_ONCE_END:
	case PLAIT_EV_ONCE_PASS:
	case PLAIT_EV_FREE:
	case PLAIT_EV_RELEASE:
	case PLAIT_EV_ACQUIRE:
		return false;
	default:
		return true;
	}
}

/* One entry for "sa" and "san": kinds with a count write it, the others have none. */
void rt_record_sa_n(uint32_t kind, uint32_t site, const void *object, uint64_t n)
{
	/* what mode path writes, too */
	bool always = kind == PLAIT_EV_ALLOC || kind == PLAIT_EV_FREE ||
		      kind == PLAIT_EV_ONCE_BEGIN || kind == PLAIT_EV_ONCE_END ||
		      kind == PLAIT_EV_ONCE_PASS;
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	tell(&(struct rt_sync){ .kind = kind, .site = site, .object = object, .n = n });
	if (!(rt_recording || (always && rt_writing)) || !(p = record_begin(t, 0, true)))
		return;
	q = put_site(t, p + 1, site);
	q = put_address(t, q, object);
	if (has_count(kind))
		q = put_varint(q, n);
	record_end(t, p, q, kind);
}

void rt_record_wait(uint32_t kind, uint32_t site, const void *cond, const void *mutex, int result)
{
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	tell(&(struct rt_sync){
		.kind = kind, .site = site, .object = cond, .object2 = mutex, .result = result });
	if (!rt_recording || !(p = record_begin(t, 0, true)))
		return;
	q = put_site(t, p + 1, site);
	q = put_address(t, q, cond);
	q = put_address(t, q, mutex);
	if (kind == PLAIT_EV_WOKEN)
		q = put_varint(q, zigzag(result));
	record_end(t, p, q, kind);
}

void rt_record_futex(uint32_t kind, uint32_t site, const void *word, uint64_t n, int result)
{
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	tell(&(struct rt_sync){
		.kind = kind, .site = site, .object = word, .n = n, .result = result });
	if (!rt_recording || !(p = record_begin(t, 0, true)))
		return;
	q = put_site(t, p + 1, site);
	q = put_address(t, q, word);
	q = put_varint(q, n);
	q = put_varint(q, zigzag(result));
	record_end(t, p, q, kind);
}

/* START and EXIT have a site only, FORK, DETACH and CANCEL a thread, JOIN a result too. */
/* Its place in the table; the flight recorder gives places again, births not. */
static uint32_t name_in_record(uint32_t thread)
{
	return rt_keeps_last && thread < PLAIT_MAX_THREADS ? rt_threads[thread].birth : thread;
}

void rt_record_thread(uint32_t kind, uint32_t site, uint32_t thread, int result)
{
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	tell(&(struct rt_sync){ .kind = kind, .site = site, .thread = thread, .result = result });
	if (!rt_writing || !(p = record_begin(t, 0, true)))
		return;
	q = put_site(t, p + 1, site);
	if (kind != PLAIT_EV_START && kind != PLAIT_EV_EXIT)
		q = put_varint(q, name_in_record(thread));
	if (kind == PLAIT_EV_JOIN)
		q = put_varint(q, zigzag(result));
	record_end(t, p, q, kind);
}

/* INPUT, SLEEP, FENCE, PROCESS_FORK; YIELD has no value, PROCESS_EXIT a signed one. */
void rt_record_sv(uint32_t kind, uint32_t site, uint64_t value)
{
	struct rt_thread *t = rt_self();
	bool always = kind == PLAIT_EV_INPUT || kind == PLAIT_EV_PROCESS_EXIT ||
		      kind == PLAIT_EV_PROCESS_FORK;
	uint8_t *p, *q;

	if (!(rt_recording || (always && rt_writing)) || !(p = record_begin(t, 0, true)))
		return;
	q = put_site(t, p + 1, site);
	if (kind != PLAIT_EV_YIELD)
		q = put_varint(q, kind == PLAIT_EV_PROCESS_EXIT ? zigzag((int64_t)value) : value);
	record_end(t, p, q, kind);
}

void rt_record_range(uint32_t kind, uint32_t site, const void *a, size_t size)
{
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	if (!rt_recording || !(p = record_begin(t, 0, false)))
		return;
	q = put_site(t, p + 1, site);
	q = put_address(t, q, a);
	q = put_varint(q, size < PLAIT_ACCESS_MAX ? size : PLAIT_ACCESS_MAX);
	record_end(t, p, q, kind);
}

/* value2 belongs to ATOMIC_RMW only. */
void rt_record_access(uint32_t kind, uint32_t site, const void *a, uint32_t size, uint64_t value,
		      uint64_t value2)
{
	struct rt_thread *t = rt_self();
	bool plain = kind == PLAIT_EV_READ || kind == PLAIT_EV_WRITE;
	uint8_t *p, *q;

	if (!rt_recording || !(p = record_begin(t, 0, !plain)))
		return;
	q = put_site(t, p + 1, site);
	q = put_address(t, q, a);
	q = put_varint(q, size);
	q = put_varint(q, value);
	if (kind == PLAIT_EV_ATOMIC_RMW)
		q = put_varint(q, value2);
	record_end(t, p, q, kind);
}

void rt_record_branch(uint32_t site, uint32_t successor)
{
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	if (!rt_recording || !(p = record_begin(t, 0, false)))
		return;
	q = put_site(t, p + 1, site);
	q = put_varint(q, successor);
	record_end(t, p, q, PLAIT_EV_BRANCH);
}

static void record_text(uint32_t kind, uint32_t site, int64_t number, const char *text)
{
	struct rt_thread *t = rt_self();
	size_t n = text ? strlen(text) : 0;
	uint8_t *p, *q;

	if (n > 1024)
		n = 1024;
	if (!rt_writing || !(p = record_begin(t, n, true)))
		return;
	q = put_site(t, p + 1, site);
	if (number >= 0)
		q = put_varint(q, (uint64_t)number);
	q = put_varint(q, n);
	if (n)
		memcpy(q, text, n);
	record_end(t, p, q + n, kind);
}

void rt_record_text(uint32_t kind, uint32_t site, const char *text)
{
	record_text(kind, site, -1, text);
}

void rt_record_failure(uint32_t outcome, uint32_t site, const char *text)
{
	record_text(PLAIT_EV_FAILURE, site, outcome, text);
}

/* "sab"; long ones in several records. */
void rt_record_bytes(uint32_t kind, uint32_t site, const void *from, size_t n)
{
	struct rt_thread *t = rt_self();
	const uint8_t *bytes = from;

	while (rt_writing && n > 0) {
		size_t part = n < 4096 ? n : 4096;
		uint8_t *p = record_begin(t, part, true), *q;

		if (!p)
			return;
		q = put_site(t, p + 1, site);
		q = put_address(t, q, bytes);
		q = put_varint(q, part);
		memcpy(q, bytes, part);
		record_end(t, p, q + part, kind);
		bytes += part;
		n -= part;
	}
}

void rt_record_stack(const void *low, size_t size)
{
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	if (!rt_writing || !(p = record_begin(t, 0, true)))
		return;
	q = put_address(t, p + 1, low);
	q = put_varint(q, size);
	record_end(t, p, q, PLAIT_EV_STACK);
}

/* A single n or v: SIGNAL_ENTER, SIGNAL_LEAVE, PATH_SWITCH, PATH_VALUE. */
void rt_record_number(uint32_t kind, uint64_t n)
{
	struct rt_thread *t = rt_self();
	uint8_t *p;

	if (rt_writing && (p = record_begin(t, 0, false)))
		record_end(t, p, put_varint(p + 1, n), kind);
}

void rt_record_bits(uint32_t count, uint64_t bits)
{
	struct rt_thread *t = rt_self();
	uint8_t *p;

	if (rt_writing && (p = record_begin(t, 0, false)))
		record_end(t, p, put_varint(put_varint(p + 1, count), bits), PLAIT_EV_PATH_BITS);
}

void rt_record_output(uint32_t site, int fd, uint64_t n)
{
	struct rt_thread *t = rt_self();
	uint8_t *p, *q;

	if (!rt_recording || !(p = record_begin(t, 0, true)))
		return;
	q = put_site(t, p + 1, site);
	q = put_varint(q, (uint64_t)(unsigned)fd);
	q = put_varint(q, n);
	record_end(t, p, q, PLAIT_EV_OUTPUT);
}
