/* coop/store.c - many logs over time, in one SQLite file.
 *
 * A vector is stored once, under the hash of its bytes with threads by name, so that a store grows
 * by what is new. A log is known by the hash of its entries and its name: adding the same file
 * twice adds it once. Candidates that were tried are remembered, so that the next merge goes on
 * where the last one stopped. One build and one scheme per store.
 *
 * Logs are added in one transaction, and the result of every step is checked: whatever fails in
 * between (a full disk, a crash), the store holds what it held before. A store may come from a
 * stranger: base/db.c refuses views and triggers, and every column is checked before it is used. */
#include "coop/store.h"

#include "coop/coop.h"

#include "base/db.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct coop_store {
	struct db db;
};

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);"
	"CREATE TABLE IF NOT EXISTS thread (id INTEGER PRIMARY KEY, name TEXT UNIQUE);"
	"CREATE TABLE IF NOT EXISTS element (id INTEGER PRIMARY KEY, name TEXT);"
	"CREATE TABLE IF NOT EXISTS vector (id INTEGER PRIMARY KEY, hash INTEGER UNIQUE, runs "
	"BLOB);"
	"CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY, hash INTEGER UNIQUE, name TEXT,"
	" signature TEXT, entries BLOB);"
	"CREATE TABLE IF NOT EXISTS tried (hash INTEGER PRIMARY KEY);";

struct err *coop_store_open(const char *path, struct coop_store **ret)
{
	struct coop_store *s = xcalloc(1, sizeof(*s));
	struct err *err = db_open(&s->db, path, schema);

	if (err) {
		free(s);
		return err;
	}
	*ret = s;
	return NULL;
}

void coop_store_close(struct coop_store *s)
{
	if (!s)
		return;
	db_close(&s->db);
	free(s);
}

/* *ret is NULL when there is no such key. */
static struct err *get_meta(struct coop_store *s, const char *key, char **ret)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&s->db, "SELECT value FROM meta WHERE key = ?", &q);
	bool row = false;

	*ret = NULL;
	if (err)
		return err;
	sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
	err = db_next_row(&s->db, q, &row);
	if (row)
		*ret = xstrdup(db_text(q, 0));
	return err;
}

/* ---- adding ---- */

static struct err *check_meta(struct coop_store *s, const struct coop *c)
{
	_cleanup_(xfreep) char *build = NULL, *mode = NULL;
	struct err *err = get_meta(s, "build", &build);
	char *sql;

	if (!err)
		err = get_meta(s, "mode", &mode);
	if (err)
		return err;
	if (build && strcmp(build, c->build) != 0)
		return err_new(ERR_ENV,
			       "%s holds logs of another build of the program (%.12s, not %.12s); "
			       "use a store of its own",
			       s->db.path, build, c->build);
	if (mode && (uint32_t)atoi(mode) != c->mode)
		return err_new(ERR_ENV, "%s holds logs of another recording mode", s->db.path);
	sql = sqlite3_mprintf("INSERT OR IGNORE INTO meta VALUES ('build', %Q), ('mode', '%u')",
			      c->build, c->mode);
	err = db_run(&s->db, sql);
	sqlite3_free(sql);
	return err;
}

struct adding {
	struct coop_store *s;
	const struct coop *c;
	uint32_t *threads;	/* rows, by id in c */
	sqlite3_int64 *vectors; /* rows, by id in c; 0 = not stored yet */
	sqlite3_stmt *put_vector, *find_vector, *put_log;
};

static void adding_deinit(struct adding *a)
{
	sqlite3_finalize(a->put_vector);
	sqlite3_finalize(a->find_vector);
	sqlite3_finalize(a->put_log);
	free(a->threads);
	free(a->vectors);
}

static struct err *adding_init(struct adding *a)
{
	struct err *err;

	a->threads = xcalloc(a->c->threads.len + 1, sizeof(*a->threads));
	a->vectors = xcalloc(a->c->vectors.len + 1, sizeof(*a->vectors));
	err = db_prepare(&a->s->db, "INSERT OR IGNORE INTO vector (hash, runs) VALUES (?, ?)",
			 &a->put_vector);
	if (!err)
		err = db_prepare(&a->s->db, "SELECT id FROM vector WHERE hash = ?",
				 &a->find_vector);
	if (!err)
		err = db_prepare(&a->s->db,
				 "INSERT OR IGNORE INTO log (hash, name, signature, entries) "
				 "VALUES (?, ?, ?, ?)",
				 &a->put_log);
	return err;
}

static struct err *add_threads(struct adding *a)
{
	_cleanup_(db_finalizep) sqlite3_stmt *put = NULL, *find = NULL;
	struct err *err =
		db_prepare(&a->s->db, "INSERT OR IGNORE INTO thread (name) VALUES (?)", &put);

	if (!err)
		err = db_prepare(&a->s->db, "SELECT id FROM thread WHERE name = ?", &find);
	for (size_t i = 0; i < a->c->threads.len && !err; i++) {
		sqlite3_int64 row = 0;

		sqlite3_bind_text(put, 1, a->c->threads.text[i], -1, SQLITE_STATIC);
		err = db_execute(&a->s->db, put);
		sqlite3_bind_text(find, 1, a->c->threads.text[i], -1, SQLITE_STATIC);
		if (!err)
			err = db_number(&a->s->db, find, &row);
		a->threads[i] = (uint32_t)row;
	}
	return err;
}

static struct err *add_elements(struct adding *a)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&a->s->db,
				     "INSERT INTO element VALUES (?, ?) ON CONFLICT (id) DO UPDATE "
				     "SET name = excluded.name WHERE excluded.name <> ''",
				     &q);

	for (size_t i = 0; i < a->c->elements.len && !err; i++) {
		sqlite3_bind_int64(q, 1, a->c->elements.data[i].id);
		sqlite3_bind_text(q, 2, a->c->elements.data[i].name, -1, SQLITE_STATIC);
		err = db_execute(&a->s->db, q);
	}
	return err;
}

/* As older versions wrote it, too. */
struct stored_run {
	uint32_t thread, count;
};

/* Store a vector once; its row is in a->vectors then. */
static struct err *add_vector(struct adding *a, uint32_t id)
{
	const struct coop_vector *v = &a->c->vectors.data[id];
	_cleanup_(xfreep) struct stored_run *runs = NULL;
	size_t len = v->nruns * sizeof(*runs);
	sqlite3_int64 hash;
	struct err *err;

	assert(id < a->c->vectors.len);
	if (a->vectors[id])
		return NULL;
	runs = xcalloc(v->nruns + 1, sizeof(*runs));
	for (uint32_t i = 0; i < v->nruns; i++)
		runs[i] = (struct stored_run){ a->threads[v->runs[i].thread], v->runs[i].count };
	hash = (sqlite3_int64)XXH3_64bits(runs, len);
	sqlite3_bind_int64(a->put_vector, 1, hash);
	sqlite3_bind_blob64(a->put_vector, 2, runs, len, SQLITE_STATIC);
	err = db_execute(&a->s->db, a->put_vector);
	sqlite3_bind_int64(a->find_vector, 1, hash);
	return err ? err : db_number(&a->s->db, a->find_vector, &a->vectors[id]);
}

/* entries: pairs of element id and vector row. */
static struct err *add_log(struct adding *a, uint32_t log, uint64_t *added)
{
	const struct coop_log *l = &a->c->logs.data[log];
	const struct coop_entry *e = coop_entries(a->c, log);
	_cleanup_(xfreep) sqlite3_int64 *entries = xcalloc(2 * l->n + 1, sizeof(*entries));
	const char *signature =
		l->signature == COOP_NONE ? NULL : a->c->signatures.text[l->signature];
	struct err *err = NULL;

	for (uint32_t i = 0; i < l->n && !err; i++) {
		err = add_vector(a, e[i].vector);
		entries[2 * i] = a->c->elements.data[e[i].element].id;
		entries[2 * i + 1] = a->vectors[e[i].vector];
	}
	if (err)
		return err;
	sqlite3_bind_int64(a->put_log, 1,
			   (sqlite3_int64)(XXH3_64bits(entries, 16ull * l->n) ^
					   hash_bytes(l->name, strlen(l->name), 0)));
	sqlite3_bind_text(a->put_log, 2, l->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(a->put_log, 3, signature, -1, SQLITE_STATIC); /* NULL: it passed */
	sqlite3_bind_blob64(a->put_log, 4, entries, 16ull * l->n, SQLITE_STATIC);
	err = db_execute(&a->s->db, a->put_log);
	if (!err)
		*added += (uint64_t)sqlite3_changes(a->s->db.handle);
	return err;
}

static struct err *add_all(struct adding *a, uint64_t *added)
{
	struct err *err = check_meta(a->s, a->c);

	if (!err)
		err = add_elements(a);
	if (!err)
		err = add_threads(a);
	for (uint32_t i = 0; i < a->c->logs.len && !err; i++)
		err = add_log(a, i, added);
	return err;
}

struct err *coop_store_add(struct coop_store *s, const struct coop *c, uint64_t *added)
{
	_cleanup_(adding_deinit) struct adding a = { .s = s, .c = c };
	struct err *err = adding_init(&a);

	*added = 0;
	if (!err)
		err = db_begin(&s->db);
	if (err)
		return err;
	err = db_end(&s->db, add_all(&a, added));
	if (err)
		*added = 0;
	return err;
}

/* ---- loading ---- */

enum {
	MAX_THREADS = 1 << PLAIT_VECTORS_THREAD_BITS,
	MAX_EXTRA = 1 << 22, /* words for runs that need more than one: a few bytes ask for many */
};

struct loading {
	struct coop_store *s;
	struct coop *c;
	struct map threads, vectors; /* row -> id */
	uint64_t extra;
};

static struct err *load_threads(struct loading *l)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&l->s->db, "SELECT id, name FROM thread ORDER BY id", &q);
	bool row;

	while (!err && !(err = db_next_row(&l->s->db, q, &row)) && row) {
		if (l->c->threads.len >= MAX_THREADS)
			return db_damaged(&l->s->db, "there are too many threads");
		map_put(&l->threads, (uint64_t)sqlite3_column_int64(q, 0),
			names_intern(&l->c->threads, db_text(q, 1)));
	}
	return err;
}

static struct err *load_elements(struct loading *l)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&l->s->db, "SELECT id, name FROM element ORDER BY id", &q);
	bool row;

	while (!err && !(err = db_next_row(&l->s->db, q, &row)) && row)
		coop_element(l->c, (uint32_t)sqlite3_column_int64(q, 0), db_text(q, 1));
	return err;
}

static struct err *load_vector(struct loading *l, sqlite3_int64 id, const uint8_t *blob, size_t len)
{
	size_t n = len / sizeof(struct stored_run), room = n + 1, nruns = 0;
	_cleanup_(xfreep) struct coop_run *runs = NULL;
	struct stored_run run;

	for (size_t i = 0; i < n; i++) {
		memcpy(&run, blob + i * sizeof(run), sizeof(run));
		l->extra += run.count / PLAIT_VECTORS_COUNT_MAX;
		room += run.count / PLAIT_VECTORS_COUNT_MAX;
		if (l->extra > MAX_EXTRA)
			return db_damaged(&l->s->db, "its vectors are too long");
	}
	runs = xcalloc(room, sizeof(*runs));
	for (size_t i = 0; i < n; i++) {
		uint64_t *thread;

		memcpy(&run, blob + i * sizeof(run), sizeof(run));
		thread = map_find(&l->threads, run.thread);
		if (!thread)
			return db_damaged(&l->s->db, "a vector names a thread that never was");
		nruns = coop_push_run(runs, nruns, (uint32_t)*thread, run.count);
	}
	map_put(&l->vectors, (uint64_t)id, coop_vector(l->c, runs, nruns));
	return NULL;
}

static struct err *load_vectors(struct loading *l)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&l->s->db, "SELECT id, runs FROM vector ORDER BY id", &q);
	bool row;

	while (!err && !(err = db_next_row(&l->s->db, q, &row)) && row) {
		const uint8_t *blob = sqlite3_column_blob(q, 1);

		err = load_vector(l, sqlite3_column_int64(q, 0), blob,
				  blob ? (size_t)sqlite3_column_bytes(q, 1) : 0);
	}
	return err;
}

static struct err *load_entries(struct loading *l, const char *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sqlite3_int64 pair[2];
		uint64_t *vector;

		memcpy(pair, entries + 16 * i, 16);
		vector = map_find(&l->vectors, (uint64_t)pair[1]);
		if (!vector)
			return db_damaged(&l->s->db, "a log names a vector that is not there");
		vec_push(&l->c->entries,
			 (struct coop_entry){ coop_element(l->c, (uint32_t)pair[0], ""),
					      (uint32_t)*vector });
		vec_last(&l->c->logs)->n++;
	}
	return NULL;
}

static struct err *load_logs(struct loading *l)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err =
		db_prepare(&l->s->db, "SELECT name, signature, entries FROM log ORDER BY id", &q);
	bool row;

	while (!err && !(err = db_next_row(&l->s->db, q, &row)) && row) {
		const char *entries = sqlite3_column_blob(q, 2);

		coop_begin_log(l->c, db_text(q, 0), (const char *)sqlite3_column_text(q, 1));
		err = load_entries(l, entries,
				   entries ? (size_t)sqlite3_column_bytes(q, 2) / 16 : 0);
		if (!coop_end_log(l->c) && !err)
			err = db_damaged(&l->s->db, "a log has two vectors for one element");
	}
	return err;
}

struct err *coop_store_load(struct coop_store *s, struct coop *ret)
{
	_cleanup_(xfreep) char *build = NULL, *mode = NULL;
	struct loading l = { .s = s, .c = ret };
	struct err *err = get_meta(s, "build", &build);

	if (!err)
		err = get_meta(s, "mode", &mode);
	snprintf(ret->build, sizeof(ret->build), "%s", build ? build : "");
	ret->mode = mode ? (uint32_t)atoi(mode) : 0;
	if (!err)
		err = load_threads(&l);
	if (!err)
		err = load_elements(&l);
	if (!err)
		err = load_vectors(&l);
	if (!err)
		err = load_logs(&l);
	map_deinit(&l.threads);
	map_deinit(&l.vectors);
	return err;
}

/* ---- candidates that were tried ---- */

struct err *coop_store_tried(struct coop_store *s, struct map *ret)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&s->db, "SELECT hash FROM tried", &q);
	bool row;

	while (!err && !(err = db_next_row(&s->db, q, &row)) && row)
		map_put(ret, (uint64_t)sqlite3_column_int64(q, 0), 1);
	return err;
}

struct err *coop_store_note_tried(struct coop_store *s, const struct map *tried)
{
	_cleanup_(db_finalizep) sqlite3_stmt *q = NULL;
	struct err *err = db_prepare(&s->db, "INSERT OR IGNORE INTO tried VALUES (?)", &q);

	if (!err)
		err = db_begin(&s->db);
	if (err)
		return err;
	for (size_t i = 0; i < tried->len && !err; i++) {
		sqlite3_bind_int64(q, 1, (sqlite3_int64)tried->entries[i].key);
		err = db_execute(&s->db, q);
	}
	return db_end(&s->db, err);
}
