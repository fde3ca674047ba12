#include "explain/find/steps.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "unplait/effects.h"

#include <stdlib.h>
#include <string.h>

/* Synchronisation counts as reading and writing the state of its object. A step's value is the
 * result of the call, but for condition variables. */
static unsigned effects(const struct step *s)
{
	return plait_effects_of(s->kind, (int64_t)s->value);
}

void steps_deinit(struct steps *s)
{
	free(s->data);
	free(s->births);
	vec_deinit(&s->handlers);
	memset(s, 0, sizeof(*s));
}

const struct handler_run *steps_handler(const struct steps *s, uint32_t from, uint32_t at)
{
	const struct step *a = &s->data[from], *b = &s->data[at];

	for (size_t i = s->handlers.len; i-- > 0;) {
		const struct handler_run *h = &s->handlers.data[i];

		if (h->thread == a->thread && h->thread == b->thread && h->from > a->clock &&
		    h->from <= b->clock && (!h->to || h->to > b->clock))
			return h;
	}
	return NULL;
}

void steps_add_thread(struct steps *s, uint32_t thread)
{
	if (thread < s->nthreads)
		return;
	if (s->births) {
		s->births = xrealloc(s->births, (thread + 1) * sizeof(*s->births));
		memset(s->births + s->nthreads, 0, (thread + 1 - s->nthreads) * sizeof(*s->births));
	}
	s->nthreads = thread + 1;
}

bool step_writes(const struct step *s)
{
	return effects(s) & EV_WRITES;
}

bool step_reads(const struct step *s)
{
	return effects(s) & EV_READS;
}

bool step_is_memory(const struct step *s)
{
	return effects(s) & EV_MEMORY;
}

static bool takes(const struct step *s)
{
	return (s->kind == PLAIT_EV_SEM_WAIT || s->kind == PLAIT_EV_SEM_TRYWAIT) && !s->value;
}

bool step_is_acquire(const struct step *s)
{
	return effects(s) & EV_ACQUIRES || (s->as_lock && takes(s));
}

bool step_is_release(const struct step *s)
{
	return effects(s) & EV_RELEASES || (s->as_lock && s->kind == PLAIT_EV_SEM_POST);
}

static uint64_t extent(const struct step *s)
{
	return s->size ? s->size : 1;
}

bool step_conflicts(const struct step *a, const struct step *b)
{
	if (a->thread == b->thread || !(step_writes(a) || step_writes(b)))
		return false;
	if (!(step_reads(a) || step_writes(a)) || !(step_reads(b) || step_writes(b)))
		return false;
	return a->address < b->address + extent(b) && b->address < a->address + extent(a);
}

/* Memory is tracked by the byte, kept in words of eight: neighbours in a structure are not each
 * other's writers. Wide copies are followed for their first words only; beyond that a page-sized
 * copy would cost more than it tells. */
enum { MAX_WORDS = 512, WORD = 8 };

struct word {
	uint32_t writer[WORD]; /* step + 1 that wrote the byte last */
};

struct memory {
	struct map index; /* address / WORD -> position in words */
	VEC(struct word) words;
};

static struct word *word_at(struct memory *m, uint64_t number)
{
	uint64_t *at = map_put(&m->index, number, m->words.len);

	if (*at == m->words.len)
		vec_push(&m->words, (struct word){ { 0 } });
	return &m->words.data[*at];
}

/* The latest writer of the step's bytes; then the step is their writer, if it writes. */
static uint32_t meet_bytes(struct memory *m, const struct step *e, uint32_t writer)
{
	uint64_t end = MIN(e->address + extent(e), e->address + (uint64_t)MAX_WORDS * WORD);
	uint32_t latest = 0;

	for (uint64_t at = e->address; at < end;) {
		struct word *w = word_at(m, at / WORD);

		for (; at < end; at++) {
			uint32_t *byte = &w->writer[at % WORD];

			if (step_reads(e))
				latest = MAX(latest, *byte);
			if (step_writes(e))
				*byte = writer;
			if (at % WORD == WORD - 1) {
				at++;
				break;
			}
		}
	}
	return latest;
}

void steps_link(struct steps *s)
{
	struct memory memory = { 0 };

	for (size_t i = 0; i < s->len; i++) {
		struct step *e = &s->data[i];
		uint32_t latest = meet_bytes(&memory, e, (uint32_t)i + 1);

		e->source = latest ? latest - 1 : STEP_NONE;
	}
	vec_deinit(&memory.words);
	map_deinit(&memory.index);
}

/* How a semaphore is used: has anybody given back what he took, or posted what he had not taken? Were two
 * units out at once? */
enum { GIVEN_BACK = 1, POSTED = 2, COUNTED = 4 };

static void look_at_semaphores(const struct steps *s, struct map *uses)
{
	_cleanup_(map_deinit) struct map taken = { 0 }; /* semaphore and thread -> how many */
	_cleanup_(map_deinit) struct map out = { 0 };	/* semaphore -> how many */

	for (size_t i = 0; i < s->len; i++) {
		const struct step *e = &s->data[i];
		uint64_t *n = map_put(&taken, hash_u64(e->address ^ (uint64_t)e->thread << 48), 0);

		if (takes(e) && !e->pending) {
			++*n;
			if (++*map_put(&out, e->address, 0) > 1)
				*map_put(uses, e->address, 0) |= COUNTED;
		} else if (e->kind == PLAIT_EV_SEM_POST && !e->pending) {
			*map_put(uses, e->address, 0) |= *n ? GIVEN_BACK : POSTED;
			*map_put(&out, e->address, 0) -= *n > 0;
			*n -= *n > 0;
		}
	}
}

void steps_mark_semaphores(struct steps *s, const struct steps *a, const struct steps *b)
{
	_cleanup_(map_deinit) struct map uses = { 0 }; /* address -> how */

	look_at_semaphores(a, &uses);
	look_at_semaphores(b, &uses);
	for (size_t i = 0; i < s->len; i++) {
		struct step *e = &s->data[i];
		uint64_t how = takes(e) || e->kind == PLAIT_EV_SEM_POST
				       ? map_get_or(&uses, e->address, 0)
				       : 0;

		e->as_lock = how == GIVEN_BACK;
		e->as_units = how == (GIVEN_BACK | COUNTED);
	}
}

enum { SEVERAL = -1 }; /* threads */

static void look_at_takers(const struct steps *s, struct map *takers)
{
	for (size_t i = 0; i < s->len; i++) {
		uint64_t *by, me = s->data[i].thread + 1;

		if (!step_is_acquire(&s->data[i]))
			continue;
		by = map_put(takers, s->data[i].address, me);
		if (*by != me)
			*by = (uint64_t)SEVERAL;
	}
}

void steps_mark_sole(struct steps *s, const struct steps *a, const struct steps *b)
{
	_cleanup_(map_deinit) struct map takers = { 0 }; /* lock -> thread + 1, or SEVERAL */

	look_at_takers(a, &takers);
	look_at_takers(b, &takers);
	for (size_t i = 0; i < s->len; i++)
		s->data[i].sole = step_is_acquire(&s->data[i]) &&
				  map_get_or(&takers, s->data[i].address, 0) != (uint64_t)SEVERAL;
}

uint32_t steps_last_at(const struct steps *s, uint32_t site)
{
	for (uint32_t i = (uint32_t)s->len; i-- > 0;)
		if (s->data[i].site == site && !s->data[i].pending)
			return i;
	return STEP_NONE;
}

size_t steps_switches(const struct steps *s)
{
	size_t n = 0;

	for (size_t i = 1; i < s->len; i++)
		n += s->data[i].thread != s->data[i - 1].thread;
	return n;
}
