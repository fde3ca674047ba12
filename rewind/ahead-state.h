/* rewind/ahead-state.h - private to rewind/ahead*.c: a thread on its way. */
#ifndef REWIND_AHEAD_STATE_H
#define REWIND_AHEAD_STATE_H

#include "rewind/ahead.h"

struct function;
struct insn;
struct mates;

enum { AHEAD_ADDRESSES = 24 };
/* Keys of private memory that malloc gave: this, and the symbol's number above 20 bits of offset. */
#define AHEAD_BLOCKS (1ull << 62)

struct way_ahead {
	struct track *t;
	struct past *p;
	uint64_t pc;
	uint32_t future; /* steps behind the dump's moment; 0 = before it */
	bool dead;
	bool exits; /* it called pthread_exit */
};

struct ahead {
	struct history *h;
	const struct mate *m, *first; /* first: the first thread, if it is run, too; else NULL */
	const struct mates *mates;
	const struct ahead_end *end;
	const struct possibles *possible;
	const struct past *dump;
	struct tracks *ret;
	bool scout;
	struct map sides;  /* scout: branch and side -> how often taken */
	struct map blocks; /* symbol number of a result of malloc -> 1 */
	VEC(struct way_ahead) todo;
	expr_id temps[LIFT_MAX_OPS + 1];
	uint64_t home; /* where the start routine returns to */
	uint32_t ways;
	struct way_ahead now;
	const struct insn *insn;
	bool atomic; /* the instruction is a locked one */
};

/* What an expression can be. */
struct candidates {
	uint64_t data[AHEAD_ADDRESSES];
	unsigned n;
};

/* The way leads nowhere, for a reason that has to do with us; not all ways are known then. */
void ahead_give_up(struct ahead *a, const char *why);
/* Must hold on this way; false: it cannot. */
bool ahead_require(struct ahead *a, struct way_ahead *w, expr_id bit);
/* A fresh symbol. */
expr_id ahead_fresh(struct ahead *a, unsigned w, const char *what);
/* An event of the way. */
void ahead_note(struct ahead *a, enum ahead_kind kind, uint64_t address, unsigned w, expr_id value,
		expr_id guard);
/* The values of an expression; false: not known (yet). */
bool ahead_enumerate(struct ahead *a, expr_id e, struct candidates *ret);
/* Is the address this one? A bit. */
expr_id ahead_is_at(struct ahead *a, expr_id address, uint64_t at);
/* Memory, of whatever kind. */
expr_id ahead_load(struct ahead *a, expr_id address, unsigned w);
void ahead_store(struct ahead *a, expr_id address, unsigned w, expr_id value);

/* A call of a library function. */
void ahead_import(struct ahead *a, const char *name);
/* Behind a call that was not entered; the return address is on the stack. */
void ahead_behind_call(struct ahead *a, expr_id result);
/* Did a call that the thread is in take effect already? The dump tells for mutexes, and for a thread that began. */
void ahead_finish_call(struct ahead *a, const struct insn *call, const struct function *f);

#endif
