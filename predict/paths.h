/* predict/paths.h - private to predict/: paths of many recordings, kept between commands.
 *
 *	struct paths *s;
 *	err = paths_open("paths", &s);
 *	err = paths_begin(s);
 *	err = paths_add(s, &bytes, trace, NULL);       any number
 *	err = paths_end(s, err);                        all of them, or none
 *	err = paths_runs(s, key, &runs);                one of each path of all threads
 *	err = paths_find(s, key, "0.1", "0110", 4, &texts);
 *	paths_close(s);
 *
 * A store is a folder: `paths.db` says what was seen and how often, `runs/` has one plait of each
 * different run. A key says which program, arguments and input (digest.c). */
#ifndef PREDICT_PATHS_H
#define PREDICT_PATHS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct file_map;
struct paths;
struct strbuf;
struct trace;

/* One run of those with equal records. */
struct paths_run {
	char *plait;
	uint64_t digest;
	uint64_t runs; /* recordings that have it; 0: only runs of our own */
};
struct paths_runs VEC_FIELDS(struct paths_run);
void paths_runs_deinit(struct paths_runs *r);

struct paths_texts VEC_FIELDS(char *);
void paths_texts_deinit(struct paths_texts *t);

/* Made when it is not there. A torn paths.db is made again from the plaits; counts begin anew then. */
struct err *paths_open(const char *folder, struct paths **ret);
void paths_close(struct paths *s); /* NULL is fine */
bool paths_was_torn(const struct paths *s);

struct err *paths_begin(struct paths *s);
/* Takes the error of what was done since, if any: then the store is as it was. */
struct err *paths_end(struct paths *s, struct err *err);

/* A run with these paths. */
struct paths_new {
	const char *key;
	uint64_t digest;
	const struct file_map *bytes; /* of its plait */
	bool ours; /* a run of our own: it says nothing about how often runs come this way */
	size_t nthreads;
	const char *const *threads; /* their names */
	const struct strbuf *bits;  /* their paths; NULL: not known */
};
struct err *paths_put(struct paths *s, const struct paths_new *n);
/* bytes: the plait of t. A file that was added before is not counted again. followed: this is a run of
 * our own, which says nothing about how often runs come this way, and these are its threads' paths (runs
 * under control do not record them as such). NULL: a recording. */
struct err *paths_add(struct paths *s, const struct file_map *bytes, struct trace *t,
		      const struct strbuf *followed);

/* The only key in the store; NULL when there are several or none. Owned. */
struct err *paths_key(struct paths *s, char **ret);
/* In the order they came. */
struct err *paths_runs(struct paths *s, const char *key, struct paths_runs *ret);
/* Paths of a thread, as sides of its branches ('0' and '1'), that begin with prefix: at most n, the
 * shortest first. */
struct err *paths_find(struct paths *s, const char *key, const char *thread, const char *prefix,
		       size_t n, struct paths_texts *ret);

#endif
