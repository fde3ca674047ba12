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
	       strstr(file, "/lib/gcc/");
}

/* A return address is behind the call. False: nothing is known, or it is the runtime's. */
static bool line_of(struct symbols *symbols, const struct plait_stack *s, uint32_t i,
		    struct code_point *ret)
{
	return symbols_pc(symbols, s->frames[i] - 1, ret) && ret->file[0] && ret->line &&
	       strncmp(ret->file, "rt/", 3) != 0 && strncmp(ret->file, "sched/", 6) != 0;
}

bool stack_own_line(struct symbols *symbols, const struct plait_stack *s, struct code_point *ret)
{
	for (uint32_t i = 0; i < s->nframes; i++)
		if (line_of(symbols, s, i, ret) && !is_system_file(ret->file))
			return true;
	return false;
}

bool stack_in_library(struct symbols *symbols, const struct plait_stack *s)
{
	struct code_point at;

	for (uint32_t i = 0; i < s->nframes; i++)
		if (line_of(symbols, s, i, &at))
			return is_system_file(at.file);
	return false;
}

/* Does a frame below the common function belong to the program, or to a library it uses? */
static bool has_inner(struct symbols *symbols, const struct plait_stack *s, uint32_t below)
{
	struct code_point at;

	for (uint32_t i = 0; i < below; i++)
		if (line_of(symbols, s, i, &at))
			return true;
	return false;
}

bool stack_common(struct symbols *symbols, const struct plait_stack *first,
		  const struct plait_stack *last, struct stack_block *ret)
{
	uint32_t i, k;

	if (!first || !last)
		return false;
	for (i = first->nframes, k = last->nframes; i > 0 && k > 0; i--, k--)
		if (first->frames[i - 1] != last->frames[k - 1])
			break;
	if (!i || !k)
		return false;
	*ret = (struct stack_block){
		.first = first, .last = last, .first_inner = i - 1, .last_inner = k - 1
	};
	return line_of(symbols, first, i - 1, &ret->from) &&
	       line_of(symbols, last, k - 1, &ret->to) && !is_system_file(ret->from.file) &&
	       strcmp(ret->from.function, ret->to.function) == 0 &&
	       strcmp(ret->from.file, ret->to.file) == 0 &&
	       (has_inner(symbols, first, i - 1) || has_inner(symbols, last, k - 1));
}

static bool is_among(struct symbols *symbols, const struct plait_stack *s, uint32_t below,
		     const char *function)
{
	struct code_point at;

	for (uint32_t i = 0; i < below; i++)
		if (line_of(symbols, s, i, &at) && strcmp(at.function, function) == 0)
			return true;
	return false;
}

bool stack_beside(struct symbols *symbols, const struct stack_block *b, const struct plait_stack *s,
		  struct code_point *ret)
{
	for (uint32_t i = 0; s && i < s->nframes; i++)
		if (line_of(symbols, s, i, ret) && !is_system_file(ret->file) &&
		    !is_among(symbols, b->first, b->first_inner, ret->function) &&
		    !is_among(symbols, b->last, b->last_inner, ret->function))
			return true;
	return false;
}
