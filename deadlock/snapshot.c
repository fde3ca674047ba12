/* deadlock/snapshot.c - the bytes of an area become threads and uses.
 *
 * The area may belong to a running process, so nothing in it is trusted: every count and index is
 * checked against the size before use, and a thread whose seq changed while we copied it is marked
 * as moving, which takes it out of every conclusion.
 *
 * A use that is left behind (the lock was released by another thread) would be a false "held". Two
 * things catch it. With the process's memory at hand the lock itself is asked: glibc stores the
 * owner's tid in mutexes and in write-locked rwlocks. Without memory, every lock that some thread
 * released without having acquired it is doubted. */
#include "deadlock/deadlock.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void snapshot_deinit(struct snapshot *s)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		free(s->threads[i].uses);
		free(s->threads[i].foreign);
		free(s->threads[i].orders);
		free(s->threads[i].releases);
	}
	for (size_t i = 0; i < s->nmodules; i++)
		free(s->modules[i].path);
	free(s->threads);
	free(s->modules);
	free(s->command);
	*s = (struct snapshot){ 0 };
}

/* ---- one slot ---- */

/* `sure` frames are known to be right. */
static void copy_stack(const struct watch_stack *stacks, uint32_t nstacks, uint16_t i,
		       unsigned sure, struct call_stack *ret)
{
	if (i < nstacks && stacks[i].n > 0 && stacks[i].n <= WATCH_DEPTH) {
		ret->n = MIN(stacks[i].n, MAX(sure, (unsigned)WATCH_SURE));
		ret->truncated =
			stacks[i].truncated || ret->n < stacks[i].n || stacks[i].n == WATCH_DEPTH;
		memcpy(ret->pc, stacks[i].pc, ret->n * sizeof(ret->pc[0]));
	}
}

/* Settled, the window has return addresses; else the end of the stack as it was. */
static void copy_window(const struct watch_slot *slot, const struct watch_use *use,
			struct call_stack *ret)
{
	const struct watch_window *w = (const void *)((const char *)slot + use->window);

	if (w < &slot->windows[0] || w > &slot->windows[WATCH_USES - 1] || use->window % 8)
		return;
	ret->truncated = true;
	if (use->frames) {
		ret->n = MIN(use->frames, (unsigned)WATCH_DEPTH);
		ret->truncated = use->flags & WATCH_CUT || ret->n == WATCH_DEPTH;
		memcpy(ret->pc, w->words, ret->n * sizeof(ret->pc[0]));
		return;
	}
	ret->n = 1;
	ret->pc[0] = w->words[1];
	ret->frame = use->frame;
	ret->nwords = use->flags & WATCH_WIDENED ? WATCH_WIDE : WATCH_NARROW;
	memcpy(ret->words, w->words, ret->nwords * sizeof(ret->words[0]));
}

static void copy_uses(const struct watch_slot *slot, const struct watch_header *h,
		      struct thread_uses *t)
{
	uint32_t n = MIN(slot->n, (uint32_t)WATCH_USES);

	t->uses = xcalloc(n ? n : 1, sizeof(*t->uses));
	for (uint32_t i = 0; i < n; i++) {
		const struct watch_use *from = &slot->uses[i];
		struct lock_use *to = &t->uses[t->nuses];

		if (from->state == WATCH_VOID || from->state > WATCH_YIELD || from->kind == 0 ||
		    from->kind > WATCH_BARRIER)
			continue;
		to->object = from->object;
		to->aux = from->kind == WATCH_COND ? from->aux : 0;
		to->kind = from->kind;
		to->state = from->state;
		to->flags = from->flags;
		to->count = from->count & (WATCH_SAMPLE - 1);
		if (from->stack == WATCH_IN_WINDOW)
			copy_window(slot, from, &to->stack);
		else
			copy_stack(slot->stacks, h->stacks, from->stack, from->frames, &to->stack);
		t->nuses++;
	}
}

static void copy_release(const struct watch_slot *slot, const struct watch_header *h,
			 const struct watch_release *r, struct lock_order *o)
{
	*o = (struct lock_order){ .inner = r->object,
				  .outer = r->outer,
				  .inner_kind = r->kind,
				  .outer_kind = r->outer_kind };
	if (r->stack < h->stacks && slot->stacks[r->stack].generation == r->generation)
		copy_stack(slot->stacks, h->stacks, r->stack, 0, &o->inner_stack);
	if (r->outer_stack < h->stacks &&
	    slot->stacks[r->outer_stack].generation == r->outer_generation)
		copy_stack(slot->stacks, h->stacks, r->outer_stack, 0, &o->outer_stack);
}

static void copy_order(const struct watch_slot *slot, const struct watch_header *h,
		       const struct watch_order *r, struct lock_order *o)
{
	*o = (struct lock_order){ .inner = r->inner,
				  .outer = r->outer,
				  .inner_kind = r->inner_kind,
				  .outer_kind = r->outer_kind,
				  .ngates = MIN(r->ngates, WATCH_GATES) };
	memcpy(o->gates, r->gates, sizeof(o->gates));
	if (r->inner_stack < h->stacks &&
	    slot->stacks[r->inner_stack].generation == r->inner_generation)
		copy_stack(slot->stacks, h->stacks, r->inner_stack, 0, &o->inner_stack);
	if (r->outer_stack < h->stacks &&
	    slot->stacks[r->outer_stack].generation == r->outer_generation)
		copy_stack(slot->stacks, h->stacks, r->outer_stack, 0, &o->outer_stack);
}

static void copy_history(const struct watch_slot *slot, const struct watch_header *h,
			 struct thread_uses *t)
{
	const struct watch_release *ring = (const void *)&slot->stacks[h->stacks];
	const struct watch_order *orders = (const void *)(ring + h->history);

	if (!h->history)
		return;
	t->orders = xcalloc(h->history, sizeof(*t->orders));
	t->releases = xcalloc(h->history, sizeof(*t->releases));
	for (uint32_t i = 0; i < h->history; i++) {
		const struct watch_release *r = &ring[(slot->releases + i) % h->history];

		if (r->seq)
			copy_release(slot, h, r, &t->releases[t->nreleases++]);
		if (orders[i].inner)
			copy_order(slot, h, &orders[i], &t->orders[t->norders++]);
	}
}

static void copy_thread(const struct watch_slot *live, const struct watch_header *h,
			struct thread_uses *t)
{
	uint32_t before = __atomic_load_n(&live->seq, __ATOMIC_ACQUIRE);
	struct watch_slot *slot = xmalloc(h->slot_size);
	uint32_t n;

	memcpy(slot, live, h->slot_size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	t->moving = __atomic_load_n(&live->seq, __ATOMIC_ACQUIRE) != before;
	memcpy(t->name, slot->name, sizeof(t->name));
	t->name[sizeof(t->name) - 1] = 0;
	t->tid = slot->tid;
	t->state = slot->state;
	t->lost = slot->lost;
	t->seq = before;
	t->pthread = slot->pthread;
	n = MIN(slot->foreign, (uint32_t)WATCH_FOREIGN);
	t->more_foreign = slot->foreign > WATCH_FOREIGN;
	t->foreign = xmemdup(slot->foreign_object, MAX(n, 1u) * sizeof(uint64_t));
	t->nforeign = n;
	copy_uses(slot, h, t);
	copy_history(slot, h, t);
	free(slot);
}

/* ---- doubt ---- */

static bool lock_agrees(const struct memory *mem, const struct lock_use *use, uint32_t tid,
			bool *known)
{
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	int spin;

	*known = false;
	switch (use->kind) {
	case WATCH_MUTEX:
		*known = mem->read(mem->context, use->object, &mutex, sizeof(mutex));
		return (uint32_t)mutex.__data.__owner == tid && mutex.__data.__lock != 0;
	case WATCH_WRITE:
		*known = mem->read(mem->context, use->object, &rwlock, sizeof(rwlock));
		return (uint32_t)rwlock.__data.__cur_writer == tid;
	case WATCH_READ:
		/* nobody knows which readers; but there has to be one */
		*known = mem->read(mem->context, use->object, &rwlock, sizeof(rwlock));
		return rwlock.__data.__readers >> 3 != 0;
	case WATCH_SPIN:
		*known = mem->read(mem->context, use->object, &spin, sizeof(spin));
		return spin != 1;
	default:
		return true;
	}
}

static bool was_released_elsewhere(const struct snapshot *s, const struct thread_uses *holder,
				   uint64_t object)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		const struct thread_uses *t = &s->threads[i];

		if (t == holder)
			continue;
		if (t->more_foreign)
			return true;
		for (size_t k = 0; k < t->nforeign; k++)
			if (t->foreign[k] == object)
				return true;
	}
	return false;
}

static void doubt(struct snapshot *s, const struct memory *mem)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		struct thread_uses *t = &s->threads[i];

		for (size_t k = 0; k < t->nuses; k++) {
			struct lock_use *use = &t->uses[k];
			bool known = false, agrees = true;

			if (use->state != WATCH_HELD)
				continue;
			/* after a fork the locks remember the parent's thread ids */
			if (mem && t->state == WATCH_LIVE)
				agrees = lock_agrees(mem, use, t->tid, &known);
			/* of readers the lock only has a number: ask the books as well */
			if (!known || use->kind == WATCH_READ || use->kind == WATCH_SPIN)
				agrees = agrees && !was_released_elsewhere(s, t, use->object);
			use->doubted = !agrees;
		}
	}
}

/* ---- the whole ---- */

static void copy_modules(const struct watch_header *h, struct snapshot *ret)
{
	const struct watch_module *from = (const void *)((const char *)h + WATCH_PAGE);
	uint32_t n = MIN(h->modules_used, (uint32_t)WATCH_MODULES);

	ret->modules = xcalloc(n ? n : 1, sizeof(*ret->modules));
	for (uint32_t i = 0; i < n; i++) {
		struct module_range *m = &ret->modules[ret->nmodules];

		if (from[i].end <= from[i].start)
			continue; /* being filled */
		m->start = from[i].start;
		m->end = from[i].end;
		m->bias = from[i].bias;
		m->gone = from[i].gone;
		m->path = xstrndup(from[i].path, sizeof(from[i].path));
		for (unsigned k = 0; k < from[i].build_id_len && k < sizeof(from[i].build_id); k++)
			snprintf(m->build_id + 2 * k, 3, "%02x", from[i].build_id[k]);
		ret->nmodules++;
	}
}

static struct err *check_header(const struct watch_header *h, size_t len)
{
	if (len < WATCH_PAGE || h->magic != WATCH_MAGIC)
		return err_new(ERR_ENV, "not an area of the watch library");
	if (h->version != WATCH_VERSION)
		return err_new(ERR_ENV,
			       "the area is of version %u, this unplait reads %u; use the unplait "
			       "that came with the library",
			       h->version, WATCH_VERSION);
	if (h->stacks > WATCH_STACKS || h->history > WATCH_HISTORY_MAX ||
	    h->slot_size < sizeof(struct watch_slot) + h->stacks * sizeof(struct watch_stack) +
				   h->history * (sizeof(struct watch_release) +
						 sizeof(struct watch_order)) ||
	    h->slot_size > 1 << 20 || h->slots_at > len || h->slots_at < WATCH_PAGE + 65536 ||
	    h->slots_at % 8 || h->slot_size % 8)
		return err_new(ERR_ENV, "the area is damaged: its header makes no sense");
	return NULL;
}

struct err *snapshot_parse(const void *area, size_t len, const struct memory *memory,
			   struct snapshot *ret)
{
	const struct watch_header *h = area;
	struct err *err = check_header(h, len);
	uint32_t used;

	*ret = (struct snapshot){ 0 };
	if (err)
		return err;
	used = h->slots_used;
	if (used > (len - h->slots_at) / h->slot_size)
		used = (uint32_t)((len - h->slots_at) / h->slot_size);
	ret->pid = h->pid;
	ret->lost_threads = h->lost_threads;
	ret->self_start = h->self_start;
	ret->self_end = h->self_end;
	ret->has_memory = memory != NULL;
	ret->threads = xcalloc(used ? used : 1, sizeof(*ret->threads));
	for (uint32_t i = 0; i < used; i++) {
		const struct watch_slot *slot = (const void *)((const char *)area + h->slots_at +
							       (uint64_t)i * h->slot_size);
		uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);

		if (state == WATCH_FREE || state > WATCH_GHOST)
			continue;
		if (state == WATCH_GHOST && slot->n == 0)
			continue;
		ret->threads[ret->nthreads].slot = i;
		copy_thread(slot, h, &ret->threads[ret->nthreads++]);
	}
	copy_modules(h, ret);
	doubt(ret, memory);
	return NULL;
}

void snapshot_settle(struct snapshot *now, const struct snapshot *before)
{
	size_t k = 0;

	/* both are in slot order, so one pass finds the partners */
	for (size_t i = 0; i < now->nthreads; i++) {
		struct thread_uses *t = &now->threads[i];

		while (k < before->nthreads && before->threads[k].slot < t->slot)
			k++;
		if (k == before->nthreads || before->threads[k].slot != t->slot ||
		    before->threads[k].tid != t->tid || before->threads[k].seq != t->seq ||
		    before->threads[k].moving)
			t->moving = true;
	}
}

void snapshot_refine(struct snapshot *s, uint64_t (*futex)(void *context, uint32_t tid),
		     void *context)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		struct lock_use *wish = (struct lock_use *)thread_wants(&s->threads[i]);
		uint64_t address;

		if (!wish || wish->kind != WATCH_COND || !wish->aux)
			continue;
		address = futex(context, s->threads[i].tid);
		if (address >= wish->aux && address < wish->aux + sizeof(pthread_mutex_t)) {
			wish->kind = WATCH_MUTEX;
			wish->object = wish->aux;
			wish->flags &= (uint8_t)~WATCH_TIMED; /* the time limit is for the signal */
		}
	}
}

const struct lock_use *thread_wants(const struct thread_uses *t)
{
	if (t->state != WATCH_LIVE || t->nuses == 0 || t->uses[t->nuses - 1].state != WATCH_WANT)
		return NULL;
	return &t->uses[t->nuses - 1];
}

const struct module_range *snapshot_module(const struct snapshot *s, uint64_t address)
{
	const struct module_range *best = NULL;

	for (size_t i = 0; i < s->nmodules; i++)
		if (address >= s->modules[i].start && address < s->modules[i].end &&
		    (!best || best->gone || !s->modules[i].gone))
			best = &s->modules[i];
	return best;
}
