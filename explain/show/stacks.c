#include "explain/show/stacks.h"

#include <string.h>

void stacks_deinit(struct stacks *s)
{
	map_deinit(&s->index);
	vec_deinit(&s->data);
}

void stacks_add(struct stacks *s, uint32_t step, const uint64_t *frames, uint32_t nframes)
{
	struct plait_stack stack = { .nframes = MIN(nframes, PLAIT_MAX_FRAMES) };

	if (!nframes || map_find(&s->index, step))
		return;
	memcpy(stack.frames, frames, stack.nframes * sizeof(frames[0]));
	map_put(&s->index, step, s->data.len);
	vec_push(&s->data, stack);
}

const struct plait_stack *stacks_find(const struct stacks *s, const struct step *step)
{
	const uint64_t *at;

	if (!s || !s->steps || step < s->steps->data || step >= s->steps->data + s->steps->len)
		return NULL;
	at = map_find(&s->index, (uint64_t)(step - s->steps->data));
	return at ? &s->data.data[*at] : NULL;
}

bool is_system_file(const char *file)
{
	return strncmp(file, "/usr/", 5) == 0 || strstr(file, "/include/c++/") ||
	       strstr(file, "/lib/gcc/") || strncmp(file, "../sysdeps/", 11) == 0 ||
	       strncmp(file, "./nptl/", 7) == 0 || strncmp(file, "./csu/", 6) == 0;
}

enum { MAX_CALLS = 128 };

/* A call stack with inlined functions, innermost first; without the runtime's. */
struct calls {
	struct code_point at[MAX_CALLS];
	uint32_t n;
};

static bool is_own(const struct code_point *at)
{
	return at->file[0] && at->line && strncmp(at->file, "rt/", 3) != 0 &&
	       strncmp(at->file, "sched/", 6) != 0;
}

/* A return address is behind the call. */
static void expand(struct symbols *symbols, const struct plait_stack *s, struct calls *ret)
{
	ret->n = 0;
	for (uint32_t i = 0; i < s->nframes; i++) {
		size_t n = symbols_frames(symbols, s->frames[i] - 1, &ret->at[ret->n],
					  MAX_CALLS - ret->n);
		uint32_t kept = ret->n;

		for (size_t k = 0; k < n; k++)
			if (is_own(&ret->at[ret->n + k]))
				ret->at[kept++] = ret->at[ret->n + k];
		ret->n = kept;
	}
}

bool stack_own_line(struct symbols *symbols, const struct plait_stack *s, struct code_point *ret)
{
	struct calls calls;

	expand(symbols, s, &calls);
	for (uint32_t i = 0; i < calls.n; i++)
		if (!is_system_file(calls.at[i].file)) {
			*ret = calls.at[i];
			return true;
		}
	return false;
}

static bool same_name(const char *a, const char *b)
{
	const char *x = strrchr(a, '/'), *y = strrchr(b, '/');

	return strcmp(x ? x + 1 : a, y ? y + 1 : b) == 0;
}

const char *stack_destructor(struct symbols *symbols, const struct plait_stack *s)
{
	struct calls calls;

	expand(symbols, s, &calls);
	for (uint32_t i = 0; i < calls.n; i++)
		if (!is_system_file(calls.at[i].file) && strchr(calls.at[i].function, '~'))
			return calls.at[i].function;
	return NULL;
}

bool stack_caller(struct symbols *symbols, const struct plait_stack *s, const char *file,
		  struct code_point *ret)
{
	struct calls calls;
	bool inside = false;

	expand(symbols, s, &calls);
	for (uint32_t i = 0; i < calls.n; i++) {
		bool here = same_name(calls.at[i].file, file);

		if (inside && !here && !is_system_file(calls.at[i].file)) {
			*ret = calls.at[i];
			return true;
		}
		inside |= here;
	}
	return false;
}

bool stack_has_file(struct symbols *symbols, const struct plait_stack *s, const char *file)
{
	struct calls calls;

	expand(symbols, s, &calls);
	for (uint32_t i = 0; i < calls.n; i++)
		if (same_name(calls.at[i].file, file))
			return true;
	return false;
}

bool stack_in_library(struct symbols *symbols, const struct plait_stack *s)
{
	struct calls calls;

	expand(symbols, s, &calls);
	return calls.n && is_system_file(calls.at[0].file);
}

static bool same_function(const struct code_point *a, const struct code_point *b)
{
	return strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

/* Frames have whole names ("pool::work(int) const"), sites the function's own ("work"). */
static bool is_name_of(const char *own, const char *whole)
{
	size_t n = strlen(own);

	for (const char *at = whole; n && (at = strstr(at, own)); at++)
		if ((at == whole || strchr(": ", at[-1])) && (!at[n] || strchr("(<[ ", at[n])))
			return true;
	return false;
}

bool stack_has_function(struct symbols *symbols, const struct plait_stack *s,
			const struct code_point *at)
{
	struct calls calls;

	expand(symbols, s, &calls);
	for (uint32_t i = 0; i < calls.n; i++)
		if (is_name_of(at->function, calls.at[i].function) &&
		    strcmp(at->file, calls.at[i].file) == 0)
			return true;
	return false;
}

static bool same_call(const struct code_point *a, const struct code_point *b)
{
	return same_function(a, b) && a->line == b->line && a->column == b->column;
}

bool stack_common(struct symbols *symbols, const struct plait_stack *first,
		  const struct plait_stack *last, struct stack_block *ret)
{
	struct calls a, b;
	uint32_t i, k;

	if (!first || !last)
		return false;
	expand(symbols, first, &a);
	expand(symbols, last, &b);
	for (i = a.n, k = b.n; i > 0 && k > 0; i--, k--)
		if (!same_call(&a.at[i - 1], &b.at[k - 1]))
			break;
	if (!i || !k || (i == 1 && k == 1))
		return false;
	*ret = (struct stack_block){ .from = a.at[i - 1],
				     .to = b.at[k - 1],
				     .first = first,
				     .last = last,
				     .first_inner = i - 1,
				     .last_inner = k - 1 };
	return same_function(&ret->from, &ret->to) && !is_system_file(ret->from.file);
}

static bool is_among(const struct calls *calls, uint32_t below, const char *function)
{
	for (uint32_t i = 0; i < MIN(below, calls->n); i++)
		if (strcmp(calls->at[i].function, function) == 0)
			return true;
	return false;
}

bool stack_beside(struct symbols *symbols, const struct stack_block *b, const struct plait_stack *s,
		  struct code_point *ret)
{
	struct calls first, last, other = { .n = 0 };

	expand(symbols, b->first, &first);
	expand(symbols, b->last, &last);
	if (s)
		expand(symbols, s, &other);
	for (uint32_t i = 0; i < other.n; i++) {
		*ret = other.at[i];
		if (!is_system_file(ret->file) &&
		    !is_among(&first, b->first_inner, ret->function) &&
		    !is_among(&last, b->last_inner, ret->function))
			return true;
	}
	return false;
}
