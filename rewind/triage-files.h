/* rewind/triage-files.h - private to rewind/: the files that triage reads. Anybody may have written them. */
#ifndef REWIND_TRIAGE_FILES_H
#define REWIND_TRIAGE_FILES_H

#include "base/vec.h"

struct cJSON;
struct err;
struct triage;
struct triaged;

/* A name for a bucket; "" fits everything. */
struct annotation {
	char name[128], kind[64], function[128], object[128];
};
struct annotations VEC_FIELDS(struct annotation);

/* bucket "name" { kind = ...; function = ...; object = ... }
 * path may be NULL: then there are none. */
struct err *annotations_read(const char *path, struct annotations *ret);

/* What an earlier triage said about dumps that have not changed since, and about others. Sorts the dumps by path. No
 * index yet, or path is NULL: fine. A file that is something else is an error: it would be overwritten. */
struct err *triage_read_index(struct triage *t, const char *path);

/* The answer for one dump, from the process that rewound it, or from an index. NULL has none. */
void triage_take_answer(const struct cJSON *o, struct triaged *t);

#endif
