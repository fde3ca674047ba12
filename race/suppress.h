/* race/suppress.h - races that are not to be spoken of: ThreadSanitizer's suppression files.
 *
 *	race:function            any frame of one of the stacks, by function, file or global variable
 *	race_top:function        the innermost frame only
 *	called_from_lib:libx.so  kept and listed as unused: we do not see such calls
 *
 * In a pattern * stands for anything, ^ and $ for the beginning and the end; without them a pattern
 * may stand anywhere in a name. Other kinds of the file (thread, mutex, signal, deadlock) speak of
 * reports that we do not make. */
#ifndef RACE_SUPPRESS_H
#define RACE_SUPPRESS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct race;
struct strbuf;

struct suppression {
	enum suppression_kind { SUPPRESS_RACE, SUPPRESS_TOP, SUPPRESS_LIBRARY } kind;
	char *pattern;
	unsigned line; /* in its file, from 1 */
	uint64_t hits;
};
struct suppressions VEC_FIELDS(struct suppression);

/* Adds what is in the file. A line that is no suppression is an error that names it. */
struct err *suppressions_load(struct suppressions *s, const char *path);
void suppressions_deinit(struct suppressions *s);

/* Does one of them speak of this race? Its stacks may not be known yet; sides and object are. */
bool suppressions_match(struct suppressions *s, const struct race *r);
/* As ThreadSanitizer matches. */
bool suppression_pattern_matches(const char *pattern, const char *text);

/* A file of suppressions for the races that are proved harmless. */
struct races;
void suppressions_write(const struct races *races, struct strbuf *out);

#endif
