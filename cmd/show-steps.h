/* cmd/show-steps.h - an interleaving, event by event, and stacks of threads that wait. */
#ifndef CMD_SHOW_STEPS_H
#define CMD_SHOW_STEPS_H

struct err;
struct run_result;
struct strbuf;
struct trace;

/* Every event of the trace in order, with source lines. */
struct err *show_steps(struct trace *t, struct strbuf *out);
/* "0.1 waits to lock a mutex held by 0.2" with the stack of each waiting thread. The plait at
 * `path` says what the addresses mean. */
struct err *show_blocked(const struct run_result *r, const char *path, struct strbuf *out);

#endif
