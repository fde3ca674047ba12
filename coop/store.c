/* coop/store.c - many logs over time, in one SQLite file.
 *
 * A vector is stored once, under the hash of its bytes with threads by name, so that a store grows
 * by what is new. A log is known by the hash of its entries and its name: adding the same file
 * twice adds it once. Candidates that were tried are remembered, so that the next merge goes on
 * where the last one stopped. One build and one scheme per store. */
#include "coop/program.h"

#include "base/err.h"
#include "base/strbuf.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

struct coop_store {
	sqlite3 *db;
	char *path;
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

static struct err *broken(const struct coop_store *s)
{
	return err_new(ERR_ENV, "%s: %s", s->path, sqlite3_errmsg(s->db));
}

static struct err *run_sql(struct coop_store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL : broken(s);
}

struct err *coop_store_open(const char *path, struct coop_store **ret)
{
	struct coop_store *s = xcalloc(1, sizeof(*s));
	struct err *err;

	s->path = xstrdup(path);
	err = sqlite3_open(path, &s->db) == SQLITE_OK ? NULL : broken(s);
	if (!err)
		sqlite3_busy_timeout(s->db, 60000); /* others may be adding too */
	if (!err)
		err = run_sql(s, "PRAGMA synchronous=OFF");
	if (!err)
		err = run_sql(s, schema);
	if (err) {
		coop_store_close(s);
		return err;
	}
	*ret = s;
	return NULL;
}

void coop_store_close(struct coop_store *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

static sqlite3_stmt *prepare(struct coop_store *s, const char *sql)
{
	sqlite3_stmt *q = NULL;

	return sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK ? q : NULL;
}

static char *get_meta(struct coop_store *s, const char *key)
{
	sqlite3_stmt *q = prepare(s, "SELECT value FROM meta WHERE key = ?");
	char *value = NULL;

	if (!q)
		return NULL;
	sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
	if (sqlite3_step(q) == SQLITE_ROW)
		value = xstrdup((const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	return value;
}

static struct err *check_meta(struct coop_store *s, const struct coop *c)
{
	_cleanup_(xfreep) char *build = get_meta(s, "build");
	_cleanup_(xfreep) char *mode = get_meta(s, "mode");
	struct err *err;
	char *sql;

	if (build && strcmp(build, c->build) != 0)
		return err_new(ERR_ENV,
			       "%s holds logs of another build of the program (%.12s, not %.12s); "
			       "use a store of its own",
			       s->path, build, c->build);
	if (mode && (uint32_t)atoi(mode) != c->mode)
		return err_new(ERR_ENV, "%s holds logs of another recording mode", s->path);
	sql = sqlite3_mprintf("INSERT OR IGNORE INTO meta VALUES ('build', %Q), ('mode', '%u')",
			      c->build, c->mode);
	err = run_sql(s, sql);
	sqlite3_free(sql);
	return err;
}

/* The row of a thread's name. */
static sqlite3_int64 thread_row(struct coop_store *s, const char *name)
{
	sqlite3_stmt *q = prepare(s, "INSERT OR IGNORE INTO thread (name) VALUES (?)");
	sqlite3_int64 id = -1;

	if (q) {
		sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
		sqlite3_step(q);
		sqlite3_finalize(q);
	}
	q = prepare(s, "SELECT id FROM thread WHERE name = ?");
	if (q) {
		sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
		if (sqlite3_step(q) == SQLITE_ROW)
			id = sqlite3_column_int64(q, 0);
		sqlite3_finalize(q);
	}
	return id;
}

struct adding {
	struct coop_store *s;
	const struct coop *c;
	uint32_t *threads;	/* rows, by id in c */
	sqlite3_int64 *vectors; /* rows, by id in c; 0 = not stored yet */
	sqlite3_stmt *put_vector, *find_vector, *put_log;
};

/* As older versions wrote it, too. */
struct stored_run {
	uint32_t thread, count;
};

static sqlite3_int64 vector_row(struct adding *a, uint32_t id)
{
	const struct coop_vector *v = &a->c->vectors.data[id];
	struct stored_run *runs = xcalloc(v->nruns + 1, sizeof(*runs));
	size_t len = v->nruns * sizeof(*runs);
	sqlite3_int64 hash;

	if (a->vectors[id]) {
		free(runs);
		return a->vectors[id];
	}
	for (uint32_t i = 0; i < v->nruns; i++)
		runs[i] = (struct stored_run){ a->threads[v->runs[i].thread], v->runs[i].count };
	hash = (sqlite3_int64)XXH3_64bits(runs, len);
	sqlite3_bind_int64(a->put_vector, 1, hash);
	sqlite3_bind_blob64(a->put_vector, 2, runs, len, SQLITE_STATIC);
	sqlite3_step(a->put_vector);
	sqlite3_reset(a->put_vector);
	sqlite3_bind_int64(a->find_vector, 1, hash);
	if (sqlite3_step(a->find_vector) == SQLITE_ROW)
		a->vectors[id] = sqlite3_column_int64(a->find_vector, 0);
	sqlite3_reset(a->find_vector);
	free(runs);
	return a->vectors[id];
}

/* entries: pairs of element id and vector row. */
static bool add_log(struct adding *a, uint32_t log)
{
	const struct coop_log *l = &a->c->logs.data[log];
	const struct coop_entry *e = coop_entries(a->c, log);
	sqlite3_int64 *entries = xcalloc(2 * l->n + 1, sizeof(*entries));
	const char *signature =
		l->signature == COOP_NONE ? NULL : a->c->signatures.text[l->signature];
	bool added;

	for (uint32_t i = 0; i < l->n; i++) {
		entries[2 * i] = a->c->elements.data[e[i].element].id;
		entries[2 * i + 1] = vector_row(a, e[i].vector);
	}
	sqlite3_bind_int64(a->put_log, 1,
			   (sqlite3_int64)(XXH3_64bits(entries, 16ull * l->n) ^
					   hash_bytes(l->name, strlen(l->name), 0)));
	sqlite3_bind_text(a->put_log, 2, l->name, -1, SQLITE_STATIC);
	if (signature)
		sqlite3_bind_text(a->put_log, 3, signature, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(a->put_log, 3);
	sqlite3_bind_blob64(a->put_log, 4, entries, 16ull * l->n, SQLITE_STATIC);
	sqlite3_step(a->put_log);
	added = sqlite3_changes(a->s->db) > 0;
	sqlite3_reset(a->put_log);
	free(entries);
	return added;
}

static struct err *add_elements(struct coop_store *s, const struct coop *c)
{
	sqlite3_stmt *q = prepare(s, "INSERT INTO element VALUES (?, ?) ON CONFLICT (id) DO UPDATE "
				     "SET name = excluded.name WHERE excluded.name <> ''");

	if (!q)
		return broken(s);
	for (size_t i = 0; i < c->elements.len; i++) {
		sqlite3_bind_int64(q, 1, c->elements.data[i].id);
		sqlite3_bind_text(q, 2, c->elements.data[i].name, -1, SQLITE_STATIC);
		sqlite3_step(q);
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	return NULL;
}

struct err *coop_store_add(struct coop_store *s, const struct coop *c, uint64_t *added)
{
	struct adding a = { .s = s, .c = c };
	struct err *err = run_sql(s, "BEGIN IMMEDIATE");

	*added = 0;
	if (!err)
		err = check_meta(s, c);
	if (!err)
		err = add_elements(s, c);
	a.put_vector = prepare(s, "INSERT OR IGNORE INTO vector (hash, runs) VALUES (?, ?)");
	a.find_vector = prepare(s, "SELECT id FROM vector WHERE hash = ?");
	a.put_log = prepare(s, "INSERT OR IGNORE INTO log (hash, name, signature, entries) "
			       "VALUES (?, ?, ?, ?)");
	a.threads = xcalloc(c->threads.len + 1, sizeof(*a.threads));
	a.vectors = xcalloc(c->vectors.len + 1, sizeof(*a.vectors));
	for (size_t i = 0; i < c->threads.len && !err; i++)
		a.threads[i] = (uint32_t)thread_row(s, c->threads.text[i]);
	if (!err && (!a.put_vector || !a.find_vector || !a.put_log))
		err = broken(s);
	for (uint32_t i = 0; i < c->logs.len && !err; i++)
		*added += add_log(&a, i);
	sqlite3_finalize(a.put_vector);
	sqlite3_finalize(a.find_vector);
	sqlite3_finalize(a.put_log);
	free(a.threads);
	free(a.vectors);
	if (err) {
		err_free(run_sql(s, "ROLLBACK"));
		return err;
	}
	return run_sql(s, "COMMIT");
}

/* ---- loading ---- */

struct loading {
	struct coop *c;
	struct map threads, vectors; /* row -> id */
};

static struct err *load_names(struct coop_store *s, struct loading *l)
{
	sqlite3_stmt *q = prepare(s, "SELECT id, name FROM thread ORDER BY id");

	if (!q)
		return broken(s);
	while (sqlite3_step(q) == SQLITE_ROW)
		map_put(&l->threads, (uint64_t)sqlite3_column_int64(q, 0),
			names_intern(&l->c->threads, (const char *)sqlite3_column_text(q, 1)));
	sqlite3_finalize(q);
	q = prepare(s, "SELECT id, name FROM element ORDER BY id");
	if (!q)
		return broken(s);
	while (sqlite3_step(q) == SQLITE_ROW)
		coop_element(l->c, (uint32_t)sqlite3_column_int64(q, 0),
			     (const char *)sqlite3_column_text(q, 1));
	sqlite3_finalize(q);
	return NULL;
}

static struct err *load_vectors(struct coop_store *s, struct loading *l)
{
	sqlite3_stmt *q = prepare(s, "SELECT id, runs FROM vector ORDER BY id");

	if (!q)
		return broken(s);
	while (sqlite3_step(q) == SQLITE_ROW) {
		const struct stored_run *stored = sqlite3_column_blob(q, 1);
		size_t n = (size_t)sqlite3_column_bytes(q, 1) / sizeof(*stored), room = n + 1,
		       len = 0;
		struct coop_run *runs;

		for (size_t i = 0; i < n; i++)
			room += stored[i].count / PLAIT_VECTORS_COUNT_MAX;
		runs = xcalloc(room, sizeof(*runs));
		for (size_t i = 0; i < n; i++)
			len = coop_push_run(runs, len,
					    (uint32_t)map_get_or(&l->threads, stored[i].thread, 0),
					    stored[i].count);
		map_put(&l->vectors, (uint64_t)sqlite3_column_int64(q, 0),
			coop_vector(l->c, runs, len));
		free(runs);
	}
	sqlite3_finalize(q);
	return NULL;
}

static struct err *load_logs(struct coop_store *s, struct loading *l)
{
	sqlite3_stmt *q = prepare(s, "SELECT name, signature, entries FROM log ORDER BY id");

	if (!q)
		return broken(s);
	while (sqlite3_step(q) == SQLITE_ROW) {
		size_t n = (size_t)sqlite3_column_bytes(q, 2) / 16;
		const char *entries = sqlite3_column_blob(q, 2);

		coop_begin_log(l->c, (const char *)sqlite3_column_text(q, 0),
			       (const char *)sqlite3_column_text(q, 1));
		for (size_t i = 0; i < n; i++) {
			sqlite3_int64 pair[2];
			uint64_t *vector;

			memcpy(pair, entries + 16 * i, 16);
			vector = map_find(&l->vectors, (uint64_t)pair[1]);
			if (!vector)
				continue;
			vec_push(&l->c->entries,
				 (struct coop_entry){ coop_element(l->c, (uint32_t)pair[0], ""),
						      (uint32_t)*vector });
			vec_last(&l->c->logs)->n++;
		}
		coop_end_log(l->c);
	}
	sqlite3_finalize(q);
	return NULL;
}

struct err *coop_store_load(struct coop_store *s, struct coop *ret)
{
	_cleanup_(xfreep) char *build = get_meta(s, "build");
	_cleanup_(xfreep) char *mode = get_meta(s, "mode");
	struct loading l = { .c = ret };
	struct err *err = load_names(s, &l);

	snprintf(ret->build, sizeof(ret->build), "%s", build ? build : "");
	ret->mode = mode ? (uint32_t)atoi(mode) : 0;
	if (!err)
		err = load_vectors(s, &l);
	if (!err)
		err = load_logs(s, &l);
	map_deinit(&l.threads);
	map_deinit(&l.vectors);
	return err;
}

struct err *coop_store_tried(struct coop_store *s, struct map *ret)
{
	sqlite3_stmt *q = prepare(s, "SELECT hash FROM tried");

	if (!q)
		return broken(s);
	while (sqlite3_step(q) == SQLITE_ROW)
		map_put(ret, (uint64_t)sqlite3_column_int64(q, 0), 1);
	sqlite3_finalize(q);
	return NULL;
}

struct err *coop_store_note_tried(struct coop_store *s, const struct map *tried)
{
	struct err *err = run_sql(s, "BEGIN IMMEDIATE");
	sqlite3_stmt *q = prepare(s, "INSERT OR IGNORE INTO tried VALUES (?)");

	if (!err && !q)
		err = broken(s);
	for (size_t i = 0; i < tried->len && !err; i++) {
		sqlite3_bind_int64(q, 1, (sqlite3_int64)tried->entries[i].key);
		sqlite3_step(q);
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	return err ? err : run_sql(s, "COMMIT");
}
