/* predict/paths.c - paths of many recordings, kept between commands: see paths.h.
 *
 * A thread's path is stored once, under its name and its text; SQLite's index over (key, thread,
 * text) is the prefix tree of 000 section 5.2.1: all paths behind a prefix are neighbours in it. A run
 * is a set of such paths and is known by its digest (digest.c), so equal recordings cost a count.
 *
 * What is worth keeping are the plaits. paths.db can be made again from them: where it is missing
 * or torn that is done, and only the counts are lost. A plait is there before its row is: a writer
 * that is killed leaves a file that nobody names, and the next one writes it again. */
#define LOG_DOMAIN "predict"
#include "predict/paths.h"

#include "base/db.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "predict/digest.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { STORE_VERSION = 1 };

struct paths {
	struct db db;
	char *folder;
	bool torn;	 /* it was made again */
	bool unfinished; /* what is in runs/ has to be added */
	sqlite3_stmt *put_file, *find_run, *put_run, *count_run, *put_path;
};

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS program (id INTEGER PRIMARY KEY, key TEXT UNIQUE);"
	"CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, program INTEGER, digest INTEGER,"
	" runs INTEGER, UNIQUE (program, digest));"
	"CREATE TABLE IF NOT EXISTS file (hash INTEGER PRIMARY KEY);"
	"CREATE TABLE IF NOT EXISTS path (program INTEGER, thread TEXT, bits TEXT,"
	" PRIMARY KEY (program, thread, bits)) WITHOUT ROWID;";

void paths_runs_deinit(struct paths_runs *r)
{
	for (size_t i = 0; i < r->len; i++)
		free(r->data[i].plait);
	vec_deinit(r);
}

void paths_texts_deinit(struct paths_texts *t)
{
	for (size_t i = 0; i < t->len; i++)
		free(t->data[i]);
	vec_deinit(t);
}

/* ---- opening ---- */

static struct err *version_of(struct paths *s, sqlite3_int64 *ret)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&s->db, "PRAGMA user_version", &q);

	return err ? err : db_number(&s->db, q, ret);
}

/* Every page, not only those that come up. *torn: they do not fit together. */
static struct err *check_pages(struct paths *s, bool *torn)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&s->db, "PRAGMA quick_check(1)", &q);
	bool row = false;

	if (!err)
		err = db_next_row(&s->db, q, &row);
	*torn = !err && (!row || strcmp(db_text(q, 0), "ok") != 0);
	return *torn ? db_damaged(&s->db, "its pages do not fit together") : err;
}

static struct err *prepare_all(struct paths *s)
{
	const struct {
		sqlite3_stmt **q;
		const char *sql;
	} all[] = {
		{ &s->put_file, "INSERT OR IGNORE INTO file VALUES (?)" },
		{ &s->find_run, "SELECT id FROM run WHERE program = ? AND digest = ?" },
		{ &s->put_run, "INSERT INTO run (program, digest, runs) VALUES (?, ?, 0)" },
		{ &s->count_run, "UPDATE run SET runs = runs + 1 WHERE id = ?" },
		{ &s->put_path, "INSERT OR IGNORE INTO path VALUES (?, ?, ?)" },
	};
	struct err *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(all) && !err; i++)
		err = db_prepare(&s->db, all[i].sql, all[i].q);
	return err;
}

static void close_db(struct paths *s)
{
	sqlite3_stmt **all[] = { &s->put_file, &s->find_run, &s->put_run, &s->count_run,
				 &s->put_path };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		sqlite3_finalize(*all[i]);
		*all[i] = NULL;
	}
	db_close(&s->db);
}

/* A file that is not finished yet, or new, gets its tables. */
static struct err *check_version(struct paths *s)
{
	sqlite3_int64 version = 0;
	struct err *err = version_of(s, &version);

	s->unfinished = !err && !version;
	if (!err && version && version != STORE_VERSION)
		err = err_new(ERR_ENV,
			      "%s was written by another version of unplait; use a store of its "
			      "own, or remove this file: it is made again from the plaits",
			      s->db.path);
	return err || version ? err : db_run(&s->db, schema);
}

/* *torn: the reason is what the file holds. */
static struct err *open_db(struct paths *s, bool *torn)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/paths.db", s->folder);
	struct err *err = db_open(&s->db, path, "");

	*torn = s->db.torn;
	if (err)
		return err;
	err = check_pages(s, torn);
	if (!err)
		err = check_version(s);
	if (!err)
		err = prepare_all(s);
	if (err) {
		*torn |= db_is_torn(&s->db);
		close_db(s);
	}
	return err;
}

/* ---- adding ---- */

static struct err *program_row(struct paths *s, const char *key, sqlite3_int64 *ret)
{
	_cleanup_(db_finalizep) sqlite3_stmt *put = NULL, *find = NULL;
	struct err *err =
		db_prepare(&s->db, "INSERT OR IGNORE INTO program (key) VALUES (?)", &put);

	if (!err)
		err = db_prepare(&s->db, "SELECT id FROM program WHERE key = ?", &find);
	if (err)
		return err;
	sqlite3_bind_text(put, 1, key, -1, SQLITE_STATIC);
	sqlite3_bind_text(find, 1, key, -1, SQLITE_STATIC);
	err = db_execute(&s->db, put);
	return err ? err : db_number(&s->db, find, ret);
}

/* The name says what is inside, so that it can be found again without paths.db. */
static char *plait_of(const struct paths *s, const char *key, uint64_t digest)
{
	return xasprintf("%s/runs/%08" PRIx64 "-%016" PRIx64 ".plait", s->folder,
			 hash_bytes(key, strlen(key), 0) & 0xffffffff, digest);
}

/* *ret: this very file was not there before. */
static struct err *put_file(struct paths *s, const struct file_map *bytes, bool *ret)
{
	struct err *err;

	sqlite3_bind_int64(s->put_file, 1, (sqlite3_int64)hash_bytes(bytes->data, bytes->len, 0));
	err = db_execute(&s->db, s->put_file);
	*ret = sqlite3_changes(s->db.handle) > 0;
	return err;
}

/* The row of the run that has these records; 0 when the store does not have it. */
static struct err *find_run(struct paths *s, sqlite3_int64 program, uint64_t digest,
			    sqlite3_int64 *ret)
{
	bool row = false;
	struct err *err;

	sqlite3_bind_int64(s->find_run, 1, program);
	sqlite3_bind_int64(s->find_run, 2, (sqlite3_int64)digest);
	err = db_next_row(&s->db, s->find_run, &row);
	*ret = row ? sqlite3_column_int64(s->find_run, 0) : 0;
	sqlite3_reset(s->find_run);
	return err;
}

static struct err *put_paths(struct paths *s, sqlite3_int64 program, const struct paths_new *n)
{
	struct err *err = NULL;

	for (size_t i = 0; n->bits && i < n->nthreads && !err; i++) {
		sqlite3_bind_int64(s->put_path, 1, program);
		sqlite3_bind_text(s->put_path, 2, n->threads[i], -1, SQLITE_STATIC);
		sqlite3_bind_text(s->put_path, 3, strbuf_str(&n->bits[i]), -1, SQLITE_STATIC);
		err = db_execute(&s->db, s->put_path);
	}
	return err;
}

static struct err *put_run(struct paths *s, sqlite3_int64 program, const struct paths_new *n,
			   sqlite3_int64 *ret)
{
	_cleanup_(xfreep) char *path = plait_of(s, n->key, n->digest);
	struct err *err =
		file_exists(path) ? NULL : file_write(path, n->bytes->data, n->bytes->len);

	sqlite3_bind_int64(s->put_run, 1, program);
	sqlite3_bind_int64(s->put_run, 2, (sqlite3_int64)n->digest);
	if (!err)
		err = db_execute(&s->db, s->put_run);
	*ret = sqlite3_last_insert_rowid(s->db.handle);
	return err ? err : put_paths(s, program, n);
}

struct err *paths_put(struct paths *s, const struct paths_new *n)
{
	sqlite3_int64 program = 0, run = 0;
	bool is_new = true;
	struct err *err = n->ours ? NULL : put_file(s, n->bytes, &is_new);

	if (err || !is_new)
		return err;
	err = program_row(s, n->key, &program);
	if (!err)
		err = find_run(s, program, n->digest, &run);
	if (!err && !run)
		err = put_run(s, program, n, &run);
	if (err || n->ours)
		return err;
	sqlite3_bind_int64(s->count_run, 1, run);
	return db_execute(&s->db, s->count_run);
}

struct err *paths_add(struct paths *s, const struct file_map *bytes, struct trace *t,
		      const struct strbuf *followed)
{
	const struct trace_meta *meta = trace_meta(t);
	_cleanup_(xfreep) const char **threads = xcalloc(meta->nthreads + 1, sizeof(*threads));
	_cleanup_(xfreep) char *key = NULL;
	struct strbuf *bits = NULL;
	struct paths_new n = { .bytes = bytes,
			       .ours = followed != NULL,
			       .nthreads = meta->nthreads,
			       .threads = threads,
			       .bits = followed };
	struct err *err = predict_key(t, &key);

	n.key = key;
	for (size_t i = 0; i < meta->nthreads; i++)
		threads[i] = meta->threads[i].name;
	if (!err)
		err = predict_digest(t, &n.digest);
	if (!err && !followed && meta->mode != PLAIT_MODE_CONTROL) {
		err = predict_bits(t, &bits);
		n.bits = bits;
	}
	if (!err)
		err = paths_put(s, &n);
	for (size_t i = 0; bits && i < meta->nthreads; i++)
		strbuf_deinit(&bits[i]);
	free(bits);
	return err;
}

struct err *paths_begin(struct paths *s)
{
	return db_begin(&s->db);
}

struct err *paths_end(struct paths *s, struct err *err)
{
	return db_end(&s->db, err);
}

/* ---- made again ---- */

/* A plait that cannot be read is left where it is, and left out. */
static struct err *add_again(struct paths *s, const char *path)
{
	struct file_map bytes = { 0 };
	struct trace *t = NULL;
	struct err *err = file_map_open(path, &bytes);

	if (!err)
		err = trace_open_memory(path, bytes.data, bytes.len, &t);
	if (err || !predict_program(trace_meta(t))) {
		err_free(err);
		err = NULL;
	} else {
		err = paths_add(s, &bytes, t, NULL);
	}
	trace_close(t);
	file_map_close(&bytes);
	return err;
}

static struct err *add_all_again(struct paths *s)
{
	_cleanup_(xfreep) char *folder = xasprintf("%s/runs", s->folder);
	struct predict_files files = { 0 };
	struct err *err = predict_list(folder, &files);

	if (!err)
		err = paths_begin(s);
	if (!err) {
		for (size_t i = 0; i < files.len && !err; i++)
			err = add_again(s, files.data[i]);
		if (!err)
			err = db_run(&s->db, "PRAGMA user_version = 1");
		err = paths_end(s, err);
	}
	predict_files_deinit(&files);
	return err;
}

static void remove_db(const struct paths *s)
{
	static const char *const parts[] = { "", "-journal", "-wal", "-shm" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		_cleanup_(xfreep) char *path = xasprintf("%s/paths.db%s", s->folder, parts[i]);

		unlink(path);
	}
}

struct err *paths_open(const char *folder, struct paths **ret)
{
	_cleanup_(xfreep) char *runs = xasprintf("%s/runs", folder);
	struct paths *s = xcalloc(1, sizeof(*s));
	bool torn = false;
	struct err *err = file_make_dirs(runs);

	s->folder = xstrdup(folder);
	if (!err)
		err = open_db(s, &torn);
	if (torn) {
		err_free(err);
		remove_db(s);
		s->torn = true;
		err = open_db(s, &torn);
	}
	if (!err && s->unfinished)
		err = add_all_again(s);
	if (err) {
		paths_close(s);
		return err_wrap(err, "the store %s", folder);
	}
	*ret = s;
	return NULL;
}

void paths_close(struct paths *s)
{
	if (!s)
		return;
	close_db(s);
	free(s->folder);
	free(s);
}

bool paths_was_torn(const struct paths *s)
{
	return s->torn;
}

/* ---- looking up ---- */

struct err *paths_key(struct paths *s, char **ret)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&s->db, "SELECT key FROM program LIMIT 2", &q);
	bool row = false;

	*ret = NULL;
	if (!err)
		err = db_next_row(&s->db, q, &row);
	if (err || !row)
		return err;
	*ret = xstrdup(db_text(q, 0));
	err = db_next_row(&s->db, q, &row);
	if (err || row) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

struct err *paths_runs(struct paths *s, const char *key, struct paths_runs *ret)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&s->db,
				     "SELECT digest, runs FROM run JOIN program ON program.id = "
				     "program WHERE key = ? ORDER BY run.id",
				     &q);
	bool row;

	if (err)
		return err;
	sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
	while (!(err = db_next_row(&s->db, q, &row)) && row) {
		uint64_t digest = (uint64_t)sqlite3_column_int64(q, 0);
		sqlite3_int64 runs = sqlite3_column_int64(q, 1);

		vec_push(ret, ((struct paths_run){ plait_of(s, key, digest), digest,
						   runs > 0 ? (uint64_t)runs : 0 }));
	}
	return err;
}

/* '2' comes after '0' and '1': texts that begin with the prefix are those from it to prefix + "2". */
struct err *paths_find(struct paths *s, const char *key, const char *thread, const char *prefix,
		       size_t n, struct paths_texts *ret)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	_cleanup_(xfreep) char *end = xasprintf("%s2", prefix);
	struct err *err =
		db_prepare(&s->db,
			   "SELECT bits FROM path WHERE program = (SELECT id FROM program "
			   "WHERE key = ?1) AND thread = ?2 AND bits >= ?3 AND bits < ?4 "
			   "ORDER BY length(bits), bits LIMIT ?5",
			   &q);
	bool row;

	if (err)
		return err;
	sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 2, thread, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 3, prefix, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 4, end, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 5, (sqlite3_int64)n);
	while (!(err = db_next_row(&s->db, q, &row)) && row) {
		const char *bits = db_text(q, 0);

		if (strspn(bits, "01") != strlen(bits))
			return db_damaged(&s->db, "a path is no string of bits");
		vec_push(ret, xstrdup(bits));
	}
	return err;
}
