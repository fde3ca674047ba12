/* report/index.h - many findings in one folder, as one page.
 *
 * A finding is a plait. Beside FILE.plait may lie FILE.html and FILE.json, as `unplait report
 * --explain` and a user of `unplait explain --html` leave them: the page and the cause. */
#ifndef REPORT_INDEX_H
#define REPORT_INDEX_H

#include "base/vec.h"
#include "unplait/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json;
struct strbuf;

struct index_entry {
	char *plait;   /* relative to the folder */
	char *page;    /* its explanation, relative to the folder; NULL = none */
	char *command; /* the program and its arguments, as a shell takes them */
	char *message, *cause, *advice, *tried; /* NULL = not known */
	enum plait_outcome_kind kind;
	uint64_t events;
	size_t threads;
	bool made_here; /* by this user, on this machine: it may be run */
};

struct report_index {
	struct VEC_FIELDS(struct index_entry) entries; /* by path */
	size_t unreadable;			       /* files *.plait that are no plaits */
	bool cut;				       /* there are more than INDEX_MOST */
};
enum { INDEX_MOST = 10000 };

/* Every plait below a folder. An error when the folder cannot be read. */
struct err *report_index_gather(const char *folder, struct report_index *ret);
void report_index_deinit(struct report_index *x);
/* The file beside a plait with another ending. Owned. */
char *index_beside(const char *plait, const char *ending);
bool index_entry_fails(const struct index_entry *f);

/* One self-contained page; complete without scripts. */
void report_index_html(const struct report_index *x, const char *folder, struct strbuf *out);
void report_index_json(const struct report_index *x, const char *folder, struct json *j);
/* A line per finding. */
void report_index_term(const struct report_index *x, struct strbuf *out);

#endif
