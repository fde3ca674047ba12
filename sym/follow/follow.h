/* sym/follow/follow.h - private to sym/: following a plait (plait.c, call.c, sync.c, check.c). */
#ifndef SYM_FOLLOW_FOLLOW_H
#define SYM_FOLLOW_FOLLOW_H

#include "sym/machine/machine.h"
#include "sym/follow/addrmap.h"
#include "sym/follow/recorded.h"

/* One thread being followed; the machine's thread number is its index in follow.threads. */
struct follow_thread {
	struct rec_thread *rec;
	uint32_t index;	 /* in the plait */
	uint32_t block;	 /* heap block that the allocation under way returns, + 1; 0 = none */
	bool has_result; /* the call under way returned this, says the recording */
	uint64_t result;
	bool finished; /* came to an end of any kind; ends[] says how */
	uint64_t steps;
};

struct follow {
	struct recorded r;
	struct addrmap n;
	const struct sym_follow_options *options;
	sym_step_fn *step;
	void *arg;
	struct sym_follow_result *ret;
	VEC(struct follow_thread) threads;
	uint32_t nsymbols;    /* for naming */
	struct sym_step rmw;  /* an atomic between its read and its write */
	VEC(uint64_t) values; /* by symbol: what was really read, where a check knows */
	VEC(bool) is_known;
	VEC(uint64_t) handles; /* native pthread_t of the machine's threads, 0 = not seen yet */
	uint64_t handle_depth; /* how far below the end of its stack a thread's handle points */
	const char *holder;    /* code without bitcode that was given a function; NULL = none */
	struct strbuf text;
};

static inline struct follow *follow_of(struct machine *m)
{
	return m->guide->data;
}
static inline struct follow_thread *follow_thread(struct machine *m)
{
	return &follow_of(m)->threads.data[m->s->current];
}

/* The trace rests on something that nobody recorded; counted by text. */
void follow_gap(struct machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* End this thread here. */
enum stop follow_halt(struct machine *m, enum sym_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Hand out a step: thread, site, where and text are filled in. */
void follow_emit(struct machine *m, struct sym_step step);
/* A fresh symbol of w bits; *number may be NULL. */
struct val follow_symbol(struct machine *m, unsigned w, const char *name, uint32_t *number);
/* Memory with unknown contents. */
uint64_t follow_unknown_memory(struct machine *m, uint64_t size, const char *name);
/* A recorded 64-bit value as the machine knows it; old: what its memory holds there. */
uint64_t follow_translate(struct machine *m, uint64_t value, uint64_t clock, uint64_t until,
			  struct val old);
/* STOP_THREAD when another thread's records are older than this clock. */
enum stop follow_yield(struct machine *m, uint64_t clock);

/* Does the machine's value look like one of its addresses? (pointers.c) */
bool follow_is_pointer(uint64_t v);

/* access.c: struct site_hooks */
enum stop follow_read(struct machine *m, uint64_t address, unsigned w, struct val *v);
void follow_write(struct machine *m, uint64_t address, unsigned w, struct val v);
enum stop follow_rmw_read(struct machine *m, uint64_t address, unsigned w, struct val *v);
void follow_rmw_write(struct machine *m, uint64_t address, unsigned w, struct val v);
enum stop follow_copy(struct machine *m, uint64_t to, uint64_t from, uint64_t n, bool after);

/* sync.c */
enum stop follow_builtin(struct machine *m, enum builtin id, struct val *a, struct val *ret,
			 bool *done);

/* call.c */
enum stop follow_call(struct machine *m, struct frame *f, const struct op *o,
		      struct function *callee, bool *done);
uint64_t follow_allocate(struct machine *m, uint64_t size);
enum stop follow_undecided(struct machine *m);

/* check.c: compare a step with the recording's next event of this thread. */
void follow_check(struct machine *m, const struct sym_step *step);
void follow_check_end(struct machine *m, uint32_t thread);

#endif
