/* test/unit/order-symbiosis.c - reader for the trace files; see fixtures' README for the format.
 *
 * Reads are named `R-var-thread-n` and used under that name in expressions, possibly by another
 * thread's path conditions (what a parent read before it forked), so all events are read before any
 * expression is parsed. */
#include "order-symbiosis.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define WIDTH 32

struct importer {
	char asserting[16];	/* of a file that says <assertThread...> */
	char *bits;		/* pathid of the file read last, without its leading 1; or NULL */
	VEC(uint32_t) branches; /* of the file read last: events before each */
	struct order_model *m;
	struct names objects, threads, reads;
	VEC(uint32_t) object_id; /* by name */
	VEC(uint32_t) thread_id;
	VEC(uint32_t) read_event;
	struct pending {
		uint32_t event; /* a write; ORDER_NONE: a condition of `thread` */
		uint32_t nth;	/* condition: of its thread */
		uint32_t index; /* condition: events before it; ORDER_NONE: not known */
		char *text;
		char *thread;
	} *pending;
	size_t npending, cap;
};

char *symbiosis_folder(const char *name)
{
	const char *base = getenv("UNPLAIT_FIXTURES");
	char *path = xasprintf("%s/symbiosis/%s", base ? base : "../shared/fixtures", name);

	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static uint32_t object(struct importer *im, enum order_object_kind kind, const char *name)
{
	uint32_t n = names_intern(&im->objects, name);

	if (n == im->object_id.len)
		vec_push(&im->object_id, order_object(im->m, kind, name, WIDTH, 0));
	return im->object_id.data[n];
}

static uint32_t thread(struct importer *im, const char *name)
{
	uint32_t n = names_intern(&im->threads, name);

	if (n == im->thread_id.len)
		vec_push(&im->thread_id, order_thread(im->m, name));
	return im->thread_id.data[n];
}

static void later(struct importer *im, uint32_t event, const char *text, const char *thread)
{
	if (im->npending == im->cap) {
		im->cap = im->cap ? 2 * im->cap : 64;
		im->pending = xreallocarray(im->pending, im->cap, sizeof(*im->pending));
	}
	im->pending[im->npending++] = (struct pending){ .event = event,
							.index = ORDER_NONE,
							.text = xstrdup(text),
							.thread = xstrdup(thread ? thread : "") };
}

/* ---- events ---- */

static void sync_event(struct importer *im, uint32_t t, char *what)
{
	static const struct {
		const char *word;
		enum order_kind kind;
	} words[] = {
		{ "lock", ORDER_LOCK }, { "unlock", ORDER_UNLOCK }, { "fork", ORDER_FORK },
		{ "join", ORDER_JOIN }, { "start", ORDER_START },   { "exit", ORDER_EXIT },
	};
	char *dash = strrchr(what, '-'), *arg;

	*dash = '\0'; /* the thread's own name */
	arg = strchr(what, '_');
	if (arg)
		*arg++ = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].word, what))
			continue;
		uint32_t on = 0;
		if (order_kind_object(words[i].kind) == ORDER_OBJECT_MUTEX) {
			char *name = xasprintf("lock %s", arg);
			on = object(im, ORDER_OBJECT_MUTEX, name);
			free(name);
		} else if (order_kind_object(words[i].kind) == ORDER_OBJECT_THREAD) {
			on = thread(im, arg);
		}
		order_event(im->m, t, words[i].kind, on);
		return;
	}
	BUG("unknown synchronisation '%s'", what);
}

static void event_line(struct importer *im, uint32_t t, char *line)
{
	char *at = strchr(line, ':');
	char *what = at + 1;
	uint32_t site = (uint32_t)strtoul(strchr(line, '@') + 1, NULL, 10);

	if (what[0] == 'S') {
		sync_event(im, t, what + 2);
	} else {
		char *name = xstrdup(what + 2), *dash = strrchr(name, '-');
		*dash = '\0';
		*strrchr(name, '-') = '\0';
		uint32_t cell = object(im, ORDER_OBJECT_CELL, name);
		uint32_t e = order_event(im->m, t, what[0] == 'R' ? ORDER_READ : ORDER_WRITE, cell);
		if (what[0] == 'R') {
			uint32_t n = names_intern(&im->reads, what);
			assert(n == im->read_event.len);
			(void)n;
			vec_push(&im->read_event, e);
		}
		free(name);
	}
	vec_last(&im->m->events)->site = site;
}

/* "T3:(R-x-3-1 > CONST_1)"; an event is "T3.java@8:R-x-3-1". */
static bool is_condition(const char *line)
{
	return line[0] == 'T' && strchr(line, ':') && !strchr(line, '@');
}

static void read_file(struct importer *im, const char *path, const char *name)
{
	FILE *f = fopen(path, "r");
	uint32_t t = thread(im, name);
	char line[4096];
	bool exits = false;
	uint32_t nth = 0;

	im->branches.len = 0;
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, "<assert", 7)) {
			snprintf(im->asserting, sizeof(im->asserting), "%s", name);
		} else if (line[0] == '<') {
			continue;
		} else if (is_condition(line)) {
			later(im, ORDER_NONE, strchr(line, ':') + 1, name);
			im->pending[im->npending - 1].nth = nth;
			if (nth < im->branches.len)
				im->pending[im->npending - 1].index = im->branches.data[nth];
			nth++;
		} else if (!strncmp(line, "branch-", 7)) {
			vec_push(&im->branches, (uint32_t)im->m->threads.data[t].len);
		} else if (!strncmp(line, "pathid-", 7)) {
			free(im->bits);
			im->bits = xstrdup(line + 8);
		} else if (line[0] == '$') {
			later(im, (uint32_t)im->m->events.len - 1, line + 1, NULL);
		} else if (line[0]) {
			event_line(im, t, line);
		}
		exits |= im->m->events.len && vec_last(&im->m->events)->kind == ORDER_EXIT;
	}
	if (f)
		fclose(f);
	if (!exits)
		order_event(im->m, t, ORDER_EXIT, 0);
}

/* ---- expressions: constants, reads, (a op b) ---- */

static void skip(const char **s)
{
	while (**s == ' ')
		++*s;
}

static term_id expression(struct importer *im, const char **s);

static term_id atom(struct importer *im, const char **s)
{
	struct terms *ts = &im->m->terms;
	char word[512];
	size_t n = strcspn(*s, " ()$");

	assert(n && n < sizeof(word));
	memcpy(word, *s, n);
	word[n] = '\0';
	*s += n;
	if (!strncmp(word, "CONST_", 6))
		return term_const(ts, WIDTH, (uint64_t)strtoll(word + 6, NULL, 10));
	if (word[0] != 'R')
		return term_const(ts, WIDTH, (uint64_t)strtoll(word, NULL, 10));
	uint32_t r = names_find(&im->reads, word);
	if (r == NAMES_NONE)
		BUG("unknown read '%s'", word);
	return order_value(im->m, im->read_event.data[r]);
}

static term_id operation(struct importer *im, const char *op, term_id a, term_id b)
{
	static const struct {
		const char *word;
		enum term_op op;
		bool swap;
	} ops[] = {
		{ "+", TERM_ADD, false },  { "-", TERM_SUB, false }, { "*", TERM_MUL, false },
		{ "==", TERM_EQ, false },  { "!=", TERM_NE, false }, { "<", TERM_SLT, false },
		{ "<=", TERM_SLE, false }, { ">", TERM_SLT, true },  { ">=", TERM_SLE, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strcmp(ops[i].word, op))
			return ops[i].swap ? term_binary(&im->m->terms, ops[i].op, b, a)
					   : term_binary(&im->m->terms, ops[i].op, a, b);
	BUG("unknown operation '%s'", op);
}

static term_id expression(struct importer *im, const char **s)
{
	char op[4] = "";

	skip(s);
	if (**s != '(')
		return atom(im, s);
	++*s;
	term_id a = expression(im, s);
	skip(s);
	for (size_t n = 0; strchr("+-*=!<>", **s) && **s && n < 3; n++)
		op[n] = *(*s)++;
	if (op[0])
		a = operation(im, op, a, expression(im, s));
	skip(s);
	assert(**s == ')');
	++*s;
	return a;
}

static void finish(struct importer *im, const char *asserting)
{
	size_t failure = SIZE_MAX;

	for (size_t i = 0; i < im->npending; i++)
		if (im->pending[i].event == ORDER_NONE && !strcmp(im->pending[i].thread, asserting))
			failure = i;
	for (size_t i = 0; i < im->npending; i++) {
		struct pending *x = &im->pending[i];
		const char *s = x->text;
		term_id t = expression(im, &s);
		if (x->event != ORDER_NONE) {
			im->m->events.data[x->event].value = t;
		} else if (i != failure) {
			order_condition(im->m, t);
		} else {
			const struct order_thread *th = &im->m->threads.data[thread(im, asserting)];
			order_failure(im->m, th->data[th->len - 2], t);
		}
	}
}

/* Every condition held. */
static void finish_passing(struct importer *im)
{
	size_t assertion = SIZE_MAX;

	for (size_t i = 0; i < im->npending; i++)
		if (im->pending[i].event == ORDER_NONE &&
		    !strcmp(im->pending[i].thread, im->asserting))
			assertion = i;
	for (size_t i = 0; i < im->npending; i++) {
		struct pending *x = &im->pending[i];
		const char *s = x->text;
		term_id t = expression(im, &s);

		if (x->event != ORDER_NONE) {
			im->m->events.data[x->event].value = t;
			continue;
		}
		assert(x->index != ORDER_NONE);
		order_condition_at(im->m, t,
				   &(struct order_place){ .thread = thread(im, x->thread),
							  .index = x->index,
							  .nth = x->nth,
							  .bit = x->nth + 1,
							  .doom = i == assertion ? 0 : 255 });
	}
}

static void deinit(struct importer *im)
{
	for (size_t i = 0; i < im->npending; i++) {
		free(im->pending[i].text);
		free(im->pending[i].thread);
	}
	free(im->pending);
	free(im->bits);
	names_deinit(&im->objects);
	names_deinit(&im->threads);
	names_deinit(&im->reads);
	vec_deinit(&im->object_id);
	vec_deinit(&im->thread_id);
	vec_deinit(&im->read_event);
	vec_deinit(&im->branches);
}

struct order_model *cortex_import(const struct trace_file *files, size_t n, char **paths)
{
	struct importer im = { .m = order_model_new() };

	for (size_t i = 0; i < n; i++) {
		free(im.bits);
		im.bits = NULL;
		read_file(&im, files[i].path, files[i].thread);
		paths[thread(&im, files[i].thread)] = xstrdup(im.bits ? im.bits : "");
	}
	finish_passing(&im);
	deinit(&im);
	return im.m;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

struct order_model *symbiosis_import(const char *folder, const char *asserting)
{
	struct importer im = { .m = order_model_new() };
	struct dirent **list;
	int n = scandir(folder, &list, NULL, by_name);

	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] == 'T') {
			char *path = xasprintf("%s/%s", folder, list[i]->d_name);
			read_file(&im, path, list[i]->d_name + 1);
			free(path);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	finish(&im, asserting);
	deinit(&im);
	if (n >= 0)
		return im.m;
	order_model_free(im.m);
	return NULL;
}
