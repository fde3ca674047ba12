/* rewind/triage-files.c - see triage-files.h. */
#include "rewind/triage-files.h"

#include "base/err.h"
#include "base/file.h"
#include "base/json-read.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "rewind/triage.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the index ---- */

static char *take_text(const cJSON *o, const char *key)
{
	const char *s = json_get_text(o, key);

	return xstrdup(s ? s : "");
}

void triage_take_answer(const cJSON *o, struct triaged *t)
{
	t->problem = json_get_copy(o, "problem");
	t->kind = take_text(o, "kind");
	t->function = take_text(o, "function");
	t->object = take_text(o, "object");
	t->file = take_text(o, "file");
	t->text = take_text(o, "text");
	t->line = json_get_uint32(o, "line");
	t->input = take_text(o, "input");
	t->gdb_exploitable = take_text(o, "gdb_exploitable");
	t->casr = take_text(o, "casr");
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct triaged *)a)->path, ((const struct triaged *)b)->path);
}

/* A dump that an earlier triage sorted and that is not among those of today: it stays in its bucket. */
static void keep_old(struct triage *t, const cJSON *o, char *path)
{
	struct triaged d = { .path = path,
			     .size = json_get_uint(o, "size"),
			     .changed = (int64_t)json_get_uint(o, "changed"),
			     .gone = access(path, F_OK) != 0 };

	triage_take_answer(o, &d);
	vec_push(&t->dumps, d);
	t->known++;
}

static void take_known(struct triage *t, const cJSON *list)
{
	size_t n = t->dumps.len;
	const cJSON *o;

	cJSON_ArrayForEach(o, list)
	{
		struct triaged key = { .path = take_text(o, "path") }, *d;

		d = n ? bsearch(&key, t->dumps.data, n, sizeof(key), by_path) : NULL;
		if (!d && *key.path && !json_get_text(o, "problem")) {
			keep_old(t, o, key.path);
			continue;
		}
		if (d && !d->kind && json_get_uint(o, "size") == d->size &&
		    (int64_t)json_get_uint(o, "changed") == d->changed) {
			triage_take_answer(o, d);
			t->known++;
		}
		free(key.path);
	}
}

struct err *triage_read_index(struct triage *t, const char *path)
{
	struct strbuf sb = { 0 };
	struct err *err = path && file_exists(path) ? file_read(path, &sb) : NULL;
	cJSON *root = sb.len ? cJSON_Parse(strbuf_str(&sb)) : NULL;
	const cJSON *list = cJSON_GetObjectItem(root, "dumps");

	vec_sort(&t->dumps, by_path);
	if (!err && sb.len && !cJSON_IsArray(list))
		err = err_new(
			ERR_ENV,
			"%s is no index of rewind triage, or it is damaged: remove it, or name "
			"another file with -o",
			path);
	if (!err)
		take_known(t, list);
	vec_sort(&t->dumps, by_path);
	cJSON_Delete(root);
	strbuf_deinit(&sb);
	return err;
}

/* ---- names for buckets ---- */

/* One "key = value"; false when it is none of ours. */
static bool take_pair(const char *p, struct annotation *a)
{
	char key[16], value[128];

	if (sscanf(p, " %15[a-z] = %127[^;}\n]", key, value) != 2)
		return false;
	for (size_t n = strlen(value); n && value[n - 1] == ' '; n--)
		value[n - 1] = '\0';
	if (strcmp(key, "kind") == 0)
		snprintf(a->kind, sizeof(a->kind), "%s", value);
	else if (strcmp(key, "function") == 0)
		snprintf(a->function, sizeof(a->function), "%s", value);
	else if (strcmp(key, "object") == 0)
		snprintf(a->object, sizeof(a->object), "%s", value);
	else
		return false;
	return true;
}

/* From "bucket" on; where the next one may begin, NULL when it is not written as it should be. */
static const char *take_bucket(const char *p, struct annotation *a)
{
	int used = 0;

	if (sscanf(p, "bucket \"%127[^\"]\" {%n", a->name, &used) != 1 || !used)
		return NULL;
	for (p += used + (int)strspn(p + used, " \t\n"); *p && *p != '}';
	     p += strspn(p, "; \t\n")) {
		if (!take_pair(p, a))
			return NULL;
		p += strcspn(p, ";}\n");
	}
	return *p ? p + 1 : NULL;
}

struct err *annotations_read(const char *path, struct annotations *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };
	struct err *err = path ? file_read(path, &sb) : NULL;
	const char *p = strbuf_str(&sb);

	while (!err && p && (p = strstr(p, "bucket \""))) {
		struct annotation a = { 0 };

		p = take_bucket(p, &a);
		if (p)
			vec_push(ret, a);
		else
			err = err_new(ERR_ENV,
				      "%s: a bucket is: bucket \"name\" { kind = ...; "
				      "function = ...; object = ... }",
				      path);
	}
	return err;
}

/* ---- what became of both ---- */

void triage_deinit(struct triage *t)
{
	for (size_t i = 0; i < t->dumps.len; i++) {
		struct triaged *d = &t->dumps.data[i];

		free(d->path);
		free(d->kind);
		free(d->function);
		free(d->object);
		free(d->file);
		free(d->text);
		free(d->input);
		free(d->gdb_exploitable);
		free(d->casr);
		free(d->problem);
	}
	for (size_t i = 0; i < t->buckets.len; i++) {
		free(t->buckets.data[i].name);
		free(t->buckets.data[i].key);
	}
	vec_deinit(&t->dumps);
	vec_deinit(&t->buckets);
}
