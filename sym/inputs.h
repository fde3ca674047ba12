/* sym/inputs.h - inputs that nobody gave: one for each path that the program can take.
 *
 * The symbolic machine explores the program with the given words and standard input unknown, and with
 * something added to them, and solves an input for every path (001 section 7.2.2, "multi-path"). */
#ifndef SYM_INPUTS_H
#define SYM_INPUTS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

struct made_input {
	char **args; /* NULL-terminated, the program first */
	char *input; /* standard input; NULL = none */
	size_t input_len;
	char **env; /* NAME=value, NULL-terminated; NULL = none */
	int oddity; /* the less, the more a person would type it */
};
struct made_inputs VEC_FIELDS(struct made_input); /* the least odd first */
void made_inputs_deinit(struct made_inputs *m);

/* What the program was given. */
struct given_input {
	char *const *args; /* NULL-terminated, the program first */
	const void *input;
	size_t input_len;
	bool more; /* standard input and variables of the environment may be added, too */
};

/* *gap: why not every path was looked at, owned by the caller; NULL = nothing to say. */
struct err *made_inputs_find(const struct given_input *given, struct made_inputs *ret, char **gap);

#endif
