/* cc/driver/cache.h - results of a link, kept by the content of what they were made of.
 *
 * A key is a hash of everything that the result depends on: the bitcode, the options, this program
 * itself and LLVM. So an entry is never out of date, only unused; the oldest go when there is no more
 * room. Several links may use one cache at a time. Whatever is wrong with the cache or an entry (no
 * permission, a full disk, damaged bytes) means that there is no entry: a cache never fails a link. */
#ifndef CC_DRIVER_CACHE_H
#define CC_DRIVER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;
struct XXH3_state_s;

struct cache {
	char *dir;	/* NULL: there is none; owned */
	uint64_t limit; /* bytes of all entries together */
	char *maker;	/* says which program and LLVM make the entries: part of every key; owned */
};

/* $UNPLAIT_CACHE (a folder, or "off"), else $XDG_CACHE_HOME/unplait, else ~/.cache/unplait.
 * $UNPLAIT_CACHE_SIZE: megabytes. A folder that belongs to somebody else is not used. */
void cache_open(struct cache *c);
void cache_deinit(struct cache *c);

enum { CACHE_KEY = 33 }; /* hexadecimal, with its end */

/* What a result depends on, piece by piece. Begins with the cache's maker. */
struct cache_key {
	struct XXH3_state_s *state;
};

void cache_key_init(struct cache_key *k, const struct cache *c);
void cache_key_add(struct cache_key *k, const void *data, size_t len);
void cache_key_text(struct cache_key *k, const char *text); /* NULL is another text than "" */
void cache_key_number(struct cache_key *k, uint64_t n);
/* Frees the key. */
void cache_key_end(struct cache_key *k, char ret[CACHE_KEY]);

/* An entry in memory: some files with their names. cache_pack makes one of files that are called
 * `prefix` and their name; those that do not exist are left out; false: one cannot be read. */
bool cache_pack(const char *prefix, const char *const *names, size_t n, struct strbuf *ret);
/* One file of it, borrowed; false: it has none of that name. */
bool cache_file(const struct strbuf *pack, const char *name, const char **data, size_t *len);
/* Write its files, each as `prefix` and its name. */
bool cache_unpack(const struct strbuf *pack, const char *prefix);

/* False: there is no entry under this key. */
bool cache_get(const struct cache *c, const char *key, struct strbuf *ret);
void cache_put(const struct cache *c, const char *key, const struct strbuf *pack);

#endif
