/* explain/find/alone.c - accesses that no other thread can disturb.
 *
 * A variable that is set before the other threads are created, and only read afterwards, takes part
 * in no bug: a block of accesses that begins or ends there says nothing. An access is alone when
 * every conflicting one of another thread is ordered by the creation of a thread: it comes before
 * the fork that our thread descends from, or ours comes before the fork that the other descends
 * from. One pass notes when each thread last used and last changed a word; a second one asks. */
#include "explain/find/alone.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum { WORD = 8, WORDS_MOST = 512 };

struct use {
	uint64_t access, write; /* clock of the last one, + 1; 0: none */
};

struct all_uses VEC_FIELDS(struct use);

struct uses {
	struct map index; /* word and thread -> number in all */
	struct all_uses all;
};

static uint64_t key_of(uint64_t word, uint32_t thread)
{
	return hash_u64(word ^ (uint64_t)thread << 48);
}

static uint32_t words_of(const struct step *e)
{
	uint64_t first = e->address / WORD, last = (e->address + MAX(e->size, 1) - 1) / WORD;

	return (uint32_t)MIN(last - first + 1, (uint64_t)WORDS_MOST);
}

static void note(struct uses *u, const struct step *e)
{
	for (uint32_t i = 0; i < words_of(e); i++) {
		uint64_t *at =
			map_put(&u->index, key_of(e->address / WORD + i, e->thread), u->all.len);
		struct use *use;

		if (*at == u->all.len)
			vec_push(&u->all, (struct use){ 0 });
		use = &u->all.data[*at];
		use->access = MAX(use->access, e->clock + 1);
		if (step_writes(e))
			use->write = MAX(use->write, e->clock + 1);
	}
}

/* When `thread`, or an ancestor of it, was created by `by`; 0: it does not descend from it. */
static uint64_t born_of(const struct birth *births, uint32_t thread, uint32_t by, uint32_t n)
{
	for (uint32_t i = 0; i < n && births[thread].clock; i++) {
		if (births[thread].parent == by)
			return births[thread].clock;
		thread = births[thread].parent;
	}
	return 0;
}

static bool meets(const struct uses *u, const struct birth *births, uint32_t nthreads,
		  const struct step *e, uint64_t word, uint32_t other)
{
	uint64_t *at = map_find(&u->index, key_of(word, other)), last;

	if (!at)
		return false;
	last = step_writes(e) ? u->all.data[*at].access : u->all.data[*at].write;
	return last && last > born_of(births, e->thread, other, nthreads) &&
	       e->clock + 1 > born_of(births, other, e->thread, nthreads);
}

static bool is_alone(const struct uses *u, const struct birth *births, uint32_t nthreads,
		     const struct step *e)
{
	for (uint32_t i = 0; i < words_of(e); i++)
		for (uint32_t t = 0; t < nthreads; t++)
			if (t != e->thread &&
			    meets(u, births, nthreads, e, e->address / WORD + i, t))
				return false;
	return true;
}

void steps_mark_alone(struct steps *s, const struct birth *births)
{
	struct uses uses = { 0 };

	for (size_t i = 0; i < s->len; i++)
		if (step_is_memory(&s->data[i]))
			note(&uses, &s->data[i]);
	for (size_t i = 0; i < s->len; i++)
		if (step_is_memory(&s->data[i]))
			s->data[i].alone = is_alone(&uses, births, s->nthreads, &s->data[i]);
	vec_deinit(&uses.all);
	map_deinit(&uses.index);
}
