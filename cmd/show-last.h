/* cmd/show-last.h - what the threads of a flight recorder's plait did last, for `unplait info`. */
#ifndef CMD_SHOW_LAST_H
#define CMD_SHOW_LAST_H

#include <stdint.h>

struct err;
struct json;
struct symbols;
struct trace;

/* count: last events of each thread; 0 = a few. s may be NULL: numbers instead of names. */
struct err *show_last(struct trace *t, struct symbols *s, uint64_t count);
struct err *json_last(struct trace *t, struct symbols *s, uint64_t count, struct json *j);

#endif
