/* rewind/pointers.h - where in the dump does a word lie?
 *
 * A write whose address nobody knows any more has left what it wrote. If that is a pointer, it lies in few places, and the
 * write went to one of them. */
#ifndef REWIND_POINTERS_H
#define REWIND_POINTERS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dump;
struct history;
struct past;

struct pointer {
	uint64_t value, at;
};

enum { WORD_PLACES = 8 };

/* Where a word lies in the dump's data. */
struct word {
	uint64_t value;
	size_t n; /* more than WORD_PLACES: too many, or not looked for */
	uint64_t at[WORD_PLACES];
};

/* The pointers in writable memory of a dump, by value; and the words that were asked for. */
struct pointers {
	VEC(struct pointer) all;
	bool made;
	VEC(struct word) words;
};

void pointers_deinit(struct pointers *w);
/* The places that hold this pointer at a moment, the first `most` of them. How many there are; more than `most` also when
 * the dump is too large to look, or when it is no pointer. */
size_t pointers_find(struct history *h, const struct past *p, uint64_t value, uint64_t *ret,
		     size_t most);
/* The places in all data from which this word, a pointer or not, can have been read at a moment: how many, and the first
 * `most` of them. 0 also when there are too many, or none is known. */
size_t word_places(struct history *h, const struct past *p, uint64_t value, uint64_t *ret,
		   size_t most);

#endif
