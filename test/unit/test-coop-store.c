/* test/unit/test-coop-store.c - a store of logs when the disk is full, and when it is damaged.
 * After a failed write (faulty-disk.h) the store must hold what it held before, or everything that was
 * added, and what the call said must be true. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "coop/coop.h"
#include "coop/store.h"
#include "test/unit/faulty-disk.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- logs ---- */

TestSuite(coop_store, .init = faulty_disk_enter, .fini = faulty_disk_leave);

/* n logs from `first` on; each has vectors of its own. */
static void make_logs(struct coop *c, uint32_t first, uint32_t n)
{
	snprintf(c->build, sizeof(c->build), "0123456789");
	c->mode = 1;
	for (uint32_t i = first; i < first + n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "log %u", i);
		coop_begin_log(c, name, i % 3 ? "assert: x" : NULL);
		for (uint32_t e = 0; e < 3; e++) {
			struct coop_run runs[64];

			names_intern(&c->threads, "0");
			names_intern(&c->threads, "0.1");
			for (uint32_t r = 0; r < 64; r++)
				runs[r] = (struct coop_run){ r % 2, 1 + i * 7 + e + r };
			coop_add(c, coop_element(c, 100 + e, "x"), runs, 64);
		}
		cr_assert(coop_end_log(c));
	}
}

static struct err *add(const char *path, uint32_t first, uint32_t n, uint64_t *added)
{
	struct coop_store *s = NULL;
	struct coop c = { 0 };
	struct err *err;

	*added = 0;
	make_logs(&c, first, n);
	err = coop_store_open(path, &s);
	if (!err)
		err = coop_store_add(s, &c, added);
	coop_store_close(s);
	coop_deinit(&c);
	return err;
}

static struct err *load(const char *path, struct coop *ret)
{
	struct coop_store *s = NULL;
	struct err *err = coop_store_open(path, &s);

	if (!err)
		err = coop_store_load(s, ret);
	coop_store_close(s);
	return err;
}

/* The store holds exactly the first n logs, as they were. */
static void check_holds(const char *path, uint32_t n)
{
	struct coop got = { 0 }, want = { 0 };
	struct err *err = load(path, &got);

	cr_assert_null(err, "%s", err ? err_message(err) : "");
	make_logs(&want, 0, n);
	cr_assert_eq(got.logs.len, n, "%zu logs, not %u", got.logs.len, n);
	for (uint32_t i = 0; i < n; i++) {
		cr_assert_str_eq(got.logs.data[i].name, want.logs.data[i].name);
		cr_assert_eq(got.logs.data[i].n, 3);
		cr_assert_eq(got.logs.data[i].signature == COOP_NONE, i % 3 == 0);
		for (uint32_t e = 0; e < 3; e++) {
			const struct coop_vector *a =
				&got.vectors.data[coop_entries(&got, i)[e].vector];
			const struct coop_vector *b =
				&want.vectors.data[coop_entries(&want, i)[e].vector];

			cr_assert_eq(a->nruns, b->nruns);
			cr_assert_arr_eq(a->runs, b->runs, a->nruns * sizeof(*a->runs));
		}
	}
	coop_deinit(&got);
	coop_deinit(&want);
}

static uint32_t count(const char *path)
{
	struct coop got = { 0 };
	struct err *err = load(path, &got);
	uint32_t n = (uint32_t)got.logs.len;

	cr_assert_null(err, "%s", err ? err_message(err) : "");
	coop_deinit(&got);
	return n;
}

Test(coop_store, logs_come_back_and_are_added_once)
{
	uint64_t added;

	cr_assert_null(add("logs.db", 0, 5, &added));
	cr_assert_eq(added, 5);
	cr_assert_null(add("logs.db", 0, 8, &added));
	cr_assert_eq(added, 3);
	check_holds("logs.db", 8);
}

static void copy(const char *from, const char *to)
{
	struct file_map m;

	cr_assert_null(file_map_open(from, &m));
	cr_assert_null(file_write(to, m.data, m.len));
	file_map_close(&m);
}

/* Add to a store of 20 logs, with a failure at each operation in turn. */
static void try_every_failure(bool stays)
{
	uint64_t added;
	long n = 0;

	cr_assert_null(add("old.db", 0, 20, &added));
	for (;; n++) {
		struct err *err;
		uint32_t held;

		unlink("logs.db-journal");
		copy("old.db", "logs.db");
		faulty_disk.failed = false;
		faulty_disk.left = n;
		faulty_disk.stays = stays;
		err = add("logs.db", 0, 40, &added);
		faulty_disk.left = -1;
		held = count("logs.db");
		cr_assert(held == 20 || held == 40, "failure %ld leaves %u logs", n, held);
		if (!err)
			cr_assert(held == 40 && added == 20, "failure %ld was not noticed", n);
		if (err)
			cr_assert_eq(added, 0);
		err_free(err);
		check_holds("logs.db", held);
		/* and the next attempt completes it */
		err = add("logs.db", 0, 40, &added);
		cr_assert_null(err, "%s", err ? err_message(err) : "");
		check_holds("logs.db", 40);
		if (!faulty_disk.failed)
			break;
	}
	cr_assert_gt(n, 10);
}

Test(coop_store, is_old_or_new_when_one_write_fails)
{
	try_every_failure(false);
}

Test(coop_store, is_old_or_new_when_the_disk_is_full)
{
	try_every_failure(true);
}

Test(coop_store, a_new_store_on_a_full_disk_is_empty_or_whole)
{
	for (long n = 0;; n++) {
		uint64_t added;
		struct err *err;
		uint32_t held;

		unlink("new.db");
		unlink("new.db-journal");
		faulty_disk.failed = false;
		faulty_disk.left = n;
		faulty_disk.stays = true;
		err = add("new.db", 0, 10, &added);
		faulty_disk.left = -1;
		held = count("new.db");
		cr_assert(held == 0 || held == 10, "failure %ld leaves %u logs", n, held);
		cr_assert(err || held == 10);
		err_free(err);
		if (!faulty_disk.failed)
			break;
	}
}

static void sql(const char *path, const char *text)
{
	char *why = NULL;
	sqlite3 *db;

	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, text, NULL, NULL, &why);
	cr_assert_null(why, "%s", why);
	sqlite3_close(db);
}

static void check_refused(const char *text, const char *want)
{
	struct coop c = { 0 };
	uint64_t added;
	struct err *err;

	unlink("bad.db");
	cr_assert_null(add("bad.db", 0, 3, &added));
	sql("bad.db", text);
	err = load("bad.db", &c);
	coop_deinit(&c);
	if (want)
		cr_assert(err && strstr(err_message(err), want), "%s: %s", text,
			  err ? err_message(err) : "accepted");
	else
		cr_assert_null(err);
	err_free(err);
}

Test(coop_store, columns_that_nobody_filled)
{
	check_refused("UPDATE log SET name = NULL", NULL);
	check_refused("UPDATE thread SET name = NULL", NULL);
	check_refused("UPDATE element SET name = NULL", NULL);
	check_refused("UPDATE meta SET value = NULL", NULL);
	check_refused("UPDATE log SET entries = NULL", NULL);
	check_refused("UPDATE vector SET runs = NULL", NULL);
	check_refused("UPDATE log SET entries = 17", NULL);
	check_refused("DELETE FROM vector", "a log names a vector that is not there");
	check_refused("DELETE FROM thread", "a vector names a thread that never was");
	check_refused("UPDATE log SET entries = CAST(entries || entries AS BLOB)",
		      "two vectors for one element");
	check_refused("DROP TABLE log; CREATE VIEW log AS WITH RECURSIVE r(x) AS (SELECT 1 UNION "
		      "ALL SELECT x FROM r) SELECT x AS id, 'a' AS name, 'b' AS signature, x'' AS "
		      "entries FROM r",
		      "it holds more than tables");
	check_refused("CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM log; END",
		      "it holds more than tables");
	check_refused("UPDATE vector SET runs = CAST(replace(hex(zeroblob(8192)), '00', "
		      "x'01000000ffffffff') AS BLOB)",
		      "its vectors are too long");
	check_refused("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
		      "9000) INSERT INTO thread (name) SELECT 'x' || i FROM n",
		      "there are too many threads");
}
