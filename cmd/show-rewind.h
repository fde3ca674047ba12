/* cmd/show-rewind.h - what `unplait rewind` prints: a suffix for people, and as JSON. */
#ifndef CMD_SHOW_REWIND_H
#define CMD_SHOW_REWIND_H

#include <stdbool.h>
#include <stdint.h>

struct json;
struct rewind;
struct strbuf;

/* all: every step, not the last few only. */
void show_rewind(struct rewind *r, bool all, struct strbuf *out);
void json_rewind(struct rewind *r, struct json *j);

/* A place of the program: {file, line, function, pc}. */
void json_point(struct rewind *r, struct json *j, const char *key, uint64_t pc);

#endif
