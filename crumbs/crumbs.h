/* crumbs/crumbs.h - what else was kept of the run that left a dump (001 chapter 7).
 *
 *	struct crumbs c = { 0 };
 *
 *	err = crumbs_read(&c, "app.log");           once per file; the kind is seen in the file itself
 *	... c.uses, c.plaits, c.lines, c.branches, c.checks ...
 *	crumbs_deinit(&c);
 *
 * A file is a fingerprint or an area of `watch`, a plait, or text. Each line of a text is a record of a branch stack
 * (`perf script -F brstack`), a branch (`perf script --itrace=b`), an instruction (gdb's `record
 * instruction-history`), a report about broken hardware (kernel log, mcelog, rasdaemon), or else a line of the
 * program's log. Nothing here knows the program or the dump: whether a crumb fits is for its user to say.
 * Everything lives in the crumbs' own memory. */
#ifndef CRUMBS_CRUMBS_H
#define CRUMBS_CRUMBS_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

/* A frame, as far as the file knows it; NULL and 0 = it does not. */
struct crumb_point {
	const char *function, *file, *module, *build_id;
	unsigned line;
	uint64_t offset; /* of the call, in the module */
};

/* A lock that a thread held or waited for. A thread's uses follow each other, the outermost lock first. */
struct crumb_use {
	const char *thread; /* as watch names it */
	uint32_t tid;
	bool wanted;
	const char *lock;	    /* its variable; NULL */
	struct crumb_point *points; /* innermost first */
	size_t npoints;
	size_t file; /* which of `files` says so */
};

/* One taken branch. */
struct crumb_branch {
	uint64_t from, to; /* addresses in the process */
};

/* Private: branches, or instructions, one per line, while a file is read. */
struct branch_lines {
	VEC(struct crumb_branch) taken; /* the oldest first */
	uint64_t insn;			/* the last one; 0 = none */
	uint64_t target;		/* where it leads; 0 = it does not say */
	bool jumps;
};

/* A report about the machine itself. */
struct crumb_check {
	bool uncorrected; /* data was lost; else it was repaired on the fly */
	bool pid_known;
	uint32_t pid;	     /* that was hit */
	const char *program; /* that was hit; NULL */
	const char *text;
};

struct crumb_line {
	const char *text;
	unsigned number; /* in its file */
	size_t file;
};

struct crumbs {
	struct arena arena;
	VEC(const char *) files;
	VEC(struct crumb_use) uses;
	VEC(const char *) plaits;	   /* paths */
	VEC(struct crumb_line) lines;	   /* in the order in which they were printed */
	VEC(struct crumb_branch) branches; /* of the last record, the newest first */
	struct branch_lines by_line;
	VEC(struct crumb_check) checks;
	unsigned passed; /* lines that were skipped: text has a limit, its end counts */
};

/* Add what the file says. An error when it is nothing that we know. */
struct err *crumbs_read(struct crumbs *c, const char *path);
/* Of all files, up to the first that is no crumb. */
struct err *crumbs_read_all(struct crumbs *c, const char *const *paths, size_t n);
void crumbs_deinit(struct crumbs *c);

#endif
