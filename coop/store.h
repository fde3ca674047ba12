/* coop/store.h - many logs over time, in one SQLite file.
 * Adding is one transaction: after an error, or a crash, the store is as it was before. */
#ifndef COOP_STORE_H
#define COOP_STORE_H

#include <stdint.h>

struct coop;
struct err;
struct map;

struct coop_store;
struct err *coop_store_open(const char *path, struct coop_store **ret);
void coop_store_close(struct coop_store *s);
/* Logs that are there already are passed over; *added counts the others. */
struct err *coop_store_add(struct coop_store *s, const struct coop *c, uint64_t *added);
struct err *coop_store_load(struct coop_store *s, struct coop *ret);
/* Candidates that were tried and did not reproduce. */
struct err *coop_store_tried(struct coop_store *s, struct map *ret);
struct err *coop_store_note_tried(struct coop_store *s, const struct map *tried);

#endif
