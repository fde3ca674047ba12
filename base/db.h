/* base/db.h - SQLite files: errors as values, transactions, and no trust in what is inside.
 *
 *	struct db db;
 *	err = db_open(&db, "logs.db", schema);
 *	err = db_begin(&db);
 *	err = db_end(&db, err_of_what_was_done);      all of it, or nothing
 *	db_close(&db);
 *
 * A file may come from a stranger: views and triggers are refused. Whoever reads a column checks it. */
#ifndef BASE_DB_H
#define BASE_DB_H

#include <sqlite3.h>
#include <stdbool.h>

struct err;

struct db {
	sqlite3 *handle;
	char *path;
	bool torn; /* it could not be opened, and the reason is what it holds */
};

/* Opens or creates; schema: statements that may be run on an open one, too (IF NOT EXISTS). */
struct err *db_open(struct db *db, const char *path, const char *schema);
void db_close(struct db *db); /* all zero is fine */

/* What SQLite says about the last call, and the system's reason where there is one. */
struct err *db_error(const struct db *db);
struct err *db_damaged(const struct db *db, const char *what);
/* Did the last call fail for what the file holds, and not for what the system did? */
bool db_is_torn(const struct db *db);

struct err *db_run(struct db *db, const char *sql);
struct err *db_prepare(struct db *db, const char *sql, sqlite3_stmt **ret);
void db_finalizep(sqlite3_stmt **q); /* for _cleanup_ */
/* *ret: there is a row. */
struct err *db_next_row(struct db *db, sqlite3_stmt *q, bool *ret);
/* Run a statement to its end, and make it ready for the next time. */
struct err *db_execute(struct db *db, sqlite3_stmt *q);
/* The number in the first column of the only row; an error when there is no row. */
struct err *db_number(struct db *db, sqlite3_stmt *q, sqlite3_int64 *ret);
/* NULL and "" are the same. */
const char *db_text(sqlite3_stmt *q, int column);

struct err *db_begin(struct db *db);
/* Takes the error of what was done since db_begin, if any: then nothing of it was done. */
struct err *db_end(struct db *db, struct err *err);

#endif
