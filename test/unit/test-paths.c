/* test/unit/test-paths.c - the path store against a linear scan, on a disk that fails, and damaged. */
#include "base/db.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "predict/paths.h"
#include "test/unit/faulty-disk.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(paths, .init = faulty_disk_enter, .fini = faulty_disk_leave);

/* ---- runs that nobody has made ---- */

enum { THREADS = 3, MOST_BITS = 12 };
static const char *const names[THREADS] = { "0", "0.1", "0.2" };
static const char *const keys[] = { "one\n", "two\n" };

struct made {
	struct strbuf bits[THREADS];
	char bytes[32];
	struct file_map file;
	struct paths_new new;
};

/* The i-th run; equal numbers make equal ones, and two thirds of the rest have equal paths too. */
static void make(struct made *m, uint64_t i)
{
	uint64_t h = hash_u64(i / 3 + 1);

	*m = (struct made){ 0 };
	for (unsigned t = 0; t < THREADS; t++) {
		unsigned n = (unsigned)(hash_u64(h + t) % (MOST_BITS + 1));

		for (unsigned k = 0; k < n; k++)
			strbuf_addc(&m->bits[t], hash_u64(h + t) >> (8 + k) & 1 ? '1' : '0');
	}
	snprintf(m->bytes, sizeof(m->bytes), "run %llu", (unsigned long long)i);
	m->file = (struct file_map){ (const uint8_t *)m->bytes, strlen(m->bytes), false };
	m->new = (struct paths_new){ .key = keys[i / 3 % 2],
				     .digest = h,
				     .bytes = &m->file,
				     .nthreads = THREADS,
				     .threads = names,
				     .bits = m->bits };
}

static void made_deinit(struct made *m)
{
	for (unsigned t = 0; t < THREADS; t++)
		strbuf_deinit(&m->bits[t]);
}

static struct err *add(const char *path, uint64_t n)
{
	struct paths *s = NULL;
	struct err *err = paths_open(path, &s);

	if (!err)
		err = paths_begin(s);
	if (!err) {
		for (uint64_t i = 0; i < n && !err; i++) {
			struct made m;

			make(&m, i);
			err = paths_put(s, &m.new);
			made_deinit(&m);
		}
		err = paths_end(s, err);
	}
	paths_close(s);
	return err;
}

static const char *say(struct err *err)
{
	return err ? err_message(err) : "";
}

/* How many recordings are counted, of both keys. */
static uint64_t count(const char *path)
{
	struct paths *s = NULL;
	struct err *err = paths_open(path, &s);
	uint64_t n = 0;

	cr_assert_null(err, "%s", say(err));
	for (unsigned k = 0; k < 2; k++) {
		struct paths_runs runs = { 0 };

		err = paths_runs(s, keys[k], &runs);
		cr_assert_null(err, "%s", say(err));
		for (size_t i = 0; i < runs.len; i++)
			n += runs.data[i].runs;
		paths_runs_deinit(&runs);
	}
	paths_close(s);
	return n;
}

/* ---- against a linear scan ---- */

static int by_length(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t lx = strlen(x), ly = strlen(y);

	return lx != ly ? (lx < ly ? -1 : 1) : strcmp(x, y);
}

/* All different paths that begin so, the shortest first. */
static void scan(uint64_t n, const char *key, unsigned thread, const char *prefix,
		 struct paths_texts *ret)
{
	for (uint64_t i = 0; i < n; i++) {
		struct made m;
		const char *bits;
		bool known = false;

		make(&m, i);
		bits = strbuf_str(&m.bits[thread]);
		for (size_t k = 0; k < ret->len; k++)
			known |= strcmp(ret->data[k], bits) == 0;
		if (!known && strcmp(m.new.key, key) == 0 &&
		    strncmp(bits, prefix, strlen(prefix)) == 0)
			vec_push(ret, xstrdup(bits));
		made_deinit(&m);
	}
	vec_sort(ret, by_length);
}

Test(paths, finds_what_a_scan_finds)
{
	enum { RUNS = 300 };
	struct paths *s = NULL;
	struct err *err = add("store", RUNS);

	cr_assert_null(err, "%s", say(err));
	cr_assert_null(paths_open("store", &s));
	for (uint64_t i = 0; i < 400; i++) {
		struct paths_texts want = { 0 }, got = { 0 };
		const char *key = keys[i % 2];
		unsigned thread = (unsigned)(hash_u64(i) % THREADS);
		size_t most = hash_u64(i) >> 8 & 7;
		char prefix[8] = "";

		for (unsigned k = 0; k < i % 7; k++)
			prefix[k] = hash_u64(i) >> (20 + k) & 1 ? '1' : '0';
		scan(RUNS, key, thread, prefix, &want);
		err = paths_find(s, key, names[thread], prefix, most, &got);
		cr_assert_null(err, "%s", say(err));
		cr_assert_eq(got.len, MIN(want.len, most), "%zu, not %zu of %zu", got.len, want.len,
			     most);
		for (size_t k = 0; k < got.len; k++)
			cr_assert_str_eq(got.data[k], want.data[k]);
		paths_texts_deinit(&want);
		paths_texts_deinit(&got);
	}
	paths_close(s);
}

Test(paths, equal_runs_are_counted_and_equal_files_are_not)
{
	struct paths *s = NULL;
	struct paths_runs runs = { 0 };
	struct made m;

	cr_assert_null(add("store", 30));
	cr_assert_null(add("store", 30));
	cr_assert_eq(count("store"), 30);
	cr_assert_null(paths_open("store", &s));
	make(&m, 30);
	m.new.ours = true;
	cr_assert_null(paths_put(s, &m.new));
	cr_assert_null(paths_runs(s, m.new.key, &runs));
	cr_assert_eq(runs.len, 6);
	cr_assert_eq(runs.data[0].runs, 3);
	cr_assert_eq(runs.data[5].runs, 0);
	cr_assert(file_exists(runs.data[5].plait));
	made_deinit(&m);
	paths_runs_deinit(&runs);
	paths_close(s);
}

/* ---- when something goes wrong ---- */

static void copy(const char *from, const char *to)
{
	struct file_map m;

	cr_assert_null(file_map_open(from, &m));
	cr_assert_null(file_write(to, m.data, m.len));
	file_map_close(&m);
}

static void try_every_failure(bool stays)
{
	long n = 0;

	cr_assert_null(add("store", 20));
	copy("store/paths.db", "old.db");
	for (;; n++) {
		struct err *err;
		uint64_t held;

		unlink("store/paths.db-journal");
		copy("old.db", "store/paths.db");
		faulty_disk.failed = false;
		faulty_disk.left = n;
		faulty_disk.stays = stays;
		err = add("store", 90);
		faulty_disk.left = -1;
		held = count("store");
		cr_assert(held == 20 || held == 90, "failure %ld leaves %llu", n,
			  (unsigned long long)held);
		cr_assert(err || held == 90, "failure %ld was not noticed", n);
		err_free(err);
		err = add("store", 90);
		cr_assert_null(err, "%s", say(err));
		cr_assert_eq(count("store"), 90);
		if (!faulty_disk.failed)
			break;
	}
	cr_assert_gt(n, 5);
}

Test(paths, is_old_or_new_when_one_write_fails)
{
	try_every_failure(false);
}

Test(paths, is_old_or_new_when_the_disk_is_full)
{
	try_every_failure(true);
}

/* Whatever the damage: it is told, or the store is made again and can be used. */
Test(paths, is_made_again_when_it_is_torn)
{
	struct file_map good;
	unsigned torn = 0;

	cr_assert_null(add("store", 60));
	copy("store/paths.db", "good.db");
	cr_assert_null(file_map_open("good.db", &good));
	for (uint64_t i = 0; i < 200; i++) {
		uint8_t *bad = xmalloc(good.len);
		size_t len = i % 2 ? good.len : hash_u64(i) % good.len;
		struct paths *s = NULL;
		struct err *err;

		memcpy(bad, good.data, good.len);
		for (unsigned k = 0; k < 20; k++)
			bad[hash_u64(i * 100 + k) % good.len] ^= (uint8_t)hash_u64(i + k);
		cr_assert_null(file_write("store/paths.db", bad, len));
		free(bad);
		err = paths_open("store", &s);
		if (!err) {
			torn += paths_was_torn(s);
			paths_close(s);
			err = add("store", 60);
		}
		cr_assert(!err || strstr(err_message(err), "store"), "%s", say(err));
		err_free(err);
	}
	file_map_close(&good);
	cr_assert_gt(torn, 20);
}

static struct err *open_changed(const char *sql, bool *torn)
{
	struct paths *s = NULL;
	struct db db;
	struct err *err;

	file_remove_tree("changed");
	cr_assert_null(add("changed", 9));
	cr_assert_null(db_open(&db, "changed/paths.db", sql));
	db_close(&db);
	err = paths_open("changed", &s);
	*torn = s && paths_was_torn(s);
	paths_close(s);
	return err;
}

Test(paths, other_versions_are_left_alone_and_other_tables_are_not)
{
	bool torn;
	struct err *err = open_changed("PRAGMA user_version = 2", &torn);

	cr_assert(err && strstr(err_message(err), "another version"), "%s", say(err));
	err_free(err);
	cr_assert_null(open_changed("DROP TABLE path", &torn));
	cr_assert(torn);
	cr_assert_null(open_changed("CREATE TRIGGER t AFTER INSERT ON file BEGIN DELETE FROM run; "
				    "END",
				    &torn));
	cr_assert(torn);
}

Test(paths, a_path_that_is_none_is_refused)
{
	struct paths_texts got = { 0 };
	struct paths *s = NULL;
	struct db db;
	struct err *err;

	cr_assert_null(add("store", 9));
	cr_assert_null(db_open(&db, "store/paths.db", "UPDATE path SET bits = '01x' || bits"));
	db_close(&db);
	cr_assert_null(paths_open("store", &s));
	err = paths_find(s, keys[0], "0", "", 9, &got);
	cr_assert(err && strstr(err_message(err), "no string of bits"), "%s", say(err));
	err_free(err);
	paths_texts_deinit(&got);
	paths_close(s);
}
