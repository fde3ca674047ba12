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
extern __thread struct watch_slot *self __attribute__((tls_model("initial-exec")));
extern struct watch_header *area;

/* Find or make the slot of this thread; NULL when it cannot be watched. Keeps errno. */
struct watch_slot *self_attach(void);
/* A slot for a thread that `parent` (may be NULL) is about to create; NULL when there is none. */
struct watch_slot *slot_claim(struct watch_slot *parent);
void slot_release(struct watch_slot *t);
struct watch_slot *slot_at(uint32_t i);
/* The calling thread takes the slot; its stack ends at `hi`, and WATCH_WIDE words above frames
 * below `safe` can be read. */
void slot_adopt(struct watch_slot *t, uint64_t lo, uint64_t hi, uint64_t safe);
/* Note the module that contains pc, once, so that symbols can be found when we are gone. */
void module_note(uint64_t pc);
/* Note all modules that were loaded since the last call. */
void module_note_all(void);
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
/* Where the function begins that contains pc; 0 when it has no tables. */
uint64_t unwind_function(uint64_t pc);
void unwind_init(void);
void unwind_forget(void); /* code was unmapped */

/* This thread is about to wait: unwind the stacks of its uses, while their frames last. */
__attribute__((cold, noinline)) void stack_settle(struct watch_slot *t, const uint64_t *fp);
/* A sample is released: see whether its stack could be told. */
__attribute__((cold, noinline)) void stack_sample(struct watch_slot *t, const struct watch_use *use,
						  const uint64_t *fp);
/* Decide whether this thread's stack is easy (use_push). */
void stack_ease(struct watch_slot *t);
extern unsigned stack_depth; /* frames, at most */
void stack_init(unsigned depth);
/* With a history: the caller's call stack as the low half of a use, its number in t's table and how
 * many frames are certain; WATCH_IN_WINDOW when all are in use. */
uint32_t remembered(struct watch_slot *t, const uint64_t *fp);
void remembered_settle(struct watch_slot *t, struct watch_use *use, const uint64_t *fp);
void history_note(struct watch_slot *t, uint32_t i);
void history_order(struct watch_slot *t);

FAST bool is_watched(const struct watch_slot *t)
{
	return (uintptr_t)t > (uintptr_t)UNWATCHED;
}

static inline struct watch_slot *get_self(void)
{
	struct watch_slot *t = self;

	if (unlikely(!is_watched(t)))
		return t ? NULL : self_attach();
	return t;
}

#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELEASE)

#define FACT(kind, state) ((uint32_t)(kind) | (uint32_t)(state) << 8)

/* Reserve the place of a new use; NULL when the thread is nested too deeply. It is reserved before
 * it is filled, so that a signal handler which takes locks itself pushes above it and leaves it
 * alone; what is above the top is VOID. */
FAST struct watch_use *use_reserve(struct watch_slot *t)
{
	uint64_t progress = t->n_and_seq;
	uint32_t n = (uint32_t)progress;

	if (unlikely(n >= WATCH_USES)) {
		t->lost++;
		return NULL;
	}
	STORE(t->n_and_seq, progress + (1ull << 32 | 1));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return &t->uses[n];
}

FAST struct watch_window *use_window(struct watch_slot *t, const struct watch_use *use)
{
	return (struct watch_window *)((char *)t + use->window);
}

FAST void use_fill(struct watch_use *use, enum watch_kind kind, enum watch_state state,
		   uint8_t flags, const void *object, uint32_t stack)
{
	use->object = (uint64_t)object;
	STORE(use->whole, stack | (uint64_t)flags << 24 | (uint64_t)FACT(kind, state) << 32);
}

/* May the words above the frame be copied at once? */
FAST bool is_easy(const struct watch_slot *t, const uint64_t *fp)
{
	return (uint64_t)fp - t->stack_lo < t->stack_span;
}

/* Push a use whose stack is easy. Eight words, and nothing but copying: this is what the whole
 * library costs. See stack.c. fp: __builtin_frame_address(0) of the function the program called. */
FAST struct watch_use *use_push_easy(struct watch_slot *t, enum watch_kind kind,
				     enum watch_state state, uint8_t flags, const void *object,
				     const uint64_t *fp)
{
	struct watch_use *use = use_reserve(t);

	if (likely(use != NULL)) {
		__builtin_memcpy(use_window(t, use), fp, WATCH_NARROW * sizeof(*fp));
		use->frame = (uint64_t)fp;
		use_fill(use, kind, state, flags, object, WATCH_IN_WINDOW);
	}
	return use;
}

/* The same, whatever the stack. */
struct watch_use *use_push_hard(struct watch_slot *t, enum watch_kind kind, enum watch_state state,
				uint8_t flags, const void *object, const uint64_t *fp);

FAST struct watch_use *use_push(struct watch_slot *t, enum watch_kind kind, enum watch_state state,
				uint8_t flags, const void *object, const uint64_t *fp)
{
	if (likely(is_easy(t, fp)))
		return use_push_easy(t, kind, state, flags, object, fp);
	return use_push_hard(t, kind, state, flags, object, fp);
}

/* Take use i away; the ones above move down. */
FAST void use_remove(struct watch_slot *t, uint32_t i)
{
	uint32_t last = t->n - 1;

	STORE(t->uses[i].state, WATCH_VOID);
	if (unlikely(i != last)) {
		uint32_t window = t->uses[i].window;

		STORE(t->seq, t->seq + 1);
		for (; i < last; i++) {
			/* for a moment both places say so: the same fact twice is still a fact */
			t->uses[i] = t->uses[i + 1];
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
		}
		STORE(t->uses[last].state, WATCH_VOID);
		t->uses[last].window = window;
	}
	STORE(t->n, last);
}

static inline void use_drop(struct watch_slot *t, struct watch_use *use)
{
	if (use)
		use_remove(t, (uint32_t)(use - t->uses));
}

#endif
