/* run/reorder.h - private to run/: search for the order of accesses that a recording of mode sync leaves open. */
#ifndef RUN_REORDER_H
#define RUN_REORDER_H

struct err;
struct pin_report;
struct racing;
struct run_result;
struct session;
struct trace_outcome;

/* Attempts until one ends as the recorded run did, and its check marks agree; *r is the last attempt. attempts: at most;
 * 0 = enough. Fills in what the report says of them. racing: gets the lines that have raced; or NULL. */
struct err *reorder(struct session *s, const struct trace_outcome *recorded, unsigned attempts,
		    struct racing *racing, struct run_result *r, struct pin_report *ret);

#endif
