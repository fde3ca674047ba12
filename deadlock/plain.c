/* deadlock/plain.c - who waits for whom in the core dump of a program that nobody watched.
 *
 * A dump is one moment, so one look is enough: the futex that each thread slept on, the owner that
 * glibc stores in the mutex there, and the stacks. Where the held locks were taken is lost. */
#include "deadlock/foreign.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "debug/stack.h"
#include "debug/waits.h"

#include <stdlib.h>

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void read_frames(const struct stack *from, struct foreign_thread *to)
{
	to->nframes = from->frames.len;
	to->frames = xcalloc(to->nframes + 1, sizeof(*to->frames));
	for (size_t i = 0; i < to->nframes; i++) {
		const struct stack_frame *f = &from->frames.data[i];

		to->frames[i] = (struct foreign_frame){ .function = copy(f->function),
							.file = copy(f->file),
							.line = f->line,
							.pc = f->pc };
	}
}

static void read_waits(const struct dump *d, struct foreign *ret)
{
	struct dump_waits waits = { 0 };
	struct dump_cycle cycle = { 0 };

	dump_waits(d, &waits);
	for (size_t i = 0; i < waits.len; i++) {
		const struct dump_wait *w = &waits.data[i];

		ret->threads[w->thread].futex = w->futex;
		if (w->owner < d->threads.len)
			ret->threads[w->thread].owner = (int)d->threads.data[w->owner].tid;
	}
	if (dump_cycle(d, &cycle)) {
		ret->ncycle = cycle.len;
		ret->cycle = xmemdup(cycle.data, cycle.len * sizeof(*cycle.data));
	}
	vec_deinit(&cycle);
	vec_deinit(&waits);
}

struct err *foreign_from_core(const char *path, struct foreign *ret)
{
	struct stack_options o = { 0 };
	struct stacks *stacks = NULL;
	struct dump d;
	struct err *err = dump_open(path, &d);

	*ret = (struct foreign){ 0 };
	if (!err)
		err = err_wrap(stacks_open(&d, &o, &stacks), "%s", path);
	if (!err) {
		ret->nthreads = d.threads.len;
		ret->threads = xcalloc(ret->nthreads + 1, sizeof(*ret->threads));
		for (size_t i = 0; i < ret->nthreads; i++) {
			uint32_t tid = d.threads.data[i].tid;

			ret->threads[i].tid = (int)tid;
			if (!ret->pid || (int)tid < ret->pid) /* its first thread has its number */
				ret->pid = (int)tid;
			read_frames(stacks_get(stacks, i), &ret->threads[i]);
		}
		read_waits(&d, ret);
	}
	stacks_close(stacks);
	dump_close(&d);
	return err;
}
