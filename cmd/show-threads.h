/* cmd/show-threads.h - what `unplait rewind` says about several threads. */
#ifndef CMD_SHOW_THREADS_H
#define CMD_SHOW_THREADS_H

struct json;
struct rewind;
struct strbuf;

/* Nothing when the dump tells of one thread only. */
void show_threads(struct rewind *r, struct strbuf *out);
void json_threads(struct rewind *r, struct json *j);

#endif
