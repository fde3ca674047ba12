/* deadlock/merge.h - fingerprints from many runs and machines, by bucket. */
#ifndef DEADLOCK_MERGE_H
#define DEADLOCK_MERGE_H

#include "base/map.h"
#include "base/vec.h"

struct err;

struct merge_bucket {
	char *id, *kind, *program;
	char *summary; /* one line per thread of the cycle */
	size_t count;
	VEC(char *) files;
};

struct merge {
	VEC(struct merge_bucket) buckets;
	struct names keys; /* bucket and build bucket ids */
	struct map owner;  /* key -> bucket */
	size_t read, skipped;
};

struct merge *merge_new(void);
void merge_free(struct merge *m);
/* A fingerprint's JSON file, or a folder of them. */
struct err *merge_add(struct merge *m, const char *path);
/* Most frequent first. */
void merge_sort(struct merge *m);

#endif
