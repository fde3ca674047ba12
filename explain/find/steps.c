#include "explain/find/steps.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "unplait/abi.h"

#include <stdlib.h>
#include <string.h>

enum { READS = 1, WRITES = 2, MEMORY = 4, ACQUIRES = 8, RELEASES = 16 };

/* Synchronisation counts as reading and writing the state of its object. */
static unsigned effects(const struct step *s)
{
	switch (s->kind) {
	case PLAIT_EV_READ:
	case PLAIT_EV_READ_RANGE:
	case PLAIT_EV_ATOMIC_READ:
		return READS | MEMORY;
	case PLAIT_EV_WRITE:
	case PLAIT_EV_WRITE_RANGE:
	case PLAIT_EV_ATOMIC_WRITE:
	case PLAIT_EV_FREE:
		return WRITES | MEMORY;
	case PLAIT_EV_ATOMIC_RMW:
		return READS | WRITES | MEMORY;
	case PLAIT_EV_LOCK:
	case PLAIT_EV_WRLOCK:
	case PLAIT_EV_RDLOCK:
		return READS | WRITES | ACQUIRES;
	case PLAIT_EV_TRYLOCK:
	case PLAIT_EV_TRYRDLOCK:
	case PLAIT_EV_TRYWRLOCK:
		return s->value ? READS : READS | WRITES | ACQUIRES;
	case PLAIT_EV_UNLOCK:
	case PLAIT_EV_RWUNLOCK:
		return WRITES | RELEASES;
	case PLAIT_EV_WOKEN:
	case PLAIT_EV_SEM_TRYWAIT:
	case PLAIT_EV_FUTEX_WAIT:
	case PLAIT_EV_BARRIER_LEAVE:
	case PLAIT_EV_ONCE_PASS:
		return READS;
	case PLAIT_EV_WAIT:
	case PLAIT_EV_SIGNAL:
	case PLAIT_EV_BROADCAST:
	case PLAIT_EV_SEM_INIT:
	case PLAIT_EV_SEM_POST:
	case PLAIT_EV_FUTEX_WAKE:
	case PLAIT_EV_BARRIER_WAIT:
	case PLAIT_EV_LOCK_INIT:
	case PLAIT_EV_LOCK_DESTROY:
	case PLAIT_EV_ONCE_END:
		return WRITES;
	case PLAIT_EV_SEM_WAIT:
		return READS | WRITES;
	default:
		return 0;
	}
}

void steps_deinit(struct steps *s)
{
	free(s->data);
	memset(s, 0, sizeof(*s));
}

bool step_writes(const struct step *s)
{
	return effects(s) & WRITES;
}

bool step_reads(const struct step *s)
{
	return effects(s) & READS;
}

bool step_is_memory(const struct step *s)
{
	return effects(s) & MEMORY;
}

bool step_is_acquire(const struct step *s)
{
	return effects(s) & ACQUIRES;
}

bool step_is_release(const struct step *s)
{
	return effects(s) & RELEASES;
}

static uint64_t extent(const struct step *s)
{
	return s->size ? s->size : 1;
}

bool step_conflicts(const struct step *a, const struct step *b)
{
	if (a->thread == b->thread || !(step_writes(a) || step_writes(b)))
		return false;
	if (!effects(a) || !effects(b))
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
		uint32_t latest = effects(e) ? meet_bytes(&memory, e, (uint32_t)i + 1) : 0;

		e->source = latest ? latest - 1 : STEP_NONE;
	}
	vec_deinit(&memory.words);
	map_deinit(&memory.index);
}

size_t steps_switches(const struct steps *s)
{
	size_t n = 0;

	for (size_t i = 1; i < s->len; i++)
		n += s->data[i].thread != s->data[i - 1].thread;
	return n;
}
