/* deadlock/merge.c - fingerprints of many runs and machines, one line of the table per bucket.
 *
 * Two fingerprints are the same deadlock when their buckets agree, or when their build buckets do:
 * one of the machines may have had no symbols. Order: most frequent first, then by bucket. */
#include "deadlock/merge.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct merge *merge_new(void)
{
	return xcalloc(1, sizeof(struct merge));
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->buckets.len; i++) {
		struct merge_bucket *b = &m->buckets.data[i];

		for (size_t k = 0; k < b->files.len; k++)
			free(b->files.data[k]);
		vec_deinit(&b->files);
		free(b->id);
		free(b->kind);
		free(b->program);
		free(b->summary);
	}
	vec_deinit(&m->buckets);
	names_deinit(&m->keys);
	map_deinit(&m->owner);
	free(m);
}

static const char *text_of(const cJSON *object, const char *key)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));

	return s ? s : "";
}

/* ---- what a bucket looks like, in a few lines ---- */

static void add_site(struct strbuf *out, const cJSON *use)
{
	const cJSON *frame;

	cJSON_ArrayForEach(frame, cJSON_GetObjectItem(use, "stack"))
	{
		const char *function = text_of(frame, "function");

		if (strncmp(function, "std::", 5) == 0 || strncmp(function, "__gthread", 9) == 0)
			continue;
		if (*function && *text_of(frame, "file"))
			strbuf_addf(out, "%s %s:%d", function, text_of(frame, "file"),
				    (int)cJSON_GetNumberValue(cJSON_GetObjectItem(frame, "line")));
		else if (*function)
			strbuf_adds(out, function);
		else
			strbuf_addf(out, "%s+%s", text_of(frame, "module"),
				    text_of(frame, "offset"));
		return;
	}
	strbuf_adds(out, "?");
}

static void add_lock(struct strbuf *out, const cJSON *use)
{
	const cJSON *lock = cJSON_GetObjectItem(use, "lock");

	strbuf_addf(out, "%s %s", text_of(lock, "kind"),
		    *text_of(lock, "name") ? text_of(lock, "name") : "(unnamed)");
}

static char *summarise(const cJSON *threads)
{
	struct strbuf out = { 0 };
	const cJSON *t;
	int n = 0;

	cJSON_ArrayForEach(t, threads)
	{
		const cJSON *holds = cJSON_GetObjectItem(t, "holds");
		const cJSON *wants = cJSON_GetObjectItem(t, "wants");

		if (!wants || n++ >= 6)
			continue;
		strbuf_adds(&out, "    ");
		if (cJSON_IsObject(holds)) {
			strbuf_adds(&out, "holds ");
			add_lock(&out, holds);
			strbuf_adds(&out, " from ");
			add_site(&out, holds);
			strbuf_adds(&out, ", ");
		}
		strbuf_adds(&out, "wants ");
		add_lock(&out, wants);
		strbuf_adds(&out, " at ");
		add_site(&out, wants);
		strbuf_addc(&out, '\n');
	}
	if (n > 6)
		strbuf_addf(&out, "    ... %d more threads\n", n - 6);
	return out.len ? strbuf_detach(&out) : xstrdup("");
}

/* ---- adding ---- */

static struct merge_bucket *find_bucket(struct merge *m, const char *id, const char *build_id,
					const char *kind, const char *program, const cJSON *threads)
{
	const char *keys[] = { id, build_id };
	struct merge_bucket *b = NULL;
	size_t at = m->buckets.len;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t key = *keys[i] ? names_find(&m->keys, keys[i]) : NAMES_NONE;

		if (key != NAMES_NONE && at == m->buckets.len)
			at = (size_t)map_get_or(&m->owner, key, at);
	}
	if (at == m->buckets.len) {
		b = vec_add(&m->buckets);
		b->id = xstrdup(id);
		b->kind = xstrdup(kind);
		b->program = xstrdup(program);
		b->summary = summarise(threads);
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (*keys[i])
			map_put(&m->owner, names_intern(&m->keys, keys[i]), at);
	return &m->buckets.data[at];
}

static void count(struct merge_bucket *b, const char *path)
{
	b->count++;
	vec_push(&b->files, xstrdup(path));
}

static struct err *add_file(struct merge *m, const char *path)
{
	struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);
	cJSON *root = err ? NULL : cJSON_Parse(strbuf_str(&text));
	const cJSON *cycle, *cycles = cJSON_GetObjectItem(root, "cycles");

	strbuf_deinit(&text);
	if (err)
		return err;
	if (!root || strcmp(text_of(root, "command"), "watch") != 0 || !cJSON_IsArray(cycles)) {
		cJSON_Delete(root);
		return err_new(ERR_ENV, "%s is not a fingerprint of `unplait watch`", path);
	}
	m->read++;
	cJSON_ArrayForEach(cycle, cycles)
	{
		count(find_bucket(m, text_of(cycle, "bucket"), text_of(cycle, "build_bucket"),
				  text_of(cycle, "kind"), text_of(root, "program"),
				  cJSON_GetObjectItem(cycle, "threads")),
		      path);
	}
	if (strcmp(text_of(root, "kind"), "stuck") == 0)
		count(find_bucket(m, text_of(root, "bucket"), "", "stuck", text_of(root, "program"),
				  cJSON_GetObjectItem(root, "threads")),
		      path);
	cJSON_Delete(root);
	return NULL;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct err *merge_add(struct merge *m, const char *path)
{
	VEC(char *) files = { 0 };
	struct stat st;
	struct dirent *d;
	DIR *dir;

	if (stat(path, &st) != 0)
		return err_new(ERR_ENV, "there is no %s", path);
	if (!S_ISDIR(st.st_mode))
		return add_file(m, path);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		size_t n = strlen(d->d_name);

		if (n > 5 && strcmp(d->d_name + n - 5, ".json") == 0)
			vec_push(&files, xasprintf("%s/%s", path, d->d_name));
	}
	if (dir)
		closedir(dir);
	vec_sort(&files, compare_paths);
	for (size_t i = 0; i < files.len; i++) {
		/* a folder may hold other JSON, too: count it and go on */
		struct err *err = add_file(m, files.data[i]);

		m->skipped += err != NULL;
		err_free(err);
		free(files.data[i]);
	}
	vec_deinit(&files);
	return NULL;
}

/* ---- the table ---- */

static int compare_buckets(const void *a, const void *b)
{
	const struct merge_bucket *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->id, y->id);
}

void merge_sort(struct merge *m)
{
	vec_sort(&m->buckets, compare_buckets);
}
