/* rt/control/learn.c - which sites touch shared memory, and which write each read sees.
 *
 * A shadow of the memory notes for each 4 bytes which threads and which sites touched them. As soon
 * as two threads did, one wrote, and neither births and joins nor a common lock put them in order
 * (sched/conflict.h), the sites become scheduling points, in this run and in later ones: the bitmap
 * lies in the control area. What main sets up before there are threads, what only one thread
 * touches and what a lock protects therefore are no points: at a lock there is one anyway.
 *
 * The same shadow says which write each read saw. A pair of sites never seen before is what a
 * search wants more of, so the pairs are counted in the control area, over all runs. */
#include "rt/control/quick.h"
#include "sched/conflict.h"
#include "sched/counts.h"
#include "sched/pairs.h"

#include <string.h>

enum {
	GRANULE = 4,	  /* bytes: an int beside another one is another object */
	SHADOW = 1 << 15, /* addresses that one run can learn about */
	FIRST_BITS = 9,	  /* of the index over them, which grows: few pages are touched */
	LAST_BITS = 16,
	SITES = 8,
	LAST = 256,
	PAIRS_SEEN = 64,
	FREE_MAX = 1024, /* granules of a freed block that are looked at */
};

struct shadow {
	uint64_t granule; /* address / GRANULE */
	uint32_t first, writer_site;
	uint8_t shared, racy, nsites, nlearned; /* of the sites */
	uint8_t site_reads, site_writes;	/* bits, by index into sites */
	uint8_t site_releases, tried;
	uint32_t sites[SITES];
	struct conflict conflict; /* until racy */
};
static struct life lives[PLAIT_MAX_THREADS];
static uint32_t unjoined;	      /* threads that may be concurrent with the first */
static uint64_t alone;		      /* up to this step there was none */
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

/* NULL: not there. The index exists. */
static struct shadow *look_up(uint64_t granule)
{
	uint32_t h;

	for (h = home_of(granule); shadow_index[h]; h = (h + 1) & ((1u << index_bits) - 1))
		if (shadows[shadow_index[h] - 1].granule == granule)
			return &shadows[shadow_index[h] - 1];
	return NULL;
}

/* NULL when there are too many: this address teaches nothing. */
static __attribute__((noinline)) struct shadow *find_shadow(uint64_t granule, uint32_t thread)
{
	struct shadow *s;

	if (!index_bits || (nshadows >= 1u << (index_bits - 1) && index_bits < LAST_BITS))
		grow_index();
	s = look_up(granule);
	if (s)
		return last_shadows[granule % LAST] = s;
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

static bool is_learned(uint32_t site)
{
	const uint8_t *bits = (const uint8_t *)control.area + PLAIT_CONTROL_POINTS;
	uint32_t bit = point_bit(site);

	return bits[bit / 8] >> bit % 8 & 1;
}

void learn_point(struct control_thread *me)
{
	if (is_learned(me->op.site))
		counts_add(control.area, me->task.id, me->op.site,
			   (uint32_t)control.area->run_number);
}

bool learn_is_focus(uint32_t site)
{
	const struct plait_control *a = control.area;
	uint32_t i;

	for (i = 0; i < a->nfocus && a->focus[i] != site; i++)
		;
	return a->nfocus ? i < a->nfocus : is_learned(site);
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
	} else if (s->racy && control.nalive > 1) {
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

static void look_for_conflict(struct shadow *s, uint32_t thread, bool writes)
{
	struct conflict_access a = { .lives = lives,
				     .nlives = PLAIT_MAX_THREADS,
				     .thread = thread,
				     .step = (uint32_t)rt_steps,
				     .alone = (uint32_t)alone,
				     .writes = writes };

	switch (conflict_note(&s->conflict, &a)) {
	case CONFLICT_NONE:
		break;
	case CONFLICT_ANEW: /* the sites of before could not have come later */
		s->nsites = s->site_reads = s->site_writes = s->site_releases = 0;
		break;
	case CONFLICT_YES:
		s->racy = 1;
		break;
	}
}

static inline void learn_sites(struct shadow *s)
{
	/* alone there is no choice: a result that main reads at the end is not a point */
	while (s->racy && control.nalive > 1 && s->nlearned < s->nsites)
		learn(s->sites[s->nlearned++]);
}

/* Which write is seen, and by whom. */
static inline void note_value(struct shadow *s, uint32_t site, bool reads, bool writes)
{
	if (reads && s->shared && (control.area->flags & PLAIT_CONTROL_PAIRS))
		note_pair(s, site);
	if (writes)
		s->writer_site = site;
}

static inline void note_granule(uint64_t granule, uint32_t thread, uint32_t site, bool reads,
				bool writes)
{
	struct shadow *s = shadow_of(granule, thread);

	if (!s)
		return;
	s->shared |= s->first != thread;
	note_value(s, site, reads, writes);
	if (!s->racy &&
	    !conflict_own(&s->conflict, thread + 1, (uint32_t)rt_steps, (uint32_t)alone, writes))
		look_for_conflict(s, thread, writes);
	if (!has_site(s, site))
		add_site(s, site, reads, writes);
	learn_sites(s);
}

static __attribute__((noinline)) void note_range(uint32_t who, const void *p, size_t size,
						 uint32_t site, bool reads, bool writes)
{
	uint64_t granule = (uint64_t)p / GRANULE;
	uint64_t last = ((uint64_t)p + (size ? size - 1 : 0)) / GRANULE;

	for (last = last - granule > 16 ? granule + 16 : last; granule <= last; granule++)
		note_granule(granule, who, site, reads, writes);
}

void learn_access(struct control_thread *me, const void *p, size_t size, uint32_t site, bool reads,
		  bool writes)
{
	/* a signal handler is somebody else than the thread it runs on */
	const uint32_t who = me->task.id + (me->outer ? PLAIT_MAX_THREADS : 0);

	if (likely((uint64_t)p % GRANULE + size <= GRANULE))
		note_granule((uint64_t)p / GRANULE, who, site, reads, writes);
	else
		note_range(who, p, size, site, reads, writes);
}

void learn_value(const void *p, size_t size, uint32_t site, bool reads, bool writes)
{
	uint64_t granule = (uint64_t)p / GRANULE;
	uint64_t last = ((uint64_t)p + (size ? size - 1 : 0)) / GRANULE;

	for (last = last - granule > 16 ? granule + 16 : last; granule <= last; granule++) {
		struct shadow *s = last_shadows[granule % LAST];

		if (unlikely(!s || s->granule != granule))
			s = look_up(granule);
		if (s)
			note_value(s, site, reads, writes);
	}
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
	struct shadow *s = shadow_of((uint64_t)op->object / GRANULE, me->task.id);
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

/* Synchronisation is a point wherever it is: locks within locks too. */
static void learn_sync(struct control_thread *me, const struct control_op *op)
{
	struct shadow *s = shadow_of((uint64_t)op->object / GRANULE, me->task.id);
	uint32_t bit;

	if (!s || !s->shared)
		return;
	learn(op->site);
	bit = op->site % (PLAIT_CONTROL_SYNC_SIZE * 8);
	((uint8_t *)control.area + PLAIT_CONTROL_SYNC)[bit / 8] |= (uint8_t)(1u << bit % 8);
}

void learn_op(struct control_thread *me)
{
	const struct control_op *op = &me->op;

	if (op->kind == PLAIT_EV_FREE) {
		learn_free(me, op->object, op->size, op->site);
		return;
	}
	learn_access(me, op->object, op->size, op->site,
		     op->kind != PLAIT_EV_WRITE && op->kind != PLAIT_EV_ATOMIC_WRITE, op->writes);
	if (!plait_is_access(op->kind))
		learn_sync(me, op);
	if (plait_effects(op->kind) & (EV_ACQUIRES | EV_RELEASES) ||
	    op->kind == PLAIT_EV_LOCK_DESTROY)
		learn_lock(me, op);
}

bool learn_release_is_point(uint32_t site)
{
	return is_learned(release_place(site));
}

/* ---- lives ---- */

void learn_born(struct control_thread *t, const struct control_thread *parent)
{
	if (!parent)
		unjoined = 0;
	else if (unjoined++ == 0)
		alone = rt_steps;
	lives[t->task.id] = (struct life){ .parent = parent ? parent->task.id + 1 : 0,
					   .born = (uint32_t)rt_steps };
	((uint32_t *)((char *)control.area + PLAIT_CONTROL_PARENTS))[t->task.id] =
		lives[t->task.id].parent;
	t->held_key = 0;
	/* what a thread has done before it gave birth is ordered, what it does next is not */
	memset(control_noted, 0, sizeof(control_noted));
}

void control_joined(struct control_thread *me, struct control_thread *t)
{
	unjoined--;
	lives[t->task.id].joiner = me->task.id + 1;
	lives[t->task.id].joined = (uint32_t)rt_steps;
}

static uint64_t key_of(const void *lock)
{
	return (uint64_t)lock * 0xbf58476d1ce4e5b9ull;
}

void control_holds(struct control_thread *me, const void *lock)
{
	if (life_takes(&lives[me->task.id], (uint64_t)lock))
		me->held_key += key_of(lock);
}

void control_gives_back(struct control_thread *me, const void *lock)
{
	if (life_gives_back(&lives[me->task.id], (uint64_t)lock))
		me->held_key -= key_of(lock);
}

/* Freeing a block is a write to all of it. Afterwards the memory is somebody else's: what happened
 * to the block says nothing about the next one at its address. */
void learn_free(struct control_thread *me, const void *p, size_t size, uint32_t site)
{
	uint64_t granule = (uint64_t)p / GRANULE, end = granule + size / GRANULE;
	bool forgotten = false;

	end = end - granule > FREE_MAX ? granule + FREE_MAX : end;
	for (; granule < end && index_bits; granule++) {
		struct shadow *s = look_up(granule);

		if (!s)
			continue;
		if (!s->racy)
			look_for_conflict(s, me->task.id, true);
		if (site && !has_site(s, site))
			add_site(s, site, false, true);
		learn_sites(s);
		*s = (struct shadow){ .granule = granule, .first = me->task.id };
		forgotten = true;
	}
	if (forgotten)
		memset(control_noted, 0, sizeof(control_noted));
}
