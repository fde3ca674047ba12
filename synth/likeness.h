/* synth/likeness.h - private: how much does a function of a binary without symbols look like one of the program?
 *
 * Both have *features*: library functions that are called and constant texts. Optimisers inline functions, so the
 * features of a function in the binary are those of one function of the program and of some that it calls. */
#ifndef SYNTH_LIKENESS_H
#define SYNTH_LIKENESS_H

#include "base/map.h"
#include "debug/landmarks.h"
#include "sym/sym.h"

struct likeness {
	const struct landmarks *binary;
	struct sym_sketches program;
	struct names features;
	VEC(double) weights; /* per feature: seldom ones tell more */
	uint32_t *of_binary; /* per landmark: its feature; NAMES_NONE = none that the program has */
	uint32_t **of_program; /* per function and mark: the same */
	VEC(uint32_t) stamps;  /* per feature: the last question that it was part of */
	VEC(uint32_t) looked;  /* per function of the program: the same */
	uint32_t stamp;
};

/* Borrows both. */
void likeness_init(struct likeness *l, const struct landmarks *binary, struct sym_program *p);
void likeness_deinit(struct likeness *l);

/* From -1 to 1: is the binary's function at `code` the program's function f, with some of its callees inlined? */
double likeness_of(struct likeness *l, uint64_t code, uint32_t f);

/* From 0 to 1: how much of f's own features does the binary's function at `code` lack? Much = f was not inlined there. */
double likeness_lacks(struct likeness *l, uint64_t code, uint32_t f);

/* A way from a function through calls that were inlined; the last place is where the stack goes on. pc of the
 * last: UINT32_MAX = anywhere in the function. */
struct way VEC_FIELDS(struct sym_place);
/* From 0 to 1: does what surrounds the instruction before `address` look like what surrounds the way's end? from: the
 * first place of the way that lies in the same function of the binary. */
double likeness_nearby(struct likeness *l, uint64_t address, const struct way *w, size_t from);

/* "printf" for "__printf_chk" and "puts". */
bool same_import(const char *a, const char *b);

#endif
