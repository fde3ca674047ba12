/* rewind/step.h - one step back: from the moment after some code to the moment before it (001
 * section 5.4.3, algorithm 2).
 *
 * Usually the code is one block. When a write goes to an address that the block alone does not
 * tell, the step is made longer: the block before it often computes the address. */
#ifndef REWIND_STEP_H
#define REWIND_STEP_H

#include "rewind/code.h"
#include "rewind/past.h"

/* What a called function that is not entered may have done (rewind/summaries.def). */
enum effect_kind {
	EFFECT_NONE,	  /* nothing that the program sees but the result */
	EFFECT_WRITES,	  /* writes `length` bytes at the argument */
	EFFECT_COPIES,	  /* the same, and the bytes are those at its second argument */
	EFFECT_SETS,	  /* the same, and each byte is its second argument */
	EFFECT_TEXT,	  /* copies the text at its second argument */
	EFFECT_APPENDS,	  /* copies that text behind the one that is there */
	EFFECT_PRINTS,	  /* writes as many bytes as its result says, and a zero */
	EFFECT_FREES,	  /* the block at its first argument is free now */
	EFFECT_ALLOCATES, /* a new block, as old memory */
	EFFECT_ZEROES,	  /* a new block of zeroes */
	EFFECT_RESIZES,	  /* the block at its first argument may have moved */
	EFFECT_DOUBLES,	  /* a new block with the text of its first argument */
	EFFECT_MAKES,	  /* a new block with a text that is not known */
	EFFECT_TELLS,	  /* the same, and its address lies where the argument points to */
	EFFECT_LINES, /* getline(): the block whose address and size its first arguments point to */
	EFFECT_CUTS,  /* the text that it returns ends with a zero that it wrote */
	EFFECT_WIDE,  /* writes `length` wide characters at the argument */
	EFFECT_THREADS, /* writes as EFFECT_WRITES does, and other threads wrote what they share */
	EFFECT_LENGTH,	/* nothing; the result is the length of a text */
	EFFECT_SCANS, /* writes where the arguments behind its format say, which is number `where` */
	EFFECT_SORTS, /* writes as EFFECT_WRITES does, if what it calls to compare writes nothing */
	EFFECT_SEARCHES, /* writes nothing, if what it calls to compare writes nothing */
	EFFECT_PART, /* not a call of libc: a part of the program that is not walked through (reach.h) */
	EFFECT_COMPARES, /* nothing; the result says whether its arguments are equal; `fixed`: they are texts */
};

struct effect {
	uint8_t kind;
	uint8_t where; /* number of the argument that points to what is written */
	int8_t length; /* number of the argument that says how many bytes; -1: `fixed` */
	uint8_t scale; /* number of an argument to multiply with + 1; 0 = none */
	uint32_t fixed;
	int8_t also; /* number of an argument where it writes something besides; -1 = none */
	uint8_t also_bytes;
	const char *function; /* its name */
	uint64_t address;
	const struct reach *reach; /* EFFECT_PART */
	uint64_t
		stack; /* what it adds to the stack pointer; a call's own 8 bytes are not counted */
};

/* What summaries.def says about a function; NULL when it says nothing. In the arena. */
const struct effect *effect_of(struct arena *a, const char *name, uint64_t address);
/* Is the result the first argument, as with memcpy()? */
bool effect_returns_target(const struct effect *e);

/* A run of instructions of one block. */
struct piece {
	const struct function *function;
	uint32_t first, n;	     /* instructions */
	uint8_t way;		     /* enum way_kind */
	int16_t exit;		     /* taken in the last instruction; -1 = its end */
	uint64_t to;		     /* where control goes then */
	const struct effect *effect; /* of the call, for WAY_SKIPPED */
	const struct loop *loop;     /* for WAY_LOOP; n is 0 */
};

/* A read or write of memory. Expressions may know more later: simplify them. */
struct access {
	uint64_t insn;	/* address of the instruction */
	uint32_t order; /* of the instruction in the step */
	expr_id address;
	uint8_t w; /* bits */
	bool is_write;
	expr_id value;	/* read or written */
	expr_id before; /* what a write destroyed; where a call copied from; else 0 */
};

enum step_result {
	STEP_DONE,
	STEP_REFUTED, /* this code cannot have led to that state */
	STEP_STUCK,   /* cannot be stepped over; *why says it */
	STEP_OPEN,    /* an address written to is not known: make the step longer */
};

struct step {
	const struct piece *pieces; /* in the order of execution */
	uint32_t npieces, ninsns;
	const struct past *before, *after;
	const struct access *accesses;
	uint32_t naccesses;
	const struct map_entry *symbols; /* that stand for values inside the step; private */
	uint32_t nsymbols;
	bool has_loop;	  /* its pieces contain all turns of one */
	bool passed_over; /* it left unknown memory behind (struct skim) */
	bool guessed;	  /* a write could also have hit another byte that the step writes */
	bool unstable; /* STEP_STUCK: what it writes changes where it writes; step_search() may help */
	const char *why; /* STEP_STUCK; a constant */
	uint64_t where;	 /* STEP_STUCK, STEP_OPEN: the instruction */
};

/* after: the state behind the last piece. Pieces are copied. On STEP_DONE *ret is filled in. */
enum step_result step_back(struct history *h, const struct past *after, const struct piece *pieces,
			   uint32_t npieces, struct step *ret);

/* The step is open, and making it longer does not help. What it wrote to an address that is not known may lie in few places of
 * the memory behind it: try each of them. How many steps were found, at most `most`; all of them are guessed. */
size_t step_search(struct history *h, const struct past *after, const struct piece *pieces,
		   uint32_t npieces, struct step *ret, size_t most);

/* What is known of the call that was skipped at this instruction; NULL = no call was skipped there. */
const struct effect *step_effect(const struct step *s, uint64_t insn);

/* The moment inside a finished step when its first n instructions have run, with all that `last` knows
 * (a past further back on the same way). */
struct past *step_inside(struct history *h, const struct past *last, const struct step *s,
			 uint32_t n);

#endif
