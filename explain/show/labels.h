/* explain/show/labels.h - private to explain/: names and source lines of one trace. */
#ifndef EXPLAIN_SHOW_LABELS_H
#define EXPLAIN_SHOW_LABELS_H

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "explain/explanation.h"
#include "explain/find/steps.h"

struct code_point;
struct err;
struct stacks;
struct symbols;
struct trace;
struct trace_meta;

struct source_file {
	char *path;
	struct strbuf text;
};

struct labels {
	struct explanation *x; /* strings go into its arena */
	struct symbols *symbols;
	const struct trace_meta *meta;
	VEC(struct source_file) files;
	struct map lock_names;	     /* address -> name in the arena, from a call that has one */
	const struct steps *others;  /* where else names may be found; NULL */
	struct map names;	     /* address -> name found there, 0 = none */
	const struct stacks *stacks; /* call stacks of steps of the failing run; NULL */
	const struct steps *passing; /* ... and which of them those of the passing run are; NULL */
	const uint32_t *twin_of_passing;
};

struct err *labels_init(struct labels *p, struct explanation *x, struct trace *trace);
void labels_deinit(struct labels *p);
/* Place, names, value and source line of a step. */
struct err *labels_event(struct labels *p, const struct step *s, struct shown_event *ret);

/* A name for an address, not for a thing: "calloc@main.c:30", "stack 0-2816", "memory#3"; or none. */
bool labels_is_anonymous(const char *name);

/* "main.c:12": in a sentence the file's own name is enough; "get()" when no line is known. */
const char *labels_place(struct labels *p, const struct shown_event *e);
const char *labels_point(struct labels *p, const struct code_point *at);

#endif
