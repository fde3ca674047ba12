/* rewind/triage.h - many dumps, sorted by cause (001 section 6.5.1).
 *
 * Dumps with the same kind of cause, in the same function, about the same object, belong to one bucket.
 * No address and no line is part of that, so builds and machines join. A dump without a cause is
 * sorted by the program's own functions on its stack, which is what a stack hash does. */
#ifndef REWIND_TRIAGE_H
#define REWIND_TRIAGE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Strings are owned. */
struct triaged {
	char *path;
	char *kind, *function, *object; /* of the cause; "" = none */
	char *file;			/* where; "" = not known */
	unsigned line;
	char *text; /* the cause in words, or the stack */
	/* does input decide how it failed (exploit_verdict), and what others would call it: "DestAv"; "" = not known */
	char *input, *gdb_exploitable, *casr;
	char *problem; /* why it cannot be sorted; NULL = it was */
	uint64_t size;
	int64_t changed; /* the file's time */
	bool gone;	 /* the index has it, and the file is not there any more */
	uint32_t bucket;
};

struct bucket {
	char *name;	/* of its first dump */
	char *key;	/* what its dumps have in common */
	bool annotated; /* somebody gave it this name */
	uint32_t count;
	uint32_t smallest; /* the dump to look at first */
};

struct triage {
	VEC(struct triaged) dumps;
	VEC(struct bucket) buckets; /* in the order of their first dump */
	uint32_t known;		    /* dumps that an earlier index had sorted */
};

struct triage_options {
	const char *annotations; /* file; NULL = none */
	const char *index;	 /* JSON of an earlier triage, read if it is there; NULL = none */
	uint64_t jobs;
	double seconds; /* for each dump */
};

/* paths: dumps, and folders whose files are dumps. */
struct err *triage_run(char *const *paths, size_t n, const struct triage_options *o,
		       struct triage *ret);
void triage_deinit(struct triage *t);

#endif
