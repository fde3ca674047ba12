/* cc/driver/cache.c - results of a link, kept by content.
 *
 * An entry is one file, DIR/ab/REST-OF-KEY: a zstd frame with a checksum. Inside, for each file, a
 * line `NAME SIZE` and its bytes. It is written beside its place and renamed, so a reader sees all of
 * it or nothing; two links that make the same entry write the same. Reading one touches it, and when
 * the entries are larger than the limit those that nobody has touched for longest go, until a fifth
 * is free. */
#include "cc/driver/cache.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cc/llvm.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

enum { DEFAULT_MEGABYTES = 2048 };
#define MAX_ENTRY (1ull << 31)

/* ---- keys ---- */

static void add_file(struct cache_key *k, const char *path)
{
	struct file_map m;
	struct err *err = file_map_open(path, &m);

	if (!err) {
		cache_key_add(k, m.data, m.len);
		file_map_close(&m);
	}
	err_free(err);
}

/* LLVM is too large to read: its version, and which file it is. */
static void add_llvm(struct cache_key *k)
{
	unsigned major, minor, patch;
	struct stat st;
	Dl_info info;

	LLVMGetVersion(&major, &minor, &patch);
	cache_key_number(k, (uint64_t)major << 32 | minor << 16 | patch);
	if (dladdr((void *)(uintptr_t)LLVMGetVersion, &info) && stat(info.dli_fname, &st) == 0) {
		cache_key_number(k, (uint64_t)st.st_size);
		cache_key_number(k, (uint64_t)st.st_mtim.tv_sec);
	}
}

static char *this_maker(void)
{
	char *ret = xcalloc(1, CACHE_KEY);
	struct cache_key k;

	cache_key_init(&k, NULL);
	add_file(&k, "/proc/self/exe");
	add_llvm(&k);
	cache_key_end(&k, ret);
	return ret;
}

void cache_key_init(struct cache_key *k, const struct cache *c)
{
	k->state = XXH3_createState();
	XXH3_128bits_reset(k->state);
	cache_key_text(k, c ? c->maker : NULL);
}

/* Its length, too: "a" and "bc" are not "ab" and "c". */
void cache_key_add(struct cache_key *k, const void *data, size_t len)
{
	uint64_t n = len;

	XXH3_128bits_update(k->state, &n, sizeof(n));
	XXH3_128bits_update(k->state, data, len);
}

void cache_key_text(struct cache_key *k, const char *text)
{
	cache_key_number(k, text != NULL);
	if (text)
		cache_key_add(k, text, strlen(text));
}

void cache_key_number(struct cache_key *k, uint64_t n)
{
	XXH3_128bits_update(k->state, &n, sizeof(n));
}

void cache_key_end(struct cache_key *k, char ret[CACHE_KEY])
{
	XXH128_hash_t h = XXH3_128bits_digest(k->state);

	snprintf(ret, CACHE_KEY, "%016llx%016llx", (unsigned long long)h.high64,
		 (unsigned long long)h.low64);
	XXH3_freeState(k->state);
	k->state = NULL;
}

/* ---- where ---- */

static char *default_dir(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (xdg && xdg[0] == '/')
		return xasprintf("%s/unplait", xdg);
	return home && home[0] == '/' ? xasprintf("%s/.cache/unplait", home) : NULL;
}

/* A user who may write there decides what code we link. */
static bool is_ours(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static void make_private(const char *dir)
{
	mode_t before = umask(077);

	err_free(file_make_dirs(dir));
	umask(before);
}

void cache_open(struct cache *c)
{
	const char *ask = getenv("UNPLAIT_CACHE"), *size = getenv("UNPLAIT_CACHE_SIZE");
	unsigned long long megabytes = size ? strtoull(size, NULL, 10) : DEFAULT_MEGABYTES;

	*c = (struct cache){ .limit = (megabytes ? megabytes : DEFAULT_MEGABYTES) << 20 };
	if (ask && (strcmp(ask, "off") == 0 || strcmp(ask, "0") == 0))
		return;
	c->dir = ask && *ask ? xstrdup(ask) : default_dir();
	if (!c->dir)
		return;
	make_private(c->dir);
	if (is_ours(c->dir))
		c->maker = this_maker();
	else
		cache_deinit(c);
}

void cache_deinit(struct cache *c)
{
	free(c->dir);
	free(c->maker);
	c->dir = c->maker = NULL;
}

static char *entry_path(const struct cache *c, const char *key)
{
	return xasprintf("%s/%.2s/%s", c->dir, key, key + 2);
}

/* ---- entries ---- */

/* The next file of an entry; false at the end, and where it does not make sense. */
static bool next_file(const struct strbuf *pack, size_t *pos, char name[64], size_t *len)
{
	const char *line = pack->data + *pos, *end;
	unsigned long long size;
	int used = 0;

	if (*pos >= pack->len)
		return false;
	end = memchr(line, '\n', MIN(pack->len - *pos, 128));
	if (!end || sscanf(line, "%63[a-z.] %llu%n", name, &size, &used) != 2 || line + used != end)
		return false;
	*pos += (size_t)(end + 1 - line);
	*len = (size_t)size;
	return size <= pack->len - *pos;
}

static bool unpack_entry(const struct strbuf *packed, struct strbuf *ret)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed->data, packed->len);

	if (size >= ZSTD_CONTENTSIZE_ERROR || size > MAX_ENTRY || !size)
		return false;
	strbuf_pad(ret, 0, size);
	return ZSTD_decompress(ret->data, size, packed->data, packed->len) == size;
}

bool cache_unpack(const struct strbuf *pack, const char *prefix)
{
	size_t pos = 0, len;
	char name[64];

	while (next_file(pack, &pos, name, &len)) {
		_cleanup_(xfreep) char *path = xasprintf("%s%s", prefix, name);
		struct err *err = file_write(path, pack->data + pos, len);

		if (err) {
			err_free(err);
			return false;
		}
		pos += len;
	}
	return pos == pack->len;
}

bool cache_get(const struct cache *c, const char *key, struct strbuf *ret)
{
	_cleanup_(xfreep) char *path = c->dir ? entry_path(c, key) : NULL;
	_cleanup_(strbuf_deinit) struct strbuf packed = { 0 };
	struct err *err = path ? file_read(path, &packed) : NULL;

	strbuf_clear(ret);
	if (!path || err) {
		err_free(err);
		return false;
	}
	if (!unpack_entry(&packed, ret)) {
		unlink(path); /* damaged */
		return false;
	}
	utimensat(AT_FDCWD, path, NULL, 0);
	return true;
}

bool cache_file(const struct strbuf *pack, const char *name, const char **data, size_t *len)
{
	size_t pos = 0;
	char here[64];

	while (next_file(pack, &pos, here, len)) {
		*data = pack->data + pos;
		if (strcmp(here, name) == 0)
			return true;
		pos += *len;
	}
	return false;
}

/* ---- making room ---- */

struct entry {
	char *path;
	uint64_t bytes;
	struct timespec used;
};
struct entries VEC_FIELDS(struct entry);

static void list_entries(const char *dir, int depth, struct entries *ret)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = xasprintf("%s/%s", dir, e->d_name);
		struct stat st;

		if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			struct entry entry = { path, (uint64_t)st.st_size, st.st_mtim };

			vec_push(ret, entry);
			continue;
		}
		if (e->d_name[0] != '.' && depth == 0)
			list_entries(path, 1, ret);
		free(path);
	}
	if (d)
		closedir(d);
}

static int by_age(const void *x, const void *y)
{
	const struct timespec *a = &((const struct entry *)x)->used,
			      *b = &((const struct entry *)y)->used;

	return a->tv_sec != b->tv_sec	  ? (a->tv_sec < b->tv_sec ? -1 : 1)
	       : a->tv_nsec != b->tv_nsec ? (a->tv_nsec < b->tv_nsec ? -1 : 1)
					  : 0;
}

static void make_room(const struct cache *c)
{
	struct entries all = { 0 };
	uint64_t bytes = 0;

	list_entries(c->dir, 0, &all);
	for (size_t i = 0; i < all.len; i++)
		bytes += all.data[i].bytes;
	if (bytes > c->limit) {
		qsort(all.data, all.len, sizeof(all.data[0]), by_age);
		for (size_t i = 0; i < all.len && bytes > c->limit / 5 * 4; i++)
			if (unlink(all.data[i].path) == 0)
				bytes -= all.data[i].bytes;
	}
	for (size_t i = 0; i < all.len; i++)
		free(all.data[i].path);
	vec_deinit(&all);
}

static void store(const struct cache *c, const char *key, const void *data, size_t len)
{
	_cleanup_(xfreep) char *path = entry_path(c, key);
	_cleanup_(xfreep) char *dir = xasprintf("%s/%.2s", c->dir, key);
	struct err *err;

	make_private(dir);
	err = file_write(path, data, len);
	if (!err)
		make_room(c);
	err_free(err);
}

bool cache_pack(const char *prefix, const char *const *names, size_t n, struct strbuf *ret)
{
	strbuf_clear(ret);
	for (size_t i = 0; i < n; i++) {
		_cleanup_(xfreep) char *path = xasprintf("%s%s", prefix, names[i]);
		_cleanup_(strbuf_deinit) struct strbuf data = { 0 };
		struct err *err;

		if (!file_exists(path))
			continue;
		err = file_read(path, &data);
		if (err) {
			err_free(err);
			return false;
		}
		strbuf_addf(ret, "%s %zu\n", names[i], data.len);
		strbuf_add(ret, data.data, data.len);
	}
	return true;
}

void cache_put(const struct cache *c, const char *key, const struct strbuf *pack)
{
	_cleanup_(strbuf_deinit) struct strbuf packed = { 0 };
	ZSTD_CCtx *zstd;
	size_t len;

	if (!c->dir || !pack->len || pack->len > MAX_ENTRY)
		return;
	strbuf_pad(&packed, 0, ZSTD_compressBound(pack->len));
	zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	len = ZSTD_compress2(zstd, packed.data, packed.len, pack->data, pack->len);
	ZSTD_freeCCtx(zstd);
	if (!ZSTD_isError(len))
		store(c, key, packed.data, len);
}
