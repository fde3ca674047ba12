/* preload/preload.h - what the files of the watch library share. Nothing here is exported. */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include "unplait/watch.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <threads.h>
#include <time.h>

/* The frame of the function the program called: its return address, and bp before the call. */
#define FRAME ((const uint64_t *)__builtin_frame_address(0))
/* The fast path is worth its size: a call costs as much as what it calls. */
#define FAST	    static inline __attribute__((always_inline))
#define EXPORT	    __attribute__((visibility("default")))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* The functions behind ours. Filled by real_resolve, before `self` of any thread is set. */
struct real {
#define REAL(name, type, params) type(*name) params;
#include "preload/real.def"
#undef REAL
};
extern struct real real;
void real_resolve(void);

/* This thread's slot; NULL before its first use, UNWATCHED when it has none. */
#define UNWATCHED ((struct watch_slot *)1)
extern __thread struct watch_slot *self;
extern struct watch_header *area;

/* Find or make the slot of this thread; NULL when it cannot be watched. Keeps errno. */
struct watch_slot *self_attach(void);
/* A slot for a thread that `parent` (may be NULL) is about to create; NULL when there is none. */
struct watch_slot *slot_claim(struct watch_slot *parent);
void slot_release(struct watch_slot *t);
/* The calling thread takes the slot; its stack ends at `hi`. */
void slot_adopt(struct watch_slot *t, uint64_t lo, uint64_t hi);
/* Note the module that contains pc, once, so that symbols can be found when we are gone. */
void module_note(uint64_t pc);
/* Code may have been unmapped: what was noted has to be noted again. */
void module_forget(void);
/* Every slot is left through a thread-specific destructor. */
extern pthread_key_t end_key;

/* How to get from a frame to its caller's: cfa = (sp or bp) + offset, the return address is at
 * cfa - 8, the caller's bp at cfa - bp_save (0 = unchanged). */
struct unwind_rule {
	enum { UNWIND_STOP, UNWIND_SP, UNWIND_BP } base;
	uint32_t offset; /* with UNWIND_STOP: UNWIND_LAST when there is no caller */
	uint32_t bp_save;
};
#define UNWIND_LAST 8
struct unwind_rule unwind_rule_of(uint64_t pc);
void unwind_init(void);
void unwind_forget(void); /* code was unmapped */

/* The index of the caller's call stack in t's table, WATCH_NO_STACK when all are in use.
 * fp: __builtin_frame_address(0) of the function the program called. */
__attribute__((cold, noinline)) uint16_t stack_capture_slow(struct watch_slot *t,
							    const uint64_t *fp, uint32_t key,
							    unsigned set);
void stack_init(unsigned depth);
void history_note(struct watch_slot *t, uint32_t i);

static inline struct watch_slot *get_self(void)
{
	struct watch_slot *t = self;

	if (unlikely((uintptr_t)t <= (uintptr_t)UNWATCHED))
		return t ? NULL : self_attach();
	return t;
}

/* Is stack s what we would find by unwinding from here? Every load is independent of the others,
 * which is why this is several times faster than unwinding. The arrays are filled up to multiples
 * of eight with what is true anyway, so that the number of frames costs no mispredicted branch. */
FAST bool stack_is_same(const struct watch_stack *s, const uint64_t *fp)
{
	const uint64_t *base = fp + 1; /* the place of the innermost return address */
	uint64_t differ = s->sp ^ (uint64_t)(fp + 2);

	if (unlikely(s->needs_bp)) {
		differ |= s->bp ^ fp[0];
		for (unsigned i = 0; i < s->nbp; i += 4)
			for (unsigned k = i; k < i + 4; k++)
				differ |= base[s->bp_off[k]] ^ (uint64_t)(base + s->bp_value[k]);
	}
	if (unlikely(differ)) /* before looking at places that may not be there */
		return false;
	for (unsigned i = 0; i < 8; i++)
		differ |= base[s->off[i]] ^ s->pc[i];
	if (unlikely(s->n > 8))
		for (unsigned i = 8; i < WATCH_DEPTH; i++)
			differ |= base[s->off[i]] ^ s->pc[i];
	return likely(differ == 0);
}

typedef uint32_t four __attribute__((vector_size(16)));
#define STACK_LEVELS 4

/* Four keys to a set; the mask of those that are equal to key. */
FAST unsigned stack_match(const uint32_t *keys, uint32_t key)
{
	four same = *(const four *)keys == (four){ key, key, key, key };

	return (unsigned)__builtin_ia32_movmskps((__attribute__((vector_size(16))) float)same);
}

/* Look for the stack by its innermost return address and sp. When the one found there differs
 * further out, its first return address (which is in the same place for both) goes into the key,
 * and so on: a call site that is always reached in one way never pays for the ones that are not. */
FAST uint16_t stack_capture(struct watch_slot *t, const uint64_t *fp)
{
	const uint64_t golden = 0x9e3779b97f4a7c15ull;
	uint64_t mixed = (fp[1] ^ (uint64_t)fp << 20) * golden;

	for (unsigned level = 1;; level++) {
		uint32_t key = (uint32_t)(mixed >> 20) | 1;
		unsigned set = (unsigned)(mixed >> 57 & t->stack_mask) * 4, way, mask;
		const struct watch_stack *s;

		/* mostly the first of the set: then the keys need not be looked at */
		if (likely(stack_is_same(&t->stacks[set], fp)))
			return (uint16_t)set;
		mask = stack_match(&t->keys[set], key);
		if (unlikely(!mask))
			return stack_capture_slow(t, fp, key, set);
		way = set + (unsigned)__builtin_ctz(mask);
		s = &t->stacks[way];
		if (way != set && stack_is_same(s, fp))
			return (uint16_t)way;
		if (level == STACK_LEVELS || s->sp != (uint64_t)(fp + 2))
			return stack_capture_slow(t, fp, key, set);
		mixed = (mixed ^ fp[1 + s->off[level]]) * golden;
	}
}

#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELEASE)

/* Push a use; NULL when the thread is nested too deeply. The place is reserved before it is filled,
 * so that a signal handler which takes locks itself pushes above it and leaves it alone. Stores are
 * few and near each other: the lock instruction that follows waits until all of them are done. */
FAST struct watch_use *use_push(struct watch_slot *t, enum watch_kind kind, enum watch_state state,
				uint8_t flags, const void *object, const uint64_t *fp)
{
	uint64_t progress = t->n_and_seq;
	uint32_t n = (uint32_t)progress;
	struct watch_use *use = &t->uses[n];
	uint64_t rest = (uint64_t)kind << 16 | (uint64_t)state << 24 | (uint64_t)flags << 32;

	if (unlikely(n >= WATCH_USES)) {
		t->lost++;
		return NULL;
	}
	STORE(t->n_and_seq, progress + (1ull << 32 | 1));
	use->object = (uint64_t)object;
	use->pc = fp[1];
	STORE(use->whole, rest | stack_capture(t, fp));
	return use;
}

/* Take use i away; the ones above move down. */
FAST void use_remove(struct watch_slot *t, uint32_t i)
{
	uint32_t last = t->n - 1;

	STORE(t->uses[i].state, WATCH_VOID);
	if (unlikely(i != last)) {
		STORE(t->seq, t->seq + 1);
		for (; i < last; i++) {
			/* for a moment both places say so: the same fact twice is still a fact */
			t->uses[i] = t->uses[i + 1];
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
		}
		STORE(t->uses[last].state, WATCH_VOID);
	}
	STORE(t->n, last);
}

static inline void use_drop(struct watch_slot *t, struct watch_use *use)
{
	if (use)
		use_remove(t, (uint32_t)(use - t->uses));
}

#endif
