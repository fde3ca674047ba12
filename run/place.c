/* run/place.c - see place.h. */
#include "run/place.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/path.h"
#include "debug/names.h"
#include "debug/stack.h"
#include "run/run.h"
#include "run/sanitizer.h"

void places_deinit(struct places *p)
{
	for (size_t i = 0; i < p->len; i++) {
		free(p->data[i].file);
		free(p->data[i].function);
	}
	vec_deinit(p);
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* What stands below main and below every thread. */
static bool is_root(const struct code_point *p)
{
	static const char *const names[] = { "fiber_thunk",	  "__libc_start_call_main",
					     "__libc_start_main", "_start",
					     "start_thread",	  "clone3" };

	return is_one_of(p->function, names, ARRAY_SIZE(names));
}

/* Code of a sanitizer, which writes a report before it gives up. */
static bool is_sanitizer(const struct code_point *p)
{
	static const char *const prefixes[] = { "__sanitizer", "__asan", "__ubsan", "__lsan",
						"__interceptor" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(p->function, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* What stands above the function that gave up. */
static bool is_abort(const struct code_point *p)
{
	static const char *const names[] = { "abort",
					     "raise",
					     "gsignal",
					     "__pthread_kill",
					     "pthread_kill",
					     "__assert_fail",
					     "__assert_fail_base",
					     "__libc_message",
					     "malloc_printerr" };

	return is_sanitizer(p) || is_one_of(p->function, names, ARRAY_SIZE(names));
}

/* "/usr/lib/gcc/x86_64-linux-gnu/14/../../../../include/c++/14/thread" is
 * "/usr/include/c++/14/thread". */
static char *clean_path(const char *path)
{
	char *clean = xstrdup(path), *up;

	while ((up = strstr(clean, "/../")) && up != clean) {
		char *before = up - 1;

		while (before > clean && *before != '/')
			before--;
		if (*before != '/')
			break;
		memmove(before, up + 3, strlen(up + 3) + 1);
	}
	return clean;
}

static void add(struct places *ret, const struct code_point *p, bool library)
{
	vec_push(ret, (struct place){ .file = clean_path(p->file),
				      .function = xstrdup(p->function),
				      .line = p->line,
				      .library = library,
				      .merged = !library && p->file[0] && !p->line });
}

/* The runtime notices some failures itself, deep inside. The first frame outside of it. */
static uint32_t skip_runtime(struct symbols *s, const uint64_t *frames, uint32_t n)
{
	struct code_point p;
	uint32_t first = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!symbols_pc(s, frames[i] - 1, &p) || is_root(&p))
			break;
		if (path_is_runtime(p.file) && strcmp(p.function, "controlled_body") != 0)
			first = i + 1;
		else if (strncmp(p.file, "sched/", 6) != 0)
			break;
	}
	return first;
}

enum { NEAR = 64 }; /* bytes */

/* Code that the compiler moved has no line: the code before it in the same function has. */
static void use_line_before(struct symbols *s, uint64_t pc, struct code_point *at)
{
	for (uint64_t back = 1; !at->line && at->function[0] && back <= NEAR; back++) {
		struct code_point before;

		if (!symbols_pc(s, pc - back, &before) ||
		    strcmp(before.function, at->function) != 0)
			return;
		if (before.line)
			*at = before;
	}
}

/* The functions at one address: where the program's own code is, and what that was inlined into; merged: also those
 * whose line is not known. An address inside a library stands for its innermost function. */
static size_t functions_at(struct symbols *s, uint64_t pc, bool merged, struct code_point *ret)
{
	size_t n = symbols_frames(s, pc, ret, PLACES_MOST), own = 0;

	if (n == 1)
		use_line_before(s, pc, &ret[0]);
	for (size_t i = 0; i < n; i++)
		if (ret[i].file[0] && (ret[i].line || merged) && !path_is_system(ret[i].file))
			ret[own++] = ret[i];
	return own ? own : MIN(n, 1);
}

/* The compiler moved an access to where no line is known; its site knows the line it came from. */
static void use_site(struct symbols *s, const struct run_result *r, struct places *ret)
{
	struct code_point p;

	if (!ret->len || ret->data[0].line || r->end != PLAIT_END_MISUSE ||
	    !symbols_site(s, r->failure.site, &p) || !p.line)
		return;
	free(ret->data[0].file);
	ret->data[0].file = clean_path(p.file);
	ret->data[0].line = p.line;
}

/* exact: the first frame is the place itself; all others are return addresses. */
static void add_frames(struct symbols *s, const uint64_t *frames, uint32_t n, bool exact,
		       bool merged, size_t most, struct places *ret)
{
	struct code_point at[PLACES_MOST];

	for (uint32_t i = skip_runtime(s, frames, n); i < n; i++) {
		uint64_t pc = exact && i == 0 ? frames[0] : frames[i] - 1;
		size_t m = functions_at(s, pc, merged, at);

		for (size_t k = 0; k < m && ret->len < most; k++) {
			if (is_root(&at[k]))
				return;
			if (at[k].function[0] && !path_is_runtime(at[k].file) &&
			    (ret->len || !is_abort(&at[k])))
				add(ret, &at[k], !symbols_in_program(s, pc));
		}
	}
}

void places_of_blocked(struct symbols *s, const struct plait_blocked *b, struct places *ret)
{
	assert(b->nframes <= PLAIT_MAX_FRAMES);
	add_frames(s, b->frames, b->nframes, false, false, PLACES_MOST, ret);
}

void places_of_blocked_all(struct symbols *s, const struct plait_blocked *b, struct places *ret)
{
	assert(b->nframes <= PLAIT_MAX_FRAMES);
	add_frames(s, b->frames, b->nframes, false, true, SIZE_MAX, ret);
}

/* A fault is where it happened; abort() and the like were called from there. */
static bool is_fault(const struct run_result *r)
{
	return r->failure.kind == PLAIT_OUTCOME_SIGNAL;
}

void places_of_failure_all(struct symbols *s, const struct run_result *r, struct places *ret)
{
	add_frames(s, r->failure.frames, r->failure.nframes, is_fault(r), true, SIZE_MAX, ret);
	use_site(s, r, ret);
}

struct err *places_of_failure(const struct run_result *r, const char *path, struct places *ret)
{
	struct trace *t = NULL;
	struct symbols *s = NULL;
	struct code_point p;
	struct err *err;

	/* a sanitizer has looked itself, and knows more */
	if (r->outcome == PLAIT_OUTCOME_SANITIZER && r->errors)
		sanitizer_stack(r->errors, ret);
	if (ret->len || (!r->blocked.len && !r->failure.kind))
		return NULL;
	err = trace_open(path, &t);
	if (!err)
		err = symbols_open(t, &s);
	if (!err && r->blocked.len)
		places_of_blocked(s, &r->blocked.data[0], ret);
	else if (!err)
		add_frames(s, r->failure.frames, r->failure.nframes, is_fault(r), false,
			   PLACES_MOST, ret);
	if (!err)
		use_site(s, r, ret);
	/* code without frame pointers hides its callers: the thread's last access is near */
	if (!err && !ret->len && !r->blocked.len && symbols_site(s, r->failure.site, &p) &&
	    p.file[0])
		add(ret, &p, false);
	symbols_close(s);
	trace_close(t);
	return err;
}

void places_of_outcome(struct symbols *s, const struct trace_outcome *o, struct places *ret)
{
	add_frames(s, o->frames, o->nframes, o->kind == PLAIT_OUTCOME_SIGNAL, false, SIZE_MAX, ret);
}

const struct place *places_at(const struct places *p)
{
	for (size_t i = 0; i < p->len; i++)
		if (p->data[i].file[0] && strncmp(p->data[i].file, "/usr/", 5) != 0)
			return &p->data[i];
	return p->len ? &p->data[0] : NULL;
}

void places_of_stack(const struct stack *k, struct places *ret)
{
	for (size_t i = 0; i < k->frames.len; i++) {
		const struct stack_frame *f = &k->frames.data[i];

		vec_push(ret, (struct place){ .file = xstrdup(f->file ? f->file : ""),
					      .function = xstrdup(f->function ? f->function : ""),
					      .line = f->line,
					      .library = !f->own && !f->merged,
					      .merged = f->merged });
	}
}
