/* trace/meta.c - the description of a run, to and from JSON.
 * 64-bit numbers that may need all their bits are hexadecimal strings, since JSON's are doubles. */
#include "trace/format.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_words(struct json *j, const char *key, char *const *words)
{
	json_begin_array(j, key);
	for (size_t i = 0; words && words[i]; i++)
		json_str(j, NULL, words[i]);
	json_end(j);
}

static void write_outcome(struct json *j, const struct trace_outcome *o)
{
	json_begin_object(j, "outcome");
	json_str(j, "kind", outcome_name(o->kind));
	json_str(j, "message", o->message);
	json_int(j, "signal", o->signal);
	json_int(j, "exit_code", o->exit_code);
	json_int(j, "code", o->code);
	json_uint(j, "thread", o->thread);
	json_uint(j, "site", o->site);
	json_hex(j, "address", o->address);
	json_begin_array(j, "frames");
	for (uint32_t i = 0; i < o->nframes; i++)
		json_hex(j, NULL, o->frames[i]);
	json_end(j);
	json_end(j);
}

static void write_threads(struct json *j, const struct trace_meta *m)
{
	json_begin_array(j, "threads");
	for (size_t i = 0; i < m->nthreads; i++) {
		const struct trace_thread *t = &m->threads[i];

		json_begin_object(j, NULL);
		json_uint(j, "parent", t->parent);
		json_uint(j, "ordinal", t->ordinal);
		json_uint(j, "kernel_tid", t->kernel_tid);
		json_bool(j, "ended", t->ended);
		json_hex(j, "stack_low", t->stack_low);
		json_hex(j, "stack_size", t->stack_size);
		json_hex(j, "entry", t->entry);
		json_uint(j, "lost", t->lost);
		json_uint(j, "events", t->nevents);
		json_hex(j, "bits", t->bits);
		json_hex(j, "values", t->values);
		json_hex(j, "synced", t->synced);
		json_end(j);
	}
	json_end(j);
}

static void write_modules(struct json *j, const struct trace_meta *m)
{
	json_begin_array(j, "modules");
	for (size_t i = 0; i < m->nmodules; i++) {
		const struct trace_module *mod = &m->modules[i];

		json_begin_object(j, NULL);
		json_str(j, "path", mod->path);
		json_str(j, "build_id", mod->build_id);
		json_hex(j, "load_address", mod->load_address);
		json_hex(j, "low", mod->low);
		json_hex(j, "high", mod->high);
		json_uint(j, "first_site", mod->first_site);
		json_uint(j, "sites", mod->nsites);
		json_end(j);
	}
	json_end(j);
}

void meta_write(const struct trace_meta *m, struct strbuf *out)
{
	struct json j;

	json_init(&j);
	json_begin_object(&j, NULL);
	json_str(&j, "written_by", "unplait " UNPLAIT_VERSION);
	json_str(&j, "mode", mode_name(m->mode));
	json_str(&j, "clock", m->clock == PLAIT_CLOCK_STEPS ? "steps" : "tsc");
	json_uint(&j, "clock_hz", m->clock_hz);
	json_hex(&j, "start_ns", (uint64_t)m->start_ns);
	write_words(&j, "command", m->command);
	json_str(&j, "cwd", m->cwd);
	write_words(&j, "environment", m->environment);
	json_begin_object(&j, "machine");
	json_str(&j, "kernel", m->kernel);
	json_str(&j, "cpu", m->cpu);
	json_uint(&j, "cpus", m->ncpus);
	json_end(&j);
	json_uint(&j, "pid", m->pid);
	json_uint(&j, "ended", m->ended);
	json_uint(&j, "flags", m->flags);
	json_uint(&j, "lost", m->lost);
	json_uint(&j, "threads_lost", m->threads_lost);
	json_uint(&j, "events", m->nevents);
	write_outcome(&j, &m->outcome);
	write_threads(&j, m);
	write_modules(&j, m);
	json_end(&j);
	strbuf_adds(out, strbuf_str(&j.out));
	json_deinit(&j);
}

/* ---- reading; absent or ill-typed members become 0 or NULL ---- */

static double number(const cJSON *o, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : 0;
}

static uint64_t whole(const cJSON *o, const char *key)
{
	double d = number(o, key);

	return d >= 0 && d < 9007199254740992.0 ? (uint64_t)d : 0;
}

static uint32_t whole32(const cJSON *o, const char *key)
{
	uint64_t v = whole(o, key);

	return v <= UINT32_MAX ? (uint32_t)v : 0;
}

static int integer(const cJSON *o, const char *key)
{
	double d = number(o, key);

	return d >= -2147483648.0 && d <= 2147483647.0 ? (int)d : 0;
}

static const char *text(const cJSON *o, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static char *text_copy(const cJSON *o, const char *key)
{
	const char *s = text(o, key);

	return s ? xstrdup(s) : NULL;
}

static uint64_t hex(const cJSON *o, const char *key)
{
	const char *s = text(o, key);

	return s ? strtoull(s, NULL, 16) : 0;
}

static char **words(const cJSON *o, const char *key)
{
	const cJSON *array = cJSON_GetObjectItemCaseSensitive(o, key), *item;
	size_t n = cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0, i = 0;
	char **ret = xcalloc(n + 1, sizeof(*ret));

	if (n > 0)
		cJSON_ArrayForEach(item, array) ret[i++] =
			xstrdup(cJSON_IsString(item) ? item->valuestring : "");
	return ret;
}

static void read_outcome(const cJSON *o, struct trace_outcome *ret)
{
	const cJSON *frames = cJSON_GetObjectItemCaseSensitive(o, "frames"), *item;
	const char *kind = text(o, "kind");

	ret->kind = kind ? outcome_find(kind) : PLAIT_OUTCOME_UNKNOWN;
	ret->message = text_copy(o, "message");
	ret->signal = integer(o, "signal");
	ret->exit_code = integer(o, "exit_code");
	ret->code = integer(o, "code");
	ret->thread = whole32(o, "thread");
	ret->site = whole32(o, "site");
	ret->address = hex(o, "address");
	if (!cJSON_IsArray(frames))
		return;
	cJSON_ArrayForEach(item,
			   frames) if (cJSON_IsString(item) && ret->nframes < PLAIT_MAX_FRAMES)
		ret->frames[ret->nframes++] = strtoull(item->valuestring, NULL, 16);
}

static void read_threads(const cJSON *array, struct trace_meta *m)
{
	const cJSON *item;

	if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > PLAIT_MAX_THREADS)
		return;
	m->threads = xcalloc((size_t)cJSON_GetArraySize(array) + 1, sizeof(*m->threads));
	cJSON_ArrayForEach(item, array)
	{
		m->threads[m->nthreads++] = (struct trace_thread){
			.parent = whole32(item, "parent"),
			.ordinal = whole32(item, "ordinal"),
			.kernel_tid = whole32(item, "kernel_tid"),
			.ended = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "ended")),
			.stack_low = hex(item, "stack_low"),
			.stack_size = hex(item, "stack_size"),
			.entry = hex(item, "entry"),
			.lost = whole(item, "lost"),
			.nevents = whole(item, "events"),
			.bits = hex(item, "bits"),
			.values = hex(item, "values"),
			.synced = hex(item, "synced"),
		};
	}
}

static void read_modules(const cJSON *array, struct trace_meta *m)
{
	const cJSON *item;

	if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > PLAIT_MAX_MODULES)
		return;
	m->modules = xcalloc((size_t)cJSON_GetArraySize(array) + 1, sizeof(*m->modules));
	cJSON_ArrayForEach(item, array)
	{
		struct trace_module *mod = &m->modules[m->nmodules++];
		const char *id = text(item, "build_id");

		mod->path = text_copy(item, "path");
		if (id)
			snprintf(mod->build_id, sizeof(mod->build_id), "%s", id);
		mod->load_address = hex(item, "load_address");
		mod->low = hex(item, "low");
		mod->high = hex(item, "high");
		mod->first_site = whole32(item, "first_site");
		mod->nsites = whole32(item, "sites");
	}
}

/* A parent comes before its children, so one pass is enough. */
struct err *meta_name_threads(struct trace_meta *m)
{
	for (size_t i = 0; i < m->nthreads; i++) {
		struct trace_thread *t = &m->threads[i];

		if (i == 0) {
			t->name = xstrdup("0");
			continue;
		}
		if (t->parent >= i)
			return err_new(ERR_ENV, "the thread table is damaged");
		t->name = xasprintf("%s.%u", m->threads[t->parent].name, t->ordinal);
		if (strlen(t->name) > 4096)
			return err_new(ERR_ENV, "the thread table is damaged");
	}
	return NULL;
}

struct err *meta_read(const char *data, size_t len, struct trace_meta *m)
{
	cJSON *o = cJSON_ParseWithLength(data, len);
	const char *mode = o ? text(o, "mode") : NULL, *clock;
	const cJSON *machine;

	*m = (struct trace_meta){ 0 };
	if (!mode || mode_find(mode) == UINT32_MAX) {
		cJSON_Delete(o);
		return err_new(ERR_ENV, "the description of the run is damaged");
	}
	m->mode = (enum plait_mode)mode_find(mode);
	clock = text(o, "clock");
	m->clock = clock && strcmp(clock, "steps") == 0 ? PLAIT_CLOCK_STEPS : PLAIT_CLOCK_TSC;
	m->clock_hz = whole(o, "clock_hz");
	m->start_ns = (int64_t)hex(o, "start_ns");
	m->command = words(o, "command");
	m->cwd = text_copy(o, "cwd");
	m->environment = words(o, "environment");
	machine = cJSON_GetObjectItemCaseSensitive(o, "machine");
	m->kernel = text_copy(machine, "kernel");
	m->cpu = text_copy(machine, "cpu");
	m->ncpus = whole32(machine, "cpus");
	m->pid = whole32(o, "pid");
	m->ended = whole32(o, "ended");
	m->flags = whole32(o, "flags");
	m->lost = whole(o, "lost");
	m->threads_lost = whole(o, "threads_lost");
	m->nevents = whole(o, "events");
	read_outcome(cJSON_GetObjectItemCaseSensitive(o, "outcome"), &m->outcome);
	read_threads(cJSON_GetObjectItemCaseSensitive(o, "threads"), m);
	read_modules(cJSON_GetObjectItemCaseSensitive(o, "modules"), m);
	cJSON_Delete(o);
	return meta_name_threads(m);
}

static void free_words(char **w)
{
	for (size_t i = 0; w && w[i]; i++)
		free(w[i]);
	free(w);
}

void meta_deinit(struct trace_meta *m)
{
	free_words(m->command);
	free_words(m->environment);
	free(m->cwd);
	free(m->kernel);
	free(m->cpu);
	free(m->outcome.message);
	for (size_t i = 0; i < m->nthreads; i++)
		free(m->threads[i].name);
	for (size_t i = 0; i < m->nmodules; i++)
		free(m->modules[i].path);
	free(m->threads);
	free(m->modules);
	*m = (struct trace_meta){ 0 };
}
