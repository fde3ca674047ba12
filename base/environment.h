/* base/environment.h - an environment to give to another process: ours, with some variables
 * changed. Zero-initialised is empty; data is NULL-terminated whenever it is not empty. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include "base/vec.h"

struct environment VEC_FIELDS(char *);

/* All variables of this process. e must be empty. */
void environment_copy(struct environment *e);
/* value NULL removes the variable. */
void environment_set(struct environment *e, const char *name, const char *value);
/* "NAME=value", as in `environ`. */
void environment_put(struct environment *e, const char *entry);
/* The value becomes "value:old", or "value" when there is no old one: for LD_PRELOAD. */
void environment_prepend(struct environment *e, const char *name, const char *value);
/* NULL when absent. Borrowed until the next change. */
const char *environment_find(const struct environment *e, const char *name);
void environment_deinit(struct environment *e);

#endif
