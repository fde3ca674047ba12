/* test/unit/test-coop-store.c - a store of logs when the disk is full, and when it is damaged.
 *
 * As SQLite tests itself: a file system that fails at its n-th write, for every n. Afterwards the
 * store must hold what it held before, or everything that was added, and what the call said must be
 * true. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "coop/coop.h"
#include "coop/store.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- a file system that fails ---- */

static struct {
	sqlite3_vfs *real;
	sqlite3_vfs vfs;
	long left;  /* operations that still work; < 0: all do */
	bool stays; /* later ones fail too: a disk that is full stays full */
	bool failed;
} faulty;

struct faulty_file {
	sqlite3_file base;
	sqlite3_file *real; /* behind this struct */
};

static sqlite3_file *real_of(sqlite3_file *f)
{
	return ((struct faulty_file *)f)->real;
}

static bool fails(void)
{
	if (faulty.left < 0)
		return false;
	if (faulty.left > 0) {
		faulty.left--;
		return false;
	}
	faulty.failed = true;
	if (!faulty.stays)
		faulty.left = -1;
	return true;
}

static int f_close(sqlite3_file *f)
{
	return real_of(f)->pMethods ? real_of(f)->pMethods->xClose(real_of(f)) : SQLITE_OK;
}

static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}

static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	if (fails()) { /* half of it arrives */
		real_of(f)->pMethods->xWrite(real_of(f), p, n / 2, at);
		return SQLITE_FULL;
	}
	return real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
}

static int f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return fails() ? SQLITE_IOERR_TRUNCATE : real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int f_sync(sqlite3_file *f, int flags)
{
	(void)f, (void)flags; /* the machine does not crash in this test */
	return fails() ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int f_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	return real_of(f)->pMethods->xFileSize(real_of(f), ret);
}

static int f_lock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int f_unlock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int f_reserved(sqlite3_file *f, int *ret)
{
	return real_of(f)->pMethods->xCheckReservedLock(real_of(f), ret);
}

static int f_control(sqlite3_file *f, int op, void *arg)
{
	(void)f, (void)op, (void)arg;
	return SQLITE_NOTFOUND;
}

static int f_sector(sqlite3_file *f)
{
	return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int f_device(sqlite3_file *f)
{
	return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = f_close,
	.xRead = f_read,
	.xWrite = f_write,
	.xTruncate = f_truncate,
	.xSync = f_sync,
	.xFileSize = f_size,
	.xLock = f_lock,
	.xUnlock = f_unlock,
	.xCheckReservedLock = f_reserved,
	.xFileControl = f_control,
	.xSectorSize = f_sector,
	.xDeviceCharacteristics = f_device,
};

static int v_open(sqlite3_vfs *v, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
	struct faulty_file *x = (void *)f;

	(void)v;
	x->real = (sqlite3_file *)(x + 1);
	x->base.pMethods = NULL;
	if ((flags & SQLITE_OPEN_CREATE) && fails())
		return SQLITE_CANTOPEN;
	x->base.pMethods = &methods;
	return faulty.real->xOpen(faulty.real, name, x->real, flags, out);
}

static int v_delete(sqlite3_vfs *v, const char *name, int sync)
{
	(void)v, (void)sync;
	return fails() ? SQLITE_IOERR_DELETE : faulty.real->xDelete(faulty.real, name, 0);
}

static void faulty_init(void)
{
	faulty.real = sqlite3_vfs_find(NULL);
	faulty.vfs = *faulty.real;
	faulty.vfs.zName = "faulty";
	faulty.vfs.iVersion = 1;
	faulty.vfs.szOsFile += (int)sizeof(struct faulty_file);
	faulty.vfs.xOpen = v_open;
	faulty.vfs.xDelete = v_delete;
	faulty.left = -1;
	sqlite3_vfs_register(&faulty.vfs, 1);
}

/* ---- logs ---- */

static char *folder;

static void in_folder(void)
{
	cr_assert_null(file_temp_dir(&folder));
	cr_assert_eq(chdir(folder), 0);
	faulty_init();
}

static void out_of_folder(void)
{
	file_remove_tree(folder);
	free(folder);
}

TestSuite(coop_store, .init = in_folder, .fini = out_of_folder);

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
		faulty.failed = false;
		faulty.left = n;
		faulty.stays = stays;
		err = add("logs.db", 0, 40, &added);
		faulty.left = -1;
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
		if (!faulty.failed)
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
		faulty.failed = false;
		faulty.left = n;
		faulty.stays = true;
		err = add("new.db", 0, 10, &added);
		faulty.left = -1;
		held = count("new.db");
		cr_assert(held == 0 || held == 10, "failure %ld leaves %u logs", n, held);
		cr_assert(err || held == 10);
		err_free(err);
		if (!faulty.failed)
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
