/* cc/driver/cache.c: entries come back as they were or not at all, and there is a limit. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cc/driver/cache.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *folder;

static void setup(void)
{
	cr_assert_null(file_temp_dir(&folder));
}

static void teardown(void)
{
	file_remove_tree(folder);
	free(folder);
}

static struct cache fresh(uint64_t limit)
{
	return (struct cache){ .dir = xasprintf("%s/cache", folder), .limit = limit };
}

static char *in(const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

static void write_file(const char *name, const char *data, size_t len)
{
	char *path = in(name);

	cr_assert_null(file_write(path, data, len));
	free(path);
}

static void key_of(const char *text, char ret[CACHE_KEY])
{
	struct cache_key k;

	cache_key_init(&k, NULL);
	cache_key_text(&k, text);
	cache_key_end(&k, ret);
}

static void put(const struct cache *c, const char *key, const char *prefix,
		const char *const *names, size_t n)
{
	struct strbuf pack = { 0 };

	cr_assert(cache_pack(prefix, names, n, &pack));
	cache_put(c, key, &pack);
	strbuf_deinit(&pack);
}

static bool get(const struct cache *c, const char *key, const char *prefix)
{
	struct strbuf pack = { 0 };
	bool ok = cache_get(c, key, &pack) && cache_unpack(&pack, prefix);

	strbuf_deinit(&pack);
	return ok;
}

static const char *const two[] = { "a.o", "b.o", "absent.o" };

Test(cc_cache, comes_back, .init = setup, .fini = teardown)
{
	struct cache c = fresh(1 << 20);
	char key[CACHE_KEY], other[CACHE_KEY], *from = in("x-"), *to = in("y-"),
					       *path = in("y-b.o");
	struct strbuf got = { 0 };

	key_of("one", key);
	key_of("two", other);
	cr_assert_str_neq(key, other);
	write_file("x-a.o", "", 0);
	write_file("x-b.o", "some\nbytes\0more", 15);
	cr_assert(!get(&c, key, to));
	put(&c, key, from, two, 3);
	cr_assert(!get(&c, other, to));
	cr_assert(get(&c, key, to));
	cr_assert_null(file_read(path, &got));
	cr_assert_eq(got.len, 15);
	cr_assert_arr_eq(got.data, "some\nbytes\0more", 15);
	strbuf_deinit(&got);
	cache_deinit(&c);
	free(from);
	free(to);
	free(path);
}

/* Every single changed byte and every length is noticed. */
Test(cc_cache, damage, .init = setup, .fini = teardown)
{
	struct cache c = fresh(1 << 20);
	char key[CACHE_KEY], *from = in("x-"), *to = in("y-"), *entry;
	struct strbuf good = { 0 };

	key_of("one", key);
	write_file("x-a.o", "0123456789", 10);
	put(&c, key, from, two, 1);
	entry = xasprintf("%s/%.2s/%s", c.dir, key, key + 2);
	cr_assert_null(file_read(entry, &good));
	for (size_t i = 0; i < good.len; i++) {
		good.data[i] ^= 0x41;
		cr_assert_null(file_write(entry, good.data, good.len));
		good.data[i] ^= 0x41;
		if (!get(&c, key, to))
			continue;
		/* a bit that the format ignores: the content is right all the same */
		struct strbuf got = { 0 };
		char *path = in("y-a.o");

		cr_assert_null(file_read(path, &got));
		cr_assert_eq(got.len, 10);
		cr_assert_arr_eq(got.data, "0123456789", 10, "byte %zu", i);
		strbuf_deinit(&got);
		free(path);
	}
	for (size_t len = 0; len < good.len; len++) {
		cr_assert_null(file_write(entry, good.data, len));
		cr_assert(!get(&c, key, to), "%zu bytes", len);
	}
	strbuf_deinit(&good);
	cache_deinit(&c);
	free(entry);
	free(from);
	free(to);
}

static uint64_t bytes_in(const char *dir)
{
	uint64_t all = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		char *path = xasprintf("%s/%s", dir, e->d_name);
		struct stat st;

		if (e->d_name[0] != '.' && stat(path, &st) == 0)
			all += S_ISDIR(st.st_mode) ? bytes_in(path) : (uint64_t)st.st_size;
		free(path);
	}
	if (d)
		closedir(d);
	return all;
}

/* The limit holds after every entry, and the one just made is among those that stay. */
Test(cc_cache, limit, .init = setup, .fini = teardown)
{
	struct cache c = fresh(20000);
	char key[CACHE_KEY], *from = in("x-"), *to = in("y-");
	char noise[3000];

	srand(1);
	for (int i = 0; i < 40; i++) {
		char text[8];

		for (size_t k = 0; k < sizeof(noise); k++)
			noise[k] = (char)rand();
		write_file("x-a.o", noise, sizeof(noise));
		snprintf(text, sizeof(text), "%d", i);
		key_of(text, key);
		put(&c, key, from, two, 1);
		cr_assert_leq(bytes_in(c.dir), c.limit);
		cr_assert(get(&c, key, to), "entry %d", i);
	}
	key_of("0", key);
	cr_assert(!get(&c, key, to));
	cache_deinit(&c);
	free(from);
	free(to);
}
