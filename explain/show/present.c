/* explain/show/present.c - from steps to what a person reads.
 *
 * Names come from the trace's symbols: the source's own words for an object where the site has
 * them. Source lines are read from the files debug info names, looked for in the directory of the
 * plait's command and in the current one; a file that is not there costs its line, nothing else. */
#include "explain/show/present.h"

#include "base/demangle.h"
#include "base/err.h"
#include "base/file.h"
#include "explain/show/labels.h"
#include "explain/show/stacks.h"
#include "debug/names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EXCERPT_LINES = 3 }; /* on each side */

/* ---- source lines ---- */

static struct err *read_somewhere(const struct labels *p, const char *path, struct strbuf *ret)
{
	_cleanup_(xfreep) char *in_cwd = NULL, *beside = NULL;
	struct err *err = file_read(path, ret);
	const char *slash;

	if (!err || path[0] == '/')
		return err;
	if (p->meta->cwd) {
		err_free(err);
		in_cwd = xasprintf("%s/%s", p->meta->cwd, path);
		err = file_read(in_cwd, ret);
	}
	slash = p->meta->nmodules ? strrchr(p->meta->modules[0].path, '/') : NULL;
	if (err && slash) {
		err_free(err);
		beside = xasprintf("%.*s/%s", (int)(slash - p->meta->modules[0].path),
				   p->meta->modules[0].path, path);
		err = file_read(beside, ret);
	}
	return err;
}

/* Lines that end as Windows ends them: without the carriage return. */
static void drop_returns(struct strbuf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] != '\r' || i + 1 == text->len || text->data[i + 1] != '\n')
			text->data[n++] = text->data[i];
	if (text->data)
		text->data[n] = 0;
	text->len = n;
}

static const struct strbuf *source_text(struct labels *p, const char *path)
{
	struct source_file *f;
	struct err *err;

	for (size_t i = 0; i < p->files.len; i++)
		if (strcmp(p->files.data[i].path, path) == 0)
			return &p->files.data[i].text;
	f = vec_add(&p->files);
	f->path = xstrdup(path);
	err = read_somewhere(p, path, &f->text);
	err_free(err);
	drop_returns(&f->text);
	return &vec_last(&p->files)->text;
}

/* Start of line number n (from 1); NULL when there is none. */
static const char *line_start(const char *text, uint32_t n)
{
	for (; text && n > 1; n--) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text && *text ? text : NULL;
}

static void add_source(struct labels *p, struct shown_event *e)
{
	const char *text = strbuf_str(source_text(p, e->file));
	const char *line = line_start(text, e->line), *first, *end;
	uint32_t from = e->line > EXCERPT_LINES ? e->line - EXCERPT_LINES : 1;

	if (!line || !e->line)
		return;
	first = line_start(text, from);
	end = line_start(text, e->line + EXCERPT_LINES + 1);
	e->excerpt_line = from;
	e->excerpt = end ? arena_strndup(&p->x->arena, first, (size_t)(end - first - 1))
			 : arena_strdup(&p->x->arena, first);
	while (isspace((unsigned char)*line) && *line != '\n')
		line++;
	e->source = arena_strndup(&p->x->arena, line, strcspn(line, "\n"));
}

/* ---- events ---- */

static const char *value_text(struct labels *p, const struct step *s)
{
	int64_t v = (int64_t)s->value;

	if (!step_is_memory(s) || !s->size || s->size > 8)
		return NULL;
	if (s->pending)
		return "not reached";
	if (s->size < 8)
		v = (int64_t)(s->value << (64 - 8 * s->size)) >> (64 - 8 * s->size);
	if (v >= 0 && (uint64_t)v > 0xffffff)
		return arena_printf(&p->x->arena, "0x%" PRIx64, (uint64_t)v);
	return arena_printf(&p->x->arena, "%" PRId64, v);
}

/* What a name begins with, and what a person would write. */
static const char *const plain_words[][2] = { { "struct ", "" },
					      { "class ", "" },
					      { "union ", "" },
					      { "_Znwm@", "new@" },
					      { "_Znam@", "new@" } };

static struct err *object_name(struct labels *p, const struct step *s, const char **ret)
{
	_cleanup_(strbuf_deinit) struct strbuf name = { 0 };
	struct event ev = { .thread = s->thread,
			    .kind = (uint8_t)s->kind,
			    .clock = s->clock,
			    .site = s->site,
			    .address = s->address,
			    .n = s->size };
	struct err *err = symbols_event_object(p->symbols, &ev, &name);
	const char *text = strbuf_str(&name), *begin = "";

	for (size_t i = 0; i < ARRAY_SIZE(plain_words); i++)
		if (strncmp(text, plain_words[i][0], strlen(plain_words[i][0])) == 0) {
			text += strlen(plain_words[i][0]);
			begin = plain_words[i][1];
			break;
		}
	if (!err && *text)
		*ret = arena_printf(&p->x->arena, "%s%s", begin, text);
	return err;
}

bool labels_is_anonymous(const char *name)
{
	return !name || strchr(name, '@') || strchr(name, '#') || strncmp(name, "stack ", 6) == 0;
}

/* "pool->lock", as it is: in parentheses it is no call, and no cast. */
static bool is_plain_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_.>-[]", text[i]))
			return false;
	return len && text[len + 1] != ' ' && !isalnum((unsigned char)text[len + 1]);
}

/* The lock of an allocated object has no name but the one in the call: "q->lock". */
static const char *name_in_call(struct labels *p, const char *source)
{
	static const char *const calls[] = { "pthread_",    "sem_",	  "mtx_",
					     "cnd_",	    "lock_guard", "unique_lock",
					     "scoped_lock", "shared_lock" };
	const char *at = NULL;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(calls) && !at; i++)
		at = strstr(source, calls[i]);
	at = at ? strpbrk(at, "({") : NULL;
	if (!at)
		return NULL;
	at++;
	at += strspn(at, " &");
	at += at[0] == '(' && is_plain_name(at + 1, strcspn(at + 1, ")"));
	len = strcspn(at, ",)}");
	while (len && at[len - 1] == ' ')
		len--;
	return len && strcspn(at, "(") >= len ? arena_strndup(&p->x->arena, at, len) : NULL;
}

/* A wait for a condition variable uses the mutex as well: which of the two is meant, the line does not say. */
static bool has_two_locks(const char *source)
{
	return source && strstr(source, "wait(") &&
	       (strstr(source, "cond_") || strstr(source, "cnd_"));
}

/* What a class of the library calls its inside tells nobody anything. */
static bool is_internal(const char *name)
{
	return name && (strncmp(name, "__", 2) == 0 || strstr(name, "_M_"));
}

/* Whose member function a line calls, by its own name: "hits" in "n = hits.load();". */
static const char *name_of_receiver(struct labels *p, const char *source, const char *const *calls)
{
	const char *end = NULL, *begin;

	for (; *calls; calls++)
		for (unsigned arrow = 0; arrow < 2; arrow++) {
			const char *text =
				arena_printf(&p->x->arena, "%s%s", arrow ? "->" : ".", *calls);
			const char *at = strstr(source, text);

			if (at && (!end || at < end))
				end = at;
		}
	for (begin = end; begin && begin > source; begin--)
		if (!isalnum((unsigned char)begin[-1]) && !strchr("_.>-[]", begin[-1]))
			break;
	return end && begin < end ? arena_strndup(&p->x->arena, begin, (size_t)(end - begin))
				  : NULL;
}

static const char *const atomic_calls[] = {
	"load(", "store(",	  "exchange(", "fetch_", "compare_exchange_",
	"wait(", "test_and_set(", NULL
};
static const char *const condition_calls[] = { "wait(",	      "wait_for(",   "wait_until(",
					       "notify_one(", "notify_all(", NULL };
static const char *const lock_calls[] = { "lock(",    "unlock(",  "try_lock(", "lock_shared(",
					  "acquire(", "release(", NULL };

/* The program's own name for it: what the line calls, or the variable that lies there. */
static struct err *name_outside(struct labels *p, const struct step *s, struct shown_event *e)
{
	const char *name = e->source ? name_of_receiver(p, e->source, atomic_calls) : NULL;
	struct step anywhere = *s;
	struct err *err = NULL;

	anywhere.site = 0;
	if (!name)
		err = object_name(p, &anywhere, &name);
	if (!err && !labels_is_anonymous(name) && !is_internal(name))
		e->object = name;
	return err;
}

/* A destructor unlocks without saying what: by the name it was locked by. */
static void name_lock(struct labels *p, const struct step *s, struct shown_event *e)
{
	uint64_t address = s->address;
	bool condition = s->kind == PLAIT_EV_WAIT || s->kind == PLAIT_EV_WOKEN ||
			 s->kind == PLAIT_EV_SIGNAL || s->kind == PLAIT_EV_BROADCAST;
	const char *name = e->source ? name_in_call(p, e->source) : NULL;
	uint64_t *known = map_put(&p->lock_names, address, 0);

	if (e->source && !name)
		name = name_of_receiver(p, e->source, condition ? condition_calls : lock_calls);
	if (!*known && name)
		*known = (uint64_t)(uintptr_t)name;
	if (*known)
		e->object = (const char *)(uintptr_t)*known;
}

enum { MAX_PLACES = 8 };

/* Inlined code may know no more than the allocation; another place that touches the same bytes may
 * know the member. */
static struct err *name_elsewhere(struct labels *p, const struct step *s, const char **ret)
{
	uint32_t tried[MAX_PLACES] = { s->site }, n = 1;
	uint64_t *known = map_find(&p->names, s->address);
	const char *name = NULL;
	struct err *err = NULL;

	for (size_t i = 0; !known && p->others && i < p->others->len && n < MAX_PLACES; i++) {
		const struct step *o = &p->others->data[i];
		/* of an access that was caught only the address is known */
		bool again = o->address != s->address || !o->site || o->kind == PLAIT_EV_FREE ||
			     (o->size != s->size && (s->site || !step_is_memory(o)));

		for (uint32_t k = 0; k < n && !again; k++)
			again = tried[k] == o->site;
		if (again)
			continue;
		tried[n++] = o->site;
		err = object_name(p, o, &name);
		if (err)
			return err;
		if (!labels_is_anonymous(name))
			break;
		name = NULL;
	}
	if (!known) {
		known = map_put(&p->names, s->address, 0);
		*known = (uint64_t)(uintptr_t)name;
	}
	if (*known)
		*ret = (const char *)(uintptr_t)*known;
	return NULL;
}

static const char *or_null(struct labels *p, const char *s)
{
	return s && *s ? arena_strdup(&p->x->arena, s) : NULL;
}

/* Call stacks are known of the failing run; the same step of the passing one was called alike. */
static const struct plait_stack *stack_of(const struct labels *p, const struct step *s)
{
	const struct steps *g = p->passing;
	uint32_t twin;

	if (!p->stacks || !g || s < g->data || s >= g->data + g->len)
		return stacks_find(p->stacks, s);
	twin = p->twin_of_passing[s - g->data];
	return twin == STEP_NONE ? NULL : stacks_find(p->stacks, &p->stacks->steps->data[twin]);
}

/* Code of the system is told at the line that called it. */
static void use_caller(struct labels *p, const struct step *s, struct code_point *at)
{
	const struct plait_stack *stack = stack_of(p, s);
	struct code_point caller;

	if (stack && (!at->line || is_system_file(at->file)) &&
	    stack_own_line(p->symbols, stack, &caller)) {
		at->file = caller.file;
		at->line = caller.line;
		at->function = caller.function;
	}
}

static bool is_header(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && (dot[1] == 'h' || strcmp(dot, ".inl") == 0 || strcmp(dot, ".ipp") == 0);
}

/* A wrapper of an atomic operation, or of a lock, says little: who called it from another file? */
static void add_caller(struct labels *p, const struct step *s, struct shown_event *e)
{
	const struct plait_stack *stack = stack_of(p, s);
	struct code_point caller;

	if (stack && e->file && e->line && (is_header(e->file) || !step_is_memory(s)) &&
	    stack_caller(p->symbols, stack, e->file, &caller))
		e->called_at = labels_point(p, &caller);
}

struct err *labels_event(struct labels *p, const struct step *s, struct shown_event *e)
{
	struct code_point at;
	struct err *err;

	e->thread = s->thread;
	e->index = s->index;
	e->position = s->clock;
	/* a thread that waits is woken and joins later, if ever */
	e->op = s->pending && s->kind == PLAIT_EV_WOKEN ? "wait" : event_kind_name(s->kind);
	e->value = value_text(p, s);
	if (symbols_site(p->symbols, s->site, &at) || stack_of(p, s)) {
		use_caller(p, s, &at);
		e->file = or_null(p, at.file);
		e->line = at.line;
		e->function = or_null(p, at.function);
	}
	if (e->file) {
		add_source(p, e);
		add_caller(p, s, e);
	}
	err = s->kind == PLAIT_EV_JOIN ? NULL : object_name(p, s, &e->object);
	if (!err && is_internal(e->object) && step_is_memory(s))
		err = name_outside(p, s, e);
	if (!err &&
	    (labels_is_anonymous(e->object) || (is_internal(e->object) && !step_is_memory(s)))) {
		if (step_is_memory(s))
			err = name_elsewhere(p, s, &e->object);
		/* a lock that was caught in memory that is gone is named by the call, too */
		if (!err && (!step_is_memory(s) || (s->pending && labels_is_anonymous(e->object) &&
						    !has_two_locks(e->source))))
			name_lock(p, s, e);
	}
	return err;
}

static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *labels_place(struct labels *p, const struct shown_event *e)
{
	const char *function = e->function ? e->function : "?";

	if (e->file && e->line)
		return arena_printf(&p->x->arena, "%s:%u%s%s%s", short_name(e->file), e->line,
				    e->called_at ? " (called at " : "",
				    e->called_at ? e->called_at : "", e->called_at ? ")" : "");
	return arena_printf(&p->x->arena, "%s%s", function, call_brackets(function));
}

const char *labels_point(struct labels *p, const struct code_point *at)
{
	return arena_printf(&p->x->arena, "%s:%u", short_name(at->file), at->line);
}

/* Same thread, place and operation directly after one another: a loop; the first stands for all. */
static bool repeats(const struct shown_event *a, const struct shown_event *b)
{
	return a->thread == b->thread && a->line == b->line && a->op == b->op && !b->failure &&
	       a->reordered == b->reordered && a->only_here == b->only_here && a->file && b->file &&
	       strcmp(a->file, b->file) == 0 &&
	       (!a->object || !b->object || strcmp(a->object, b->object) == 0);
}

struct side {
	const struct steps *steps;
	const uint8_t *show;
	struct shown_schedule *out;
	uint32_t *at; /* [step]: index in out->events, or STEP_NONE */
};

static struct err *present_side(struct labels *p, struct side *side)
{
	VEC(struct shown_event) events = { 0 };
	struct err *err = NULL;

	side->out->flows_total = 0;
	side->at = xmalloc(side->steps->len * sizeof(*side->at));
	memset(side->at, 0xff, side->steps->len * sizeof(*side->at));
	for (uint32_t i = 0; i < side->steps->len && !err; i++) {
		struct shown_event e = { 0 };

		side->out->flows_total +=
			step_is_memory(&side->steps->data[i]) && step_reads(&side->steps->data[i]);
		if (!side->show[i])
			continue;
		e.reordered = side->show[i] & PROJECT_REORDERED;
		e.only_here = side->show[i] & PROJECT_ONLY_HERE;
		e.failure = side->show[i] & PROJECT_FAILURE;
		err = labels_event(p, &side->steps->data[i], &e);
		e.switched = events.len && vec_last(&events)->thread != e.thread;
		if (events.len && repeats(vec_last(&events), &e)) {
			vec_last(&events)->repeats++;
			side->at[i] = (uint32_t)events.len - 1;
			continue;
		}
		side->at[i] = (uint32_t)events.len;
		vec_push(&events, e);
	}
	side->out->events =
		arena_memdup(&p->x->arena, events.data, events.len * sizeof(*events.data));
	side->out->len = events.len;
	side->out->events_total =
		side->steps->len ? side->steps->data[side->steps->len - 1].clock + 1 : 0;
	side->out->switches = steps_switches(side->steps);
	vec_deinit(&events);
	return err;
}

static void present_flows(struct labels *p, const struct projection *projection,
			  const struct side *failing, const struct side *passing)
{
	struct explanation *x = p->x;

	x->flows = arena_array(&x->arena, struct shown_flow, projection->nflows);
	for (size_t i = 0; i < projection->nflows; i++) {
		const struct projection_flow *f = &projection->flows[i];
		const struct side *side = f->failing ? failing : passing;
		struct shown_flow shown = { .failing = f->failing,
					    .from = f->from == STEP_NONE ? STEP_NONE
									 : side->at[f->from],
					    .to = side->at[f->to] };
		bool known = f->from != STEP_NONE && shown.from == STEP_NONE;

		for (size_t k = 0; k < x->nflows && !known; k++)
			known = x->flows[k].failing == shown.failing &&
				x->flows[k].from == shown.from && x->flows[k].to == shown.to;
		if (!known && shown.to != STEP_NONE)
			x->flows[x->nflows++] = shown;
	}
}

static void present_threads(struct explanation *x, const struct trace_meta *meta)
{
	if (x->threads)
		return;
	x->nthreads = meta->nthreads;
	x->threads = arena_array(&x->arena, const char *, meta->nthreads);
	for (size_t i = 0; i < meta->nthreads; i++)
		x->threads[i] = arena_strdup(&x->arena, meta->threads[i].name);
}

/* The passing run may get to create threads that the failing one did not. */
static void name_new_threads(struct explanation *x, size_t n)
{
	const char **more;

	if (n <= x->nthreads)
		return;
	more = arena_array(&x->arena, const char *, n);
	for (size_t i = 0; i < n; i++)
		more[i] = i < x->nthreads ? x->threads[i] : arena_printf(&x->arena, "t%zu", i);
	x->threads = more;
	x->nthreads = n;
}

struct err *labels_init(struct labels *p, struct explanation *x, struct trace *trace)
{
	memset(p, 0, sizeof(*p));
	p->x = x;
	p->meta = trace_meta(trace);
	present_threads(x, p->meta);
	return symbols_open(trace, &p->symbols);
}

void labels_deinit(struct labels *p)
{
	for (size_t i = 0; i < p->files.len; i++) {
		free(p->files.data[i].path);
		strbuf_deinit(&p->files.data[i].text);
	}
	vec_deinit(&p->files);
	map_deinit(&p->lock_names);
	map_deinit(&p->names);
	symbols_close(p->symbols);
}

struct err *present_schedules(struct explanation *x, struct trace *trace,
			      const struct stacks *stacks, const struct steps *failing,
			      const struct alternate *alternate,
			      const struct projection *projection)
{
	struct side f = { failing, projection->show_failing, &x->failing, NULL };
	struct side g = { &alternate->passing, projection->show_passing, &x->passing, NULL };
	struct labels p;
	struct err *err = labels_init(&p, x, trace);

	p.others = failing;
	p.stacks = stacks;
	p.passing = &alternate->passing;
	p.twin_of_passing = projection->twin_of_passing;
	name_new_threads(x, alternate->passing.nthreads);
	x->pair[0] = x->pair[1] = UINT32_MAX;
	if (!err)
		err = present_side(&p, &f);
	if (!err && alternate->found)
		err = present_side(&p, &g);
	if (!err && alternate->found) {
		present_flows(&p, projection, &f, &g);
		x->pair[0] = f.at[alternate->pair.first];
		x->pair[1] = f.at[alternate->pair.second];
	}
	free(f.at);
	free(g.at);
	labels_deinit(&p);
	return err;
}

/* ---- where it failed ---- */

/* Is it in the C library, or in another that came with the system? */
static bool in_system_library(const struct trace_meta *m, uint64_t pc)
{
	for (size_t i = 0; i < m->nmodules; i++)
		if (pc >= m->modules[i].low && pc < m->modules[i].high)
			return strncmp(m->modules[i].path, "/usr/", 5) == 0 ||
			       strncmp(m->modules[i].path, "/lib", 4) == 0;
	return true;
}

/* Where a signal struck is exact, every other frame is a return address. */
static uint64_t frame_pc(const struct plait_failure *f, uint32_t i)
{
	return f->frames[i] - (i > 0);
}

/* The innermost frame of the program itself: not libc's, and not the runtime's, which it calls
 * through rt/ (and which calls its threads: only the innermost frames are meant). */
static uint32_t own_frame(struct symbols *symbols, const struct trace_meta *meta,
			  const struct plait_failure *f)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < f->nframes; i++) {
		struct code_point at;

		if (in_system_library(meta, frame_pc(f, i)) ||
		    !symbols_pc(symbols, frame_pc(f, i), &at) || !at.file[0] || !at.line)
			continue;
		if (strncmp(at.file, "rt/", 3) == 0) {
			found = UINT32_MAX;
		} else if (strncmp(at.file, "sched/", 6) != 0) {
			return i;
		} else if (found == UINT32_MAX) {
			found = i; /* ours, if rt/ comes next */
		}
	}
	return found;
}

/* file, line: NULL, or where they go. */
static const char *failed_at(struct explanation *x, struct trace *trace,
			     const struct plait_failure *failure, const char **file, uint32_t *line)
{
	struct symbols *symbols = NULL;
	struct err *err = symbols_open(trace, &symbols);
	uint32_t i = err ? UINT32_MAX : own_frame(symbols, trace_meta(trace), failure);
	const char *text = NULL;
	struct code_point at;

	if (i != UINT32_MAX && symbols_pc(symbols, frame_pc(failure, i), &at)) {
		if (file)
			*file = arena_strdup(&x->arena, at.file);
		if (line)
			*line = at.line;
		text = arena_printf(&x->arena, "%s:%u in %s%s", at.file, at.line, at.function,
				    call_brackets(at.function));
	}
	err_free(err);
	symbols_close(symbols);
	return text;
}

const char *present_failure(struct explanation *x, struct trace *trace,
			    const struct plait_failure *failure)
{
	return failed_at(x, trace, failure, &x->failed_file, &x->failed_line);
}

/* An assertion names its place; where threads wait for ever there is no single one. */
const char *present_face(struct explanation *x, struct trace *trace, const struct face *face)
{
	const struct plait_failure *f = &face->failure;
	const char *how = outcome_name(face->outcome), *at = NULL;

	if (face->outcome == PLAIT_OUTCOME_DEADLOCK || face->outcome == PLAIT_OUTCOME_HANG)
		return how;
	if (f->text[0] && strcmp(f->text, "abort()") != 0)
		how = arena_printf(&x->arena, "%.*s",
				   (int)(strlen(f->text) - (f->text[strlen(f->text) - 1] == '.')),
				   f->text);
	else if (face->outcome == PLAIT_OUTCOME_SIGNAL)
		how = arena_strdup(&x->arena, strsignal(f->signal));
	if (!strstr(how, "Assertion"))
		at = failed_at(x, trace, f, NULL, NULL);
	return at ? arena_printf(&x->arena, "%s at %s", how, at) : how;
}

const char *present_site(struct explanation *x, struct trace *trace, uint32_t site)
{
	struct symbols *symbols = NULL;
	struct err *err = symbols_open(trace, &symbols);
	struct code_point at;
	const char *text = NULL;

	if (!err && symbols_site(symbols, site, &at))
		text = at.file && *at.file && at.line
			       ? arena_printf(&x->arena, "%s:%u in %s%s", at.file, at.line,
					      at.function, call_brackets(at.function))
			       : arena_printf(&x->arena, "%s%s", at.function,
					      call_brackets(at.function));
	err_free(err);
	symbols_close(symbols);
	return text;
}
