/* rt/control/learn.c - which sites touch shared memory, and which write each read sees.
 *
 * A shadow of the memory notes for each 8 bytes which threads and which sites touched them. As soon
 * as two threads did and one wrote, the sites become scheduling points, in this run and in later
 * ones: the bitmap lies in the control area.
 *
 * The same shadow says which write each read saw. A pair of sites never seen before is what a
 * search wants more of, so the pairs are counted in the control area, over all runs. */
#include "rt/control/engine.h"
#include "sched/pairs.h"

#include <string.h>

enum {
	SHADOW = 1 << 15, /* addresses that one run can learn about */
	FIRST_BITS = 9,	  /* of the index over them, which grows: few pages are touched */
	LAST_BITS = 16,
	SITES = 8,
	LAST = 64,
	PAIRS_SEEN = 64,
};

struct shadow {
	uint64_t granule; /* address / 8 */
	uint32_t first, writer_site;
	uint32_t pair_write, pair_read;		   /* noted last */
	uint8_t shared, written, nsites, nlearned; /* of the sites */
	uint8_t site_reads, site_writes;	   /* bits, by index into sites */
	uint8_t site_releases, tried;
	uint32_t sites[SITES];
};
static struct shadow shadows[SHADOW]; /* in order of appearance */
static uint32_t nshadows, index_bits;
static uint16_t shadow_index[1 << LAST_BITS]; /* place + 1 */

static uint32_t point_bit(uint32_t site)
{
	return site % (PLAIT_CONTROL_POINTS_SIZE * 8);
}

/* The site of a release has a second bit, far away: its first says that the lock is shared. */
static uint32_t release_place(uint32_t site)
{
	return site + PLAIT_CONTROL_POINTS_SIZE * 4;
}

static uint32_t home_of(uint64_t granule)
{
	return (uint32_t)(granule * 0x9e3779b97f4a7c15ull >> (64 - index_bits));
}

static void enter(uint32_t i)
{
	uint32_t h = home_of(shadows[i].granule);

	while (shadow_index[h])
		h = (h + 1) & ((1u << index_bits) - 1);
	shadow_index[h] = (uint16_t)(i + 1);
}

static void grow_index(void)
{
	index_bits = index_bits ? index_bits + 1 : FIRST_BITS;
	memset(shadow_index, 0, sizeof(shadow_index[0]) << index_bits);
	for (uint32_t i = 0; i < nshadows; i++)
		enter(i);
}

static struct shadow *last_shadows[LAST];

/* NULL when there are too many: this address teaches nothing. */
static __attribute__((noinline)) struct shadow *find_shadow(uint64_t granule, uint32_t thread)
{
	struct shadow **cached = &last_shadows[granule % LAST];
	uint32_t h;

	if (!index_bits || (nshadows >= 1u << (index_bits - 1) && index_bits < LAST_BITS))
		grow_index();
	for (h = home_of(granule); shadow_index[h]; h = (h + 1) & ((1u << index_bits) - 1))
		if (shadows[shadow_index[h] - 1].granule == granule)
			return *cached = &shadows[shadow_index[h] - 1];
	if (nshadows + 1 >= SHADOW)
		return NULL;
	shadows[nshadows] = (struct shadow){ .granule = granule, .first = thread };
	enter(nshadows);
	return &shadows[nshadows++];
}

static inline struct shadow *shadow_of(uint64_t granule, uint32_t thread)
{
	struct shadow *s = last_shadows[granule % LAST];

	return likely(s && s->granule == granule) ? s : find_shadow(granule, thread);
}

static void learn(uint32_t site)
{
	uint8_t *bits = (uint8_t *)control.area + PLAIT_CONTROL_POINTS;
	uint32_t bit = point_bit(site);

	if (bits[bit / 8] & 1u << bit % 8)
		return;
	bits[bit / 8] |= (uint8_t)(1u << bit % 8);
	control.area->new_points++;
}

static void note_possible(const struct shadow *s, uint32_t site, bool reads, bool writes);

static __attribute__((noinline)) void add_site(struct shadow *s, uint32_t site, bool reads,
					       bool writes)
{
	if (control.area->flags & PLAIT_CONTROL_PAIRS)
		note_possible(s, site, reads, writes);
	if (s->nsites < SITES) {
		s->site_reads |= (uint8_t)(reads << s->nsites);
		s->site_writes |= (uint8_t)(writes << s->nsites);
		s->sites[s->nsites++] = site;
	} else if (s->shared && s->written) {
		learn(site);
	}
}

static inline bool has_site(const struct shadow *s, uint32_t site)
{
	unsigned i;

	for (i = 0; i < s->nsites; i++)
		if (s->sites[i] == site)
			return true;
	return false;
}

static void note_pair(const struct shadow *s, uint32_t read_site)
{
	static uint64_t seen[PAIRS_SEEN]; /* in this run, and once is enough */
	uint64_t key = (uint64_t)s->writer_site << 32 | read_site;
	uint64_t *slot = &seen[(key * 0x9e3779b97f4a7c15ull >> 32) % PAIRS_SEEN];
	uint32_t run = (uint32_t)control.area->run_number;
	struct plait_pair *p;

	if (*slot == key || !read_site) /* site 0 is no place */
		return;
	*slot = key;
	p = pairs_get(control.area, s->writer_site, read_site);
	if (!p)
		return;
	control.area->new_pairs += p->count == 0;
	if (p->count == 0 || p->last_run != run)
		p->count++;
	p->last_run = run;
}

/* The pairs that a new site of this address makes possible. */
static void note_possible(const struct shadow *s, uint32_t site, bool reads, bool writes)
{
	unsigned i;

	if (reads && site)
		pairs_get(control.area, 0, site);
	for (i = 0; i < s->nsites; i++) {
		if (reads && site && (s->site_writes & 1u << i))
			pairs_get(control.area, s->sites[i], site);
		if (writes && s->sites[i] && (s->site_reads & 1u << i))
			pairs_get(control.area, site, s->sites[i]);
	}
}

static inline void note_granule(uint64_t granule, uint32_t thread, uint32_t site, bool reads,
				bool writes)
{
	struct shadow *s = shadow_of(granule, thread);

	if (!s)
		return;
	s->shared |= s->first != thread;
	if (reads && s->shared && (control.area->flags & PLAIT_CONTROL_PAIRS))
		note_pair(s, site);
	if (writes) {
		s->written = 1;
		s->writer_site = site;
	}
	if (!has_site(s, site))
		add_site(s, site, reads, writes);
	while (s->shared && s->written && s->nlearned < s->nsites)
		learn(s->sites[s->nlearned++]);
}

static __attribute__((noinline)) void note_range(uint32_t who, const void *p, size_t size,
						 uint32_t site, bool reads, bool writes)
{
	uint64_t granule = (uint64_t)p >> 3, last = ((uint64_t)p + (size ? size - 1 : 0)) >> 3;

	for (last = last - granule > 8 ? granule + 8 : last; granule <= last; granule++)
		note_granule(granule, who, site, reads, writes);
}

void learn_access(struct control_thread *me, const void *p, size_t size, uint32_t site, bool reads,
		  bool writes)
{
	/* a signal handler is somebody else than the thread it runs on */
	const uint32_t who = me->task.id + (me->outer ? PLAIT_MAX_THREADS : 0);

	if (likely((uint64_t)p % 8 + size <= 8))
		note_granule((uint64_t)p >> 3, who, site, reads, writes);
	else
		note_range(who, p, size, site, reads, writes);
}

/* Does it notice that a lock is held, without waiting until it is not? */
static bool is_try(const struct control_op *op)
{
	return op->kind == PLAIT_EV_LOCK_DESTROY ||
	       (plait_acquires(op->kind) && (!op->wait || op->deadline != CONTROL_NEVER));
}

/* Sites that release a lock become points when the lock is tried. */
static void learn_lock(struct control_thread *me, const struct control_op *op)
{
	struct shadow *s = shadow_of((uint64_t)op->object >> 3, me->task.id);
	bool tries = is_try(op);
	unsigned i;

	if (!s || (!tries && !plait_releases(op->kind)))
		return;
	s->tried |= tries;
	for (i = 0; i < s->nsites; i++) {
		if (s->sites[i] == op->site && !tries)
			s->site_releases |= (uint8_t)(1u << i);
		if (s->tried && (s->site_releases >> i & 1))
			learn(release_place(s->sites[i]));
	}
}

void learn_op(struct control_thread *me)
{
	const struct control_op *op = &me->op;

	learn_access(me, op->object, op->size, op->site,
		     op->kind != PLAIT_EV_WRITE && op->kind != PLAIT_EV_ATOMIC_WRITE, op->writes);
	if (plait_effects(op->kind) & (EV_ACQUIRES | EV_RELEASES) ||
	    op->kind == PLAIT_EV_LOCK_DESTROY)
		learn_lock(me, op);
}

bool learn_release_is_point(uint32_t site)
{
	const uint8_t *bits = (const uint8_t *)control.area + PLAIT_CONTROL_POINTS;
	uint32_t bit = point_bit(release_place(site));

	return bits[bit / 8] >> bit % 8 & 1;
}
