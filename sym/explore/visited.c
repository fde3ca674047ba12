/* sym/explore/visited.c - when are two states the same?
 *
 * When nothing that happens from here on can tell them apart. So the hash covers memory (added up
 * over the objects, each hashed when it has changed: memory.c), the stack of every thread with
 * those registers that may still be read (live.c; hashed when the thread has run), and who waits
 * for what. It leaves out how we got here: counts of operations, names of states, places of
 * allocation.
 *
 * 128 bits: among the 2^25 states that fit into memory, the chance that two different ones look
 * alike anywhere is below 2^-77. */
#include "sym/explore/visited.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void visited_deinit(struct visited *v)
{
	free(v->slots);
	free(v->numbers);
	vec_deinit(&v->frames);
	vec_deinit(&v->whole);
	*v = (struct visited){ 0 };
}

static size_t find_slot(const struct visited *v, const uint64_t hash[2])
{
	size_t i = hash[0] & (v->cap - 1);

	while ((v->slots[i][0] | v->slots[i][1]) &&
	       (v->slots[i][0] != hash[0] || v->slots[i][1] != hash[1]))
		i = (i + 1) & (v->cap - 1);
	return i;
}

static void grow(struct visited *v)
{
	struct visited bigger = { .cap = v->cap ? 2 * v->cap : 1 << 12 };

	bigger.slots = xcalloc(bigger.cap, sizeof(*bigger.slots));
	bigger.numbers = xcalloc(bigger.cap, sizeof(*bigger.numbers));
	for (size_t i = 0; i < v->cap; i++) {
		size_t at;

		if (!(v->slots[i][0] | v->slots[i][1]))
			continue;
		at = find_slot(&bigger, v->slots[i]);
		memcpy(bigger.slots[at], v->slots[i], sizeof(v->slots[i]));
		bigger.numbers[at] = v->numbers[i];
	}
	free(v->slots);
	free(v->numbers);
	v->slots = bigger.slots;
	v->numbers = bigger.numbers;
	v->cap = bigger.cap;
}

uint32_t *visited_put(struct visited *v, const uint64_t hash[2])
{
	size_t at;

	if (4 * (v->len + 1) > 3 * v->cap)
		grow(v);
	at = find_slot(v, hash);
	if (!(v->slots[at][0] | v->slots[at][1])) {
		v->slots[at][0] = hash[0];
		v->slots[at][1] = hash[1];
		v->len++;
	}
	return &v->numbers[at];
}

/* --- hashing --- */

static void add_registers(struct machine *m, const struct frame *f, const struct frame *callee,
			  struct words *w)
{
	const uint64_t *live = live_registers(m->ir, f->f, f->pc);

	for (uint32_t i = 0; i < f->f->nregs; i += 64) {
		for (uint64_t bits = live[i / 64]; bits; bits &= bits - 1) {
			int32_t r = (int32_t)i + __builtin_ctzll(bits);

			if (r >= (int32_t)f->f->nregs)
				break;
			/* what the callee is about to return into */
			if (callee && r >= callee->ret && r < callee->ret + callee->nret)
				continue;
			vec_push(w, f->r[r]);
		}
	}
}

static void hash_words(const struct words *w, uint64_t seed, uint64_t ret[2])
{
	XXH128_hash_t h = XXH3_128bits_withSeed(w->data, w->len * sizeof(w->data[0]), seed);

	ret[0] = h.low64;
	ret[1] = h.high64 | 1;
}

static void hash_frames(struct machine *m, struct thread *t, struct words *w)
{
	const struct frame *callee = NULL;

	w->len = 0;
	for (const struct frame *f = t->top; f; callee = f, f = f->caller) {
		vec_push(w, (uint64_t)f->f->index << 32 | f->pc);
		vec_push(w, (uint64_t)f->allocas << 32 | (uint32_t)f->ret);
		add_registers(m, f, callee, w);
	}
	hash_words(w, 0, t->hash);
}

/* Being blocked is nothing of its own, it can be seen from the object that is waited for; except at
 * a condition variable, which has no state. */
static bool waits_for_signal(const struct thread *t)
{
	return t->status == TH_BLOCKED && t->wait_kind == WAIT_COND;
}

static void add_thread(struct machine *m, struct thread *t, struct words *frames, struct words *w)
{
	bool keeps = t->status == TH_DONE && !t->joined && !t->detached,
	     waits = waits_for_signal(t);

	if (!(t->hash[0] | t->hash[1]))
		hash_frames(m, t, frames);
	vec_push(w, t->hash[0]);
	vec_push(w, t->hash[1]);
	vec_push(w, (uint64_t)(t->status == TH_DONE) | (uint64_t)waits << 1 |
			    (uint64_t)t->timed << 2 | (uint64_t)t->timed_out << 3 |
			    (uint64_t)t->detached << 4 | (uint64_t)t->joined << 5 |
			    (uint64_t)t->fresh << 6 | (uint64_t)t->phase << 8 |
			    (uint64_t)t->saved << 32);
	vec_push(w, (uint64_t)t->heap << 32 | t->stack);
	vec_push(w, (uint64_t)t->parent << 32 | t->children);
	vec_push(w, waits ? t->wait_address : 0);
	vec_push(w, t->timed ? t->wake_time : 0);
	vec_push(w, keeps ? t->result : 0);
}

void state_hash(struct visited *v, struct machine *m, struct state *s, uint64_t ret[2])
{
	v->whole.len = 0;
	v->bytes += memory_hash(&s->memory, ret);
	vec_push(&v->whole, ret[0]);
	vec_push(&v->whole, ret[1]);
	vec_push(&v->whole, s->clock);
	for (uint32_t i = 0; i < s->nthreads; i++)
		add_thread(m, &s->threads[i], &v->frames, &v->whole);
	hash_words(&v->whole, s->nthreads, ret);
}
