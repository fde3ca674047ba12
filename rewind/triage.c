/* rewind/triage.c - see triage.h.
 *
 * Dumps are rewound by workers, processes of which there are `jobs` at a time. A worker takes one dump after the other
 * and writes a line of JSON about each: the debug information of the binaries, which costs more than the walk of
 * most dumps, is read once for all of them. A dump that brings its worker down costs only itself: a new worker
 * goes on behind it. Nothing is run natively: a thousand dumps are read, not revived. */
#include "rewind/triage.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/json-read.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/process.h"
#include "debug/stack.h"
#include "rewind/rewind.h"
#include "rewind/triage-files.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STACK_FRAMES = 3, WORKER_DUMPS = 100 };

/* ---- one dump ---- */

/* "pool[2].next" and "pool[5].next" are one element; so are all blocks of the heap. */
static char *element_of(struct rewind *r, uint64_t address)
{
	struct strbuf name = { 0 }, out = { 0 };
	bool inside = false;

	if (address)
		dump_names_add_object(&r->names, address, &name);
	if (strstr(strbuf_str(&name), "heap block")) {
		strbuf_deinit(&name);
		return xstrdup("heap block");
	}
	if (strncmp(strbuf_str(&name), "0x", 2) == 0 || strncmp(strbuf_str(&name), "stack", 5) == 0)
		strbuf_clear(&name);
	for (const char *p = strbuf_str(&name); *p; p++) {
		inside |= *p == '[';
		if (!inside && *p != '+')
			strbuf_addc(&out, *p);
		if (*p == '+')
			break;
		if (*p == ']') {
			strbuf_adds(&out, "[]");
			inside = false;
		}
	}
	strbuf_deinit(&name);
	return strbuf_detach(&out);
}

static void json_place(struct rewind *r, struct json *j, uint64_t pc)
{
	struct source_frames frames = { 0 };
	const struct source_frame *f;

	dump_names_frames(&r->names, pc, &frames);
	f = source_frames_own(&frames);
	json_str(j, "function", f && f->function ? f->function : "");
	json_str(j, "file", f && f->file ? f->file : "");
	json_uint(j, "line", f ? f->line : 0);
	vec_deinit(&frames);
}

/* No cause: the program's own functions on the stack. */
static void json_stack(struct rewind *r, struct json *j)
{
	struct stack_options o = { .modules = r->names.modules };
	struct strbuf sb = { 0 };
	struct stacks *s = NULL;
	struct err *err = stacks_open(&r->dump, &o, &s);
	const struct stack *stack = err ? NULL : stacks_get(s, r->thread);
	const struct stack_frame *first = NULL;
	unsigned n = 0;

	err_free(err);
	for (size_t i = 0; stack && i < stack->frames.len && n < STACK_FRAMES; i++) {
		const struct stack_frame *f = &stack->frames.data[i];

		if (!f->own || !f->function)
			continue;
		if (!first)
			first = f;
		strbuf_addf(&sb, "%s%s", n++ ? " < " : "", f->function);
	}
	json_str(j, "kind", strsignal(r->dump.signal));
	json_str(j, "function", strbuf_str(&sb));
	json_str(j, "file", first && first->file ? first->file : "");
	json_uint(j, "line", first ? first->line : 0);
	json_str(j, "object", "");
	json_str(j, "text", "no cause was found; sorted by its stack");
	strbuf_deinit(&sb);
	stacks_close(s);
}

static void json_dump(struct rewind *r, struct json *j)
{
	if (r->cause.text) {
		char *object = element_of(r, r->cause.address);

		json_str(j, "kind", cause_kind_name(r->cause.kind));
		json_place(r, j, r->cause.insn);
		json_str(j, "object", object);
		json_str(j, "text", r->cause.text);
		free(object);
	} else {
		json_stack(r, j);
	}
	if (r->exploit.casr.name) {
		json_str(j, "input", exploit_verdict(&r->exploit));
		json_str(j, "gdb_exploitable", r->exploit.exploitable.name);
		json_str(j, "casr", r->exploit.casr.name);
	}
}

static struct err *sort_one(const char *path, const char *answer, double seconds,
			    struct code_tools *tools)
{
	struct rewind_options o = { .seconds = seconds, .no_run = true, .tools = tools };
	struct rewind *r = NULL;
	struct err *err = rewind_open(path, &o, &r);
	struct json j;

	if (!err)
		err = rewind_work(r);
	json_init(&j);
	json_begin_object(&j, NULL);
	if (err)
		json_str(&j, "problem", err_message(err));
	else
		json_dump(r, &j);
	json_end(&j);
	rewind_close(r);
	err_free(err);
	err = file_write(answer, j.out.data, j.out.len);
	json_deinit(&j);
	return err;
}

/* ---- workers ---- */

/* What all workers share. */
struct work {
	const struct triage *triage;
	const struct triage_options *o;
	const char *folder;  /* of answers, named by the dump's number */
	atomic_size_t *next; /* dump that nobody has taken, in memory that all of them see */
};

static char *answer_path(const struct work *w, size_t dump)
{
	return xasprintf("%s/%zu", w->folder, dump);
}

static int sort_some(void *arg)
{
	const struct work *w = arg;
	struct code_tools tools;
	struct err *err = NULL;
	size_t i;

	code_tools_init(&tools);
	for (unsigned n = 0; n < WORKER_DUMPS && !err; n++) {
		_cleanup_(xfreep) char *answer = NULL;

		i = atomic_fetch_add(w->next, 1);
		if (i >= w->triage->dumps.len)
			break;
		if (w->triage->dumps.data[i].kind) /* the index has it */
			continue;
		answer = answer_path(w, i);
		err = sort_one(w->triage->dumps.data[i].path, answer, w->o->seconds, &tools);
	}
	code_tools_deinit(&tools);
	return err ? 1 : 0;
}

/* ---- all dumps ---- */

static void read_answer(const char *path, struct triaged *t)
{
	struct strbuf sb = { 0 };
	struct err *err = file_read(path, &sb);
	cJSON *o = err ? NULL : cJSON_Parse(strbuf_str(&sb));

	err_free(err);
	triage_take_answer(o, t); /* NULL has no items */
	if (!o)
		t->problem = xstrdup("rewinding it ended without an answer");
	cJSON_Delete(o);
	strbuf_deinit(&sb);
}

static void add_dump(struct triage *t, char *path)
{
	struct triaged d = { .path = path };
	struct stat st;

	if (stat(path, &st) == 0) {
		d.size = (uint64_t)st.st_size;
		d.changed = st.st_mtime;
	}
	vec_push(&t->dumps, d);
}

static struct err *add_path(struct triage *t, const char *path)
{
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (stat(path, &st) < 0)
		return err_new(ERR_ENV, "there is no dump or folder %s", path);
	if (!S_ISDIR(st.st_mode)) {
		add_dump(t, xstrdup(path));
		return NULL;
	}
	d = opendir(path);
	if (!d)
		return err_new(ERR_ENV, "cannot read the folder %s", path);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' && e->d_type != DT_DIR)
			add_dump(t, xasprintf("%s/%s", path, e->d_name));
	closedir(d);
	return NULL;
}

/* Workers until every dump was taken. */
static struct err *run_workers(struct work *w)
{
	size_t jobs = MAX(w->o->jobs, 1u), running = 0, slot = 0;
	struct process *p = xcalloc(jobs, sizeof(*p));
	struct err *err = NULL;

	for (size_t i = 0; i < jobs; i++)
		p[i].ended = true;
	while (!err && !interrupted()) {
		while (slot < jobs && !p[slot].ended)
			slot++;
		if (slot < jobs && atomic_load(w->next) < w->triage->dumps.len) {
			err = process_fork(sort_some, w, &p[slot]);
			running += !err;
			continue;
		}
		if (!running)
			break;
		err = process_wait(p, jobs, &slot);
		running--;
	}
	for (size_t i = 0; i < jobs; i++)
		process_kill(&p[i]);
	free(p);
	return err ? err : interrupted() ? interrupt_error() : NULL;
}

/* Rewind every dump that has no answer yet. */
static struct err *sort_all(struct triage *t, const struct triage_options *o, const char *folder)
{
	struct work w = { .triage = t, .o = o, .folder = folder };
	struct err *err;

	w.next = mmap(NULL, sizeof(*w.next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (w.next == MAP_FAILED)
		return err_errno(errno, "no memory for the workers");
	err = run_workers(&w);
	for (size_t i = 0; i < t->dumps.len && !err; i++) {
		_cleanup_(xfreep) char *answer = answer_path(&w, i);

		if (!t->dumps.data[i].kind)
			read_answer(answer, &t->dumps.data[i]);
	}
	munmap(w.next, sizeof(*w.next));
	return err;
}

/* ---- buckets ---- */

static bool fits(const char *want, const char *is)
{
	return !*want || strcmp(want, is) == 0;
}

/* How a bad value got there depends on the build: one loop overruns a name byte by byte, another writes the
 * pointer behind it at once. The function and the object do not. */
static const char *family(const char *kind)
{
	return strcmp(kind, cause_kind_name(CAUSE_PAST_END)) == 0 ||
			       strcmp(kind, cause_kind_name(CAUSE_BAD_VALUE)) == 0
		       ? cause_kind_name(CAUSE_BAD_WRITE)
		       : kind;
}

static char *bucket_name(const struct triaged *d, const char *kind, const struct annotations *a,
			 bool *annotated)
{
	*annotated = true;
	for (size_t i = 0; i < a->len; i++)
		if (fits(a->data[i].kind, d->kind) && fits(a->data[i].function, d->function) &&
		    fits(a->data[i].object, d->object))
			return xstrdup(a->data[i].name);
	*annotated = false;
	return xasprintf("%s in %s%s%s", kind, *d->function ? d->function : "?",
			 *d->object ? ": " : "", d->object);
}

/* To look at: one that is still there, and a small one. */
static bool is_better(const struct triaged *d, const struct triaged *than)
{
	return d->gone != than->gone ? than->gone : d->size < than->size;
}

static void put_into_bucket(struct triage *t, uint32_t i, const struct annotations *a)
{
	struct triaged *d = &t->dumps.data[i];
	struct bucket *b;
	bool annotated;
	char *key = bucket_name(d, family(d->kind), a, &annotated);
	uint32_t n = 0;

	while (n < t->buckets.len && strcmp(t->buckets.data[n].key, key) != 0)
		n++;
	if (n == t->buckets.len)
		vec_push(&t->buckets,
			 ((struct bucket){ .key = xstrdup(key),
					   .name = bucket_name(d, d->kind, a, &annotated),
					   .annotated = annotated,
					   .smallest = i }));
	free(key);
	b = &t->buckets.data[n];
	b->count++;
	d->bucket = n;
	if (is_better(d, &t->dumps.data[b->smallest]))
		b->smallest = i;
}

struct err *triage_run(char *const *paths, size_t n, const struct triage_options *o,
		       struct triage *ret)
{
	struct annotations notes = { 0 };
	char *folder = NULL;
	struct err *err = NULL;

	*ret = (struct triage){ 0 };
	for (size_t i = 0; i < n && !err; i++)
		err = add_path(ret, paths[i]);
	if (!err)
		err = annotations_read(o->annotations, &notes);
	if (!err)
		err = triage_read_index(ret, o->index);
	if (!err)
		err = file_temp_dir(&folder);
	if (!err)
		err = sort_all(ret, o, folder);
	for (uint32_t i = 0; i < ret->dumps.len && !err; i++)
		if (!ret->dumps.data[i].problem)
			put_into_bucket(ret, i, &notes);
	if (folder)
		file_remove_tree(folder);
	free(folder);
	vec_deinit(&notes);
	return err;
}
