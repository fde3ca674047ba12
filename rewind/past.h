/* rewind/past.h - what is known about a moment before the dump.
 *
 * A past is the dump with changes: registers and bytes of memory are expressions (sym/value/expr.h),
 * in which symbols stand for what nobody knows yet. Two kinds of knowledge come with it: bindings
 * (this symbol is that expression) and constraints (this must hold). Walking back adds knowledge
 * about later moments, too: a value that was lost at one step is often read by an earlier one.
 *
 * Pasts form a tree and share what they have in common. Everything lives in the arena of a
 * `struct history` and is dropped with it; a past that is finished never changes. */
#ifndef REWIND_PAST_H
#define REWIND_PAST_H

#include "base/arena.h"
#include "base/map.h"
#include "lift/lifted.h"
#include "rewind/pointers.h"
#include "sym/value/expr.h"

struct code;
struct constraint;
struct dump;
struct solver;
struct trie;

/* The walk looks for who wrote one place, and passes over what cannot have done it: a store to an address that is not
 * known then leaves unknown memory (`fog`), but not there. */
struct skim {
	bool on;
	uint64_t address;
	unsigned w; /* bits */
	uint64_t value;
	uint64_t block; /* 0; or not that place, but the call that freed this is looked for */
	uint64_t stack_low, stack_high; /* memory that such stores leave alone */
};

/* What all pasts of one dump share. */
struct history {
	const struct dump *dump;
	struct code *code;
	struct arena arena;
	struct exprs exprs;
	struct solver *solver;
	struct sym_stats *stats;
	struct map unknown;	  /* address of a byte that the dump does not have -> its symbol */
	struct map threads;	  /* pthread_t of the threads that the dump tells of */
	struct map shared;	  /* addresses of bytes that other threads write */
	struct pointers pointers; /* of the dump */
	uint64_t questions;	  /* to the solver */
	double deadline;	  /* of work_seconds(): what takes long gives up then; 0 = none */
	uint64_t *free_blocks;	  /* of the dump's heap; NULL = nobody has asked yet */
	size_t nfree_blocks;	  /* may be more than were kept: FREE_BLOCKS */
	struct skim skim;
};

struct late_read;

struct past {
	uint64_t pc;
	expr_id registers[LIFT_REGISTERS];
	const struct trie *memory;   /* address / 8 -> expr_id[8], 0 = as in the dump */
	const struct trie *bindings; /* symbol number -> expr_id */
	uint64_t
		floor; /* memory of the stack below it is not known any more: a skipped call used it */
	uint64_t gap_low, gap_high; /* writable memory of a library that was skipped: not known */
	uint32_t
		fog; /* some of the memory that is no stack was overwritten later; counts how often; 0 = never */
	const expr_id *constraints;
	uint32_t nconstraints;
	const struct late_read
		*late; /* reads whose address is not known yet (late.h); NULL = none */
	uint32_t nlate;
	uint32_t evidence; /* bits that agreed with the dump on the way here without having to */
};

struct sym_stats;
void history_init(struct history *h, const struct dump *d, struct code *code);
void history_deinit(struct history *h);

/* Is the time over, or has somebody pressed Ctrl-C? Then a step is stuck, and questions are not asked: nothing is
 * refuted by that. */
bool history_over(const struct history *h);

/* The dump itself, as thread number `thread` sees it. */
struct past *past_of_dump(struct history *h, size_t thread);
/* A copy that can be changed until somebody else refers to it. */
struct past *past_fork(struct history *h, const struct past *p);

/* An expression with all bindings put in. */
expr_id past_simplify(struct history *h, const struct past *p, expr_id e);
/* A byte of memory, an expression of 8 bits. */
expr_id past_byte(struct history *h, const struct past *p, uint64_t address);
/* Is there memory in the dump? maybe: there was more of it before a call that was skipped, so only the obvious counts. */
bool past_readable(const struct history *h, uint64_t address, bool maybe);
/* Is this byte still as in the dump: did nothing behind this moment write it? */
bool past_is_dumped(const struct past *p, uint64_t address);
/* w bits (a multiple of 8) from an address on. */
expr_id past_load(struct history *h, const struct past *p, uint64_t address, unsigned w);
void past_store(struct history *h, struct past *p, uint64_t address, unsigned w, expr_id value);
/* A call was skipped: what lies below `floor` on the stack is not known before it, nor is the
 * writable memory between low and high. */
void past_forget(struct history *h, struct past *p, uint64_t floor, uint64_t low, uint64_t high);
/* Behind that call: what lies below `floor` is as in `after`, as far as nobody has written it since. */
void past_remember(struct history *h, struct past *p, uint64_t floor, const struct past *after);
/* Something in memory that is no stack was overwritten behind this moment. */
void past_fog(struct history *h, struct past *p);
/* Would it be hidden by that? */
bool past_is_foggy(const struct history *h, uint64_t address);
/* A fresh symbol. */
expr_id past_unknown(struct history *h, unsigned w, const char *what);

/* Do both have the same value already? */
bool past_agrees(struct history *h, const struct past *p, expr_id a, expr_id b);
/* Assume that two expressions are equal, or that a bit is set. False: that contradicts what is
 * known. What can be turned around becomes bindings, the rest constraints. */
bool past_equate(struct history *h, struct past *p, expr_id a, expr_id b);
bool past_assume(struct history *h, struct past *p, expr_id bit);
/* Put the bindings into all constraints. False: one of them cannot hold any more. The solver was asked about the first
 * *asked of them; those that are still the same come first, and *asked says how many. */
bool past_settle(struct history *h, struct past *p, uint32_t *asked);
/* Ask the solver about the constraints from number `since` on. False: they cannot hold. */
bool past_check(struct history *h, struct past *p, uint32_t since);

/* The value of an expression, if there is only one that follows by bindings. */
bool past_value(struct history *h, const struct past *p, expr_id e, uint64_t *ret);
/* Values for all symbols under which everything holds, values[symbol number]; NULL when the solver
 * finds none. Owned by the caller; *count says how many. Symbols that nothing constrains are 0. *gave_up: there may be
 * values, but the solver was not given the time to find them. */
uint64_t *past_model(struct history *h, const struct past *p, uint32_t *count, bool *gave_up);

#endif
