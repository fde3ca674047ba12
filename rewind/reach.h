/* rewind/reach.h - what a part of the code may change, whatever it was given.
 *
 * A part is a whole function, with all that it calls, or the blocks of a function that lie between a block and one that
 * every way to it goes through. Its stores are told by the registers at its beginning: "8 bytes at rdi + 16". A store whose
 * address is not told that way is loose: it may go anywhere but to the stack frames that are none of the part's business. */
#ifndef REWIND_REACH_H
#define REWIND_REACH_H

#include "base/vec.h"
#include "rewind/code.h"

struct history;

enum { REACH_STACK = 16, REACH_ABSOLUTE = 255, REACH_SEVERAL = -2 };

/* Bytes that it may write. */
struct reach_write {
	uint8_t base; /* a general register at its beginning, REACH_STACK + a word of the stack, or REACH_ABSOLUTE */
	uint64_t offset; /* REACH_ABSOLUTE: the address */
	uint64_t length; /* 0: an element somewhere in what lies there */
	uint8_t w;	 /* bits of that element; 0 = not known */
	bool maybe;	 /* an argument of a library that is not described: if that is a pointer */
};

/* A store whose address is not told. */
struct reach_loose {
	uint64_t insn;
	uint8_t w;	/* bits */
	bool has_value; /* it stores a number */
	bool is_text;	/* a call stores a text */
	uint64_t value;
};

struct reach {
	int16_t exit; /* between blocks: the only one of the first block's that leads there; -1 = its end, or REACH_SEVERAL */
	const char *opaque;	 /* something in it may do anything: what; NULL */
	uint16_t registers;	 /* general ones that may have changed behind it */
	bool calls;		 /* also flags, vectors, and the stack below it */
	bool frees;		 /* blocks of the heap, or allocates them */
	bool gives_back;	 /* the first of these */
	bool open, calls_itself; /* while it is being found out */
	uint32_t depth;
	VEC(struct reach_write) writes;
	VEC(struct reach_loose) loose;
};

struct skim;
/* Could this store have left the value there that the walk looks for? */
bool reach_may_make(const struct skim *s, const struct reach_loose *l);

struct reaches; /* what was found out so far */

struct reaches *reaches_new(struct history *h);
void reaches_free(struct reaches *r); /* NULL is fine */

/* The function at an address, with all that it calls. Borrowed. */
const struct reach *reach_of_function(struct reaches *r, uint64_t address);
/* A library's function of which nothing is known but that it is given pointers. Borrowed. */
const struct reach *reach_of_library(struct reaches *r);
/* The block, by number, that every way to block `to` goes through, the last one before it; false when there is none. */
bool reach_block_before(struct reaches *r, const struct function *f, uint32_t to, uint32_t *ret);
/* What lies between the end of block `from` and the beginning of block `to`; if `from` ends with a call, that is in it.
 * Borrowed. */
const struct reach *reach_between(struct reaches *r, const struct function *f, uint32_t from,
				  uint32_t to);

#endif
