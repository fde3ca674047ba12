/* base/racing.h - the list of racing lines: source lines whose plain accesses have been seen to race.
 *
 * `unplait replay --racing FILE` and `unplait races --racing FILE` write it, `unplait cc --unplait-racing=FILE` builds with
 * it. A text file: FILE:LINE on each line, as the site tables call the file; `#' begins a comment. */
#ifndef BASE_RACING_H
#define BASE_RACING_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct racing_line {
	char *file;
	uint32_t line;
	bool found; /* for the user's own use */
};
struct racing VEC_FIELDS(struct racing_line);

void racing_deinit(struct racing *r);
/* Add the lines of a file. `may_be_new`: one that is not there is an empty one. */
struct err *racing_read(struct racing *r, const char *path, bool may_be_new);
/* Sorted by file and line. */
struct err *racing_write(struct racing *r, const char *path);
/* Once, however often it is added. */
void racing_add(struct racing *r, const char *file, uint32_t line);
/* NULL: it is not in the list. */
struct racing_line *racing_find(const struct racing *r, const char *file, uint32_t line);

#endif
