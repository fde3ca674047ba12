/* trace/meta.c - the description of a run, to and from JSON.
 * 64-bit numbers that may need all their bits are hexadecimal strings, since JSON's are doubles. */
#include "trace/format.h"

#include "base/err.h"
#include "base/json-read.h"
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

/* ---- reading ---- */

static void read_outcome(const cJSON *o, struct trace_outcome *ret)
{
	const cJSON *frames = cJSON_GetObjectItemCaseSensitive(o, "frames"), *item;
	const char *kind = json_get_text(o, "kind");

	ret->kind = kind ? outcome_find(kind) : PLAIT_OUTCOME_UNKNOWN;
	ret->message = json_get_copy(o, "message");
	ret->signal = json_get_int(o, "signal");
	ret->exit_code = json_get_int(o, "exit_code");
	ret->code = json_get_int(o, "code");
	ret->thread = json_get_uint32(o, "thread");
	ret->site = json_get_uint32(o, "site");
	ret->address = json_get_hex(o, "address");
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
			.parent = json_get_uint32(item, "parent"),
			.ordinal = json_get_uint32(item, "ordinal"),
			.kernel_tid = json_get_uint32(item, "kernel_tid"),
			.ended = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "ended")),
			.stack_low = json_get_hex(item, "stack_low"),
			.stack_size = json_get_hex(item, "stack_size"),
			.entry = json_get_hex(item, "entry"),
			.lost = json_get_uint(item, "lost"),
			.nevents = json_get_uint(item, "events"),
			.bits = json_get_hex(item, "bits"),
			.values = json_get_hex(item, "values"),
			.synced = json_get_hex(item, "synced"),
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
		const char *id = json_get_text(item, "build_id");

		mod->path = json_get_copy(item, "path");
		if (id)
			snprintf(mod->build_id, sizeof(mod->build_id), "%s", id);
		mod->load_address = json_get_hex(item, "load_address");
		mod->low = json_get_hex(item, "low");
		mod->high = json_get_hex(item, "high");
		mod->first_site = json_get_uint32(item, "first_site");
		mod->nsites = json_get_uint32(item, "sites");
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
	const char *mode = o ? json_get_text(o, "mode") : NULL, *clock;
	const cJSON *machine;

	*m = (struct trace_meta){ 0 };
	if (!mode || mode_find(mode) == UINT32_MAX) {
		cJSON_Delete(o);
		return err_new(ERR_ENV, "the description of the run is damaged");
	}
	m->mode = (enum plait_mode)mode_find(mode);
	clock = json_get_text(o, "clock");
	m->clock = clock && strcmp(clock, "steps") == 0 ? PLAIT_CLOCK_STEPS : PLAIT_CLOCK_TSC;
	m->clock_hz = json_get_uint(o, "clock_hz");
	m->start_ns = (int64_t)json_get_hex(o, "start_ns");
	m->command = json_get_words(o, "command");
	m->cwd = json_get_copy(o, "cwd");
	m->environment = json_get_words(o, "environment");
	machine = cJSON_GetObjectItemCaseSensitive(o, "machine");
	m->kernel = json_get_copy(machine, "kernel");
	m->cpu = json_get_copy(machine, "cpu");
	m->ncpus = json_get_uint32(machine, "cpus");
	m->pid = json_get_uint32(o, "pid");
	m->ended = json_get_uint32(o, "ended");
	m->flags = json_get_uint32(o, "flags");
	m->lost = json_get_uint(o, "lost");
	m->threads_lost = json_get_uint(o, "threads_lost");
	m->nevents = json_get_uint(o, "events");
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
