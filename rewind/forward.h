/* rewind/forward.h - the code of a step, run forwards on a guess of the state before it. Private to
 * step.c, which turns what comes out into equations. */
#ifndef REWIND_FORWARD_H
#define REWIND_FORWARD_H

#include "rewind/step.h"

#include "base/map.h"

enum { RUN_MOST_ASSUMED = 3 };

/* A run of the code, forwards. */
struct run {
	struct history *h;
	const struct past *after;
	const struct piece *pieces;
	uint32_t npieces;
	struct past *now; /* bindings and constraints of this attempt; registers change */
	expr_id start[LIFT_REGISTERS]; /* the registers before */
	bool written[LIFT_REGISTERS];
	struct map *before; /* address -> expr_id: bytes that will be overwritten */
	struct map stored;  /* address -> expr_id: bytes written so far */
	struct map *fresh;  /* place in the code -> symbol, the same in every run */
	VEC(struct access) accesses;
	expr_id temps[LIFT_MAX_OPS + 1];
	uint64_t floor;	  /* the highest stack pointer at a call that was skipped */
	uint64_t skipped; /* address of a function that was skipped */
	bool lost;	  /* a write went to an unknown address */
	bool fog; /* a write went to an unknown address, but not where the walk looks (past.h) */
	bool had_fog;	    /* the same of the run before */
	uint64_t had_floor; /* `floor` of the run before: what the code read below it may be gone */
	bool some_block;    /* a block was freed, and it is not known which */
	struct assumed { /* of addresses that were lost: where pointers.h finds what was written */
		expr_id address;
		uint64_t is;
	} assumed[RUN_MOST_ASSUMED];
	unsigned nassumed;
	bool searching; /* for such places: what is read was not hit by a lost write */
	bool guess;	/* take it that such a write hits nothing else that the code writes */
	uint64_t lost_at;
	const char *why; /* cannot be stepped over */
	bool refuted;
	uint32_t agreed; /* bits that agreed with the state after */
	uint64_t place;	 /* of the operation in the code; keys of `fresh` */
	uint32_t order;	 /* of the instruction */
	uint64_t insn;
	VEC(struct piece) path; /* what was run: the pieces, and for a loop its turns */
	/* loops (unroll.c) */
	bool has_loop;
	bool deciding;	/* where control goes is asked, not told: `taken` and `next` */
	int16_t taken;	/* exit of the last instruction; -1 = its end */
	uint64_t next;	/* where control goes */
	bool undecided; /* that depends on what is not known */
	bool strayed;	/* the loop does not lead to where it should */
	bool too_long;	/* or takes too many turns */
	uint64_t gap_low,
		gap_high; /* what a library that was skipped keeps for itself: not known before */
};

/* What an unknown value belongs to: with a number, and the place in the code but for OF_MEMORY, what it
 * is known by. */
enum owner { OF_OPERATION, OF_FLAGS, OF_REGISTER, OF_BYTE, OF_MEMORY };

/* An unknown value, the same one in every run of this code. */
expr_id run_fresh(struct run *r, unsigned w, enum owner owner, uint64_t number, const char *what);
/* Was there memory? A skipped call may have given some back, so then only the obvious counts. */
bool run_readable(struct run *r, uint64_t address);
/* As far as the instruction number `upto`. */
void run_upto(struct run *r, uint32_t upto);

/* Parts of it, for effects.c and unroll.c. */
enum { RUN_MOST_WRITTEN = 1 << 16 };
/* One byte, and w bits, as the run sees them. */
expr_id run_byte(struct run *r, uint64_t address);
expr_id run_load(struct run *r, expr_id address, unsigned w);
/* A condition that decides an exit: it holds, or it does not. */
void run_leave(struct run *r, expr_id guard, bool taken);
/* Number n of a call's arguments. */
bool run_argument(struct run *r, unsigned n, uint64_t *ret);
/* These bytes are unknown from now on. */
void run_overwrite(struct run *r, uint64_t at, uint64_t len);
/* One instruction. is_last: the piece's exit belongs to it. */
void run_insn(struct run *r, const struct function *f, const struct insn *in, bool is_last,
	      const struct piece *piece);
/* The call at the end of a piece, which is not entered. */
void run_skip_call(struct run *r, const struct piece *piece);
/* What that library has of its own becomes unknown. */
void run_add_gap(struct run *r, const struct effect *e);
/* The part of the program at the end of a piece, which is not walked through. */
void run_skip_part(struct run *r, const struct piece *piece);
/* A write to an address that is not known. bytes: 0 = not known, either; value: 0 = not known. */
void run_lose(struct run *r, unsigned bits, expr_id value);
/* All turns of a loop. */
void run_loop(struct run *r, const struct piece *piece);

#endif
