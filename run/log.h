/* run/log.h - the log of a run in mode sync: from its recording, and for the runtime (unplait/log.h). */
#ifndef RUN_LOG_H
#define RUN_LOG_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct plait_inputs;
struct trace;

/* Section of a plait that was pinned: the log, as the runtime maps it. And of one whose run was under control
 * from the start: what it heard from outside, in the same form. */
#define LOG_SECTION   "log"
#define HEARD_SECTION "heard"

/* Was it recorded in mode sync, and not been pinned yet? */
bool log_is_bare(struct trace *t);
/* Append the log of such a recording, or what a run under control heard. cut_at_signals: each thread's part ends where a handler ran. */
struct err *log_from_trace(struct trace *t, bool cut_at_signals, struct strbuf *ret);
/* Is it of a run under control? log: checked. */
bool log_is_heard(const void *log);
/* How many calls have an answer in it. log: checked. */
uint64_t log_nanswers(const void *log);
/* Are there handlers to run? log: checked. */
bool log_has_signals(const void *log);
/* Does it end where a signal came in, and not where the run did? log: checked. */
bool log_is_cut(const void *log);
/* Add the files that it names to what inputs_collect takes. */
struct err *log_names(struct trace *t, struct plait_inputs *ret);
/* Is this a log that the runtime may map? Nothing in it points outside. */
struct err *log_check(const void *data, size_t len);

#endif
