/* report/export.h - a trace in the formats of others.
 * A format is a struct of callbacks; export_run walks the events in clock order and calls them. */
#ifndef REPORT_EXPORT_H
#define REPORT_EXPORT_H

#include "debug/names.h"

#include <stdio.h>

struct export
{
	struct trace *trace;
	struct symbols *symbols; /* NULL: numbers only */
	FILE *out;
	/* of the event at hand */
	struct code_point at;
	const char *object; /* "" = none */
	/* for the formats' own use */
	uint64_t count;
	void *state;
};

struct export_format {
	const char *name, *summary;
	void (*begin)(struct export *x);
	void (*event)(struct export *x, const struct event *ev);
	void (*end)(struct export *x);
};

/* NULL when there is none; formats[] ends with a NULL name. */
const struct export_format *export_find(const char *name);
extern const struct export_format export_formats[];

struct export_filter {
	uint32_t thread;       /* CURSOR_ALL = all */
	uint32_t kind;	       /* PLAIT_EV_NONE = all */
	uint64_t first, count; /* events to skip, and to show at most (0 = all) */
};

/* filter may be NULL. */
struct err *export_run(struct trace *t, struct symbols *symbols, const struct export_format *format,
		       const struct export_filter *filter, FILE *out);

#endif
