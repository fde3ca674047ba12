#include "sym/machine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void constraint_unref(struct constraint *c)
{
	while (c && !--c->refs) {
		struct constraint *before = c->before;

		free(c);
		c = before;
	}
}

struct state *state_new(void)
{
	struct state *s = xcalloc(1, sizeof(*s));

	memory_init(&s->memory);
	return s;
}

struct state *state_fork(struct state *s, uint32_t id)
{
	struct state *c = xmemdup(s, sizeof(*s));

	c->id = id;
	c->parent = s->id;
	c->next = NULL;
	memory_copy(&c->memory, &s->memory);
	c->threads = xmemdup(s->threads, s->nthreads * sizeof(*s->threads));
	for (uint32_t i = 0; i < s->nthreads; i++)
		if (c->threads[i].top)
			c->threads[i].top->refs++;
	if (c->path)
		c->path->refs++;
	if (c->model)
		c->model->refs++;
	return c;
}

void state_free(struct state *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nthreads; i++)
		frame_unref(s->threads[i].top);
	free(s->threads);
	memory_deinit(&s->memory);
	constraint_unref(s->path);
	model_unref(s->model);
	free(s);
}

struct frame *frame_new(struct function *f)
{
	struct frame *fr = xmalloc(sizeof(*fr) + ((size_t)f->nconst + f->nregs) * sizeof(uint64_t));

	fr->refs = 1;
	fr->pc = 0;
	fr->f = f;
	fr->caller = NULL;
	fr->allocas = 0;
	fr->depth = 1;
	fr->forks = 0;
	fr->x = fr->x_memory = NULL;
	fr->r = fr->memory + f->nconst;
	memcpy(fr->memory, f->consts, f->nconst * sizeof(uint64_t));
	return fr;
}

void frame_unref(struct frame *f)
{
	while (f && !--f->refs) {
		struct frame *caller = f->caller;

		free(f->x_memory);
		free(f);
		f = caller;
	}
}

struct frame *frame_own(struct frame **holder)
{
	struct frame *f = *holder, *c;
	size_t n = (size_t)f->f->nconst + f->f->nregs;

	if (f->refs == 1)
		return f;
	c = xmemdup(f, sizeof(*f) + n * sizeof(uint64_t));
	c->refs = 1;
	c->r = c->memory + f->f->nconst;
	if (f->x) {
		c->x_memory = xmemdup(f->x_memory, n * sizeof(expr_id));
		c->x = c->x_memory + f->f->nconst;
	}
	if (c->caller)
		c->caller->refs++;
	f->refs--;
	*holder = c;
	return c;
}

void frame_make_symbolic(struct frame *f)
{
	if (f->x)
		return;
	f->x_memory = xcalloc((size_t)f->f->nconst + f->f->nregs, sizeof(expr_id));
	f->x = f->x_memory + f->f->nconst;
}

void thread_name(const struct state *s, uint32_t thread, char *buf, size_t len)
{
	char rest[256] = "", tmp[256];

	for (uint32_t t = thread; t != 0; t = s->threads[t].parent) {
		snprintf(tmp, sizeof(tmp), ".%u%.200s", s->threads[t].birth, rest);
		memcpy(rest, tmp, sizeof(rest));
	}
	snprintf(buf, len, "0%s", rest);
}
