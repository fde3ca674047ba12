/* cmd/show-rewind.h - what `unplait rewind` prints: a suffix for people, and as JSON. */
#ifndef CMD_SHOW_REWIND_H
#define CMD_SHOW_REWIND_H

#include <stdbool.h>

struct json;
struct rewind;
struct strbuf;

/* all: every step, not the last few only. */
void show_rewind(struct rewind *r, bool all, struct strbuf *out);
void json_rewind(struct rewind *r, struct json *j);

#endif
