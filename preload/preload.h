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
#define FRAME	    ((const uint64_t *)__builtin_frame_address(0))
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
extern uint32_t stack_mask; /* sets of four stacks per slot, minus one */

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
uint16_t stack_capture_slow(struct watch_slot *t, const uint64_t *fp, uint64_t key, unsigned set);
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
 * which is why this is several times faster than unwinding. */
static inline bool stack_is_same(const struct watch_stack *s, const uint64_t *fp)
{
	uint64_t sp = (uint64_t)(fp + 2), differ;

	if (s->sp != sp || s->pc[0] != fp[1])
		return false;
	differ = s->needs_bp ? s->bp ^ fp[0] : 0;
	for (unsigned i = 1; i < s->n; i++)
		differ |= *(const uint64_t *)(sp + 8ull * s->off[i]) ^ s->pc[i];
	for (unsigned i = 0; i < s->nbp; i++)
		differ |= *(const uint64_t *)(sp + 8ull * s->bp_off[i]) ^
			  (sp + 8ull * s->bp_value[i]);
	return differ == 0;
}

static inline uint16_t stack_capture(struct watch_slot *t, const uint64_t *fp)
{
	uint64_t sp = (uint64_t)(fp + 2);
	uint64_t key = fp[1] ^ (sp << 20 | sp >> 44);
	unsigned set = (unsigned)(key * 0x9e3779b97f4a7c15ull >> 40 & stack_mask) * 4;

	for (unsigned way = set; way < set + 4; way++)
		if (t->keys[way] == key && likely(stack_is_same(&t->stacks[way], fp)))
			return (uint16_t)way;
	return stack_capture_slow(t, fp, key, set);
}

#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELEASE)

/* Push a use; NULL when the thread is nested too deeply. The place is reserved before it is filled,
 * so that a signal handler which takes locks itself pushes above it and leaves it alone. */
static inline struct watch_use *use_push(struct watch_slot *t, enum watch_kind kind,
					 enum watch_state state, uint8_t flags, const void *object,
					 const uint64_t *fp)
{
	uint32_t n = t->n;
	struct watch_use *use = &t->uses[n];
	uint16_t stack;

	if (unlikely(n >= WATCH_USES)) {
		t->lost++;
		return NULL;
	}
	STORE(t->n, n + 1);
	STORE(t->seq, t->seq + 1);
	stack = stack_capture(t, fp);
	if (likely(stack != WATCH_NO_STACK))
		t->stacks[stack].pins++;
	use->object = (uint64_t)object;
	use->aux = 0;
	use->pc = fp[1];
	use->stack = stack;
	use->kind = (uint8_t)kind;
	use->flags = flags;
	use->count = 0;
	STORE(use->state, (uint8_t)state);
	return use;
}

/* Take use i away; the ones above move down. */
static inline void use_remove(struct watch_slot *t, uint32_t i)
{
	uint32_t last = t->n - 1;
	uint16_t stack = t->uses[i].stack;

	STORE(t->uses[i].state, WATCH_VOID);
	if (likely(stack != WATCH_NO_STACK))
		t->stacks[stack].pins--;
	if (unlikely(i != last)) {
		STORE(t->seq, t->seq + 1);
		for (; i < last; i++) {
			struct watch_use moved = t->uses[i + 1];

			/* for a moment both places say so: the same fact twice is still a fact */
			t->uses[i] = moved;
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
