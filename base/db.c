/* base/db.c - SQLite files: see db.h. */
#include "base/db.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>

enum { BUSY_MILLISECONDS = 60000 }; /* others may be adding too */

struct err *db_error(const struct db *db)
{
	int code = sqlite3_errcode(db->handle) & 0xff, system = sqlite3_system_errno(db->handle);

	if (system && (code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_FULL))
		return err_errno(system, "%s: %s", db->path, sqlite3_errmsg(db->handle));
	return err_new(ERR_ENV, "%s: %s", db->path, sqlite3_errmsg(db->handle));
}

struct err *db_damaged(const struct db *db, const char *what)
{
	return err_new(ERR_ENV, "%s is damaged: %s", db->path, what);
}

bool db_is_torn(const struct db *db)
{
	int code = sqlite3_errcode(db->handle) & 0xff;

	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
}

/* ---- statements ---- */

struct err *db_run(struct db *db, const char *sql)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL : db_error(db);
}

void db_finalizep(sqlite3_stmt **q)
{
	sqlite3_finalize(*q);
}

struct err *db_prepare(struct db *db, const char *sql, sqlite3_stmt **ret)
{
	return sqlite3_prepare_v2(db->handle, sql, -1, ret, NULL) == SQLITE_OK ? NULL
									       : db_error(db);
}

struct err *db_next_row(struct db *db, sqlite3_stmt *q, bool *ret)
{
	int code = sqlite3_step(q);

	*ret = code == SQLITE_ROW;
	return code == SQLITE_ROW || code == SQLITE_DONE ? NULL : db_error(db);
}

struct err *db_execute(struct db *db, sqlite3_stmt *q)
{
	struct err *err = sqlite3_step(q) == SQLITE_DONE ? NULL : db_error(db);

	sqlite3_reset(q);
	return err;
}

struct err *db_number(struct db *db, sqlite3_stmt *q, sqlite3_int64 *ret)
{
	bool row;
	struct err *err = db_next_row(db, q, &row);

	if (!err && !row)
		err = db_damaged(db, "a row is missing");
	if (!err)
		*ret = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	return err;
}

const char *db_text(sqlite3_stmt *q, int column)
{
	const char *text = (const char *)sqlite3_column_text(q, column);

	return text ? text : "";
}

/* ---- open ---- */

/* A view or a trigger would run somebody's SQL in place of ours, perhaps without an end. */
static struct err *check_schema(struct db *db)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	sqlite3_int64 n = 0;
	struct err *err =
		db_prepare(db,
			   "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', "
			   "'index') OR sql LIKE 'CREATE VIRTUAL%'",
			   &q);

	if (!err)
		err = db_number(db, q, &n);
	db->torn = !err && n;
	return db->torn ? db_damaged(db, "it holds more than tables") : err;
}

struct err *db_open(struct db *db, const char *path, const char *schema)
{
	struct err *err;

	*db = (struct db){ .path = xstrdup(path) };
	err = sqlite3_open(path, &db->handle) == SQLITE_OK ? NULL : db_error(db);
	if (!err)
		sqlite3_busy_timeout(db->handle, BUSY_MILLISECONDS);
	if (!err)
		err = db_run(db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; "
				 "PRAGMA synchronous=FULL");
	if (!err)
		err = check_schema(db);
	if (!err)
		err = db_run(db, schema);
	if (err) {
		bool torn = db->torn || db_is_torn(db);

		db_close(db);
		db->torn = torn;
	}
	return err;
}

void db_close(struct db *db)
{
	sqlite3_close(db->handle);
	free(db->path);
	*db = (struct db){ 0 };
}

/* ---- transactions ---- */

struct err *db_begin(struct db *db)
{
	return db_run(db, "BEGIN IMMEDIATE");
}

struct err *db_end(struct db *db, struct err *err)
{
	if (!err)
		err = db_run(db, "COMMIT");
	if (err && !sqlite3_get_autocommit(db->handle))
		err_free(db_run(db, "ROLLBACK"));
	return err;
}
