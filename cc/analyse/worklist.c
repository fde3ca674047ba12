/* cc/analyse/worklist.c - see worklist.h. What an instruction waits for does not change, so it says so when it is
 * looked at for the first time. Facts are numbers that the caller makes; two that happen to be the same
 * cost a look in vain. */
#include "cc/analyse/worklist.h"

#include "cc/program.h"

#include <string.h>

void worklist_init(struct worklist *w, const struct program *p)
{
	memset(w, 0, sizeof(*w));
	for (size_t k = 0; k < p->fns.len; k++)
		for_each_block(b, p->fns.data[k].f) for_each_instruction(i, b)
		{
			map_put(&w->numbers, (uint64_t)(uintptr_t)i, w->items.len);
			vec_push(&w->items, (struct listed){ p->fns.data[k].f, i, false });
		}
}

void worklist_deinit(struct worklist *w)
{
	vec_deinit(&w->items);
	map_deinit(&w->numbers);
	vec_deinit(&w->todo);
	map_deinit(&w->waiting);
	vec_deinit(&w->waiters);
}

static void add(struct worklist *w, uint32_t item)
{
	struct listed *l = &w->items.data[item];

	if (w->first && (w->backwards ? item < w->now : item > w->now))
		return; /* its first time is still to come */
	if (l->listed)
		return;
	l->listed = true;
	vec_push(&w->todo, item);
}

void worklist_again(struct worklist *w, LLVMValueRef i)
{
	const uint64_t *item = map_find(&w->numbers, (uint64_t)(uintptr_t)i);

	if (item)
		add(w, (uint32_t)*item);
}

void worklist_wait(struct worklist *w, uint64_t fact)
{
	uint64_t *head;

	if (!w->first)
		return;
	head = map_put(&w->waiting, fact, 0);
	vec_push(&w->waiters, (struct waiter){ w->now, (uint32_t)*head });
	*head = w->waiters.len;
}

void worklist_tell(struct worklist *w, uint64_t fact)
{
	uint32_t k = (uint32_t)map_get_or(&w->waiting, fact, 0);

	for (; k; k = w->waiters.data[k - 1].next)
		add(w, w->waiters.data[k - 1].item);
}

static void look(struct worklist *w, uint32_t item, worklist_step *step, void *context)
{
	w->now = item;
	step(context, w->items.data[item].f, w->items.data[item].i);
}

void worklist_run(struct worklist *w, bool backwards, worklist_step *step, void *context)
{
	uint32_t n = (uint32_t)w->items.len;

	map_clear(&w->waiting);
	w->waiters.len = 0;
	w->backwards = backwards;
	w->first = true;
	for (uint32_t k = 0; k < n; k++)
		look(w, backwards ? n - 1 - k : k, step, context);
	w->first = false;
	for (; w->next < w->todo.len; w->next++) {
		uint32_t item = w->todo.data[w->next];

		w->items.data[item].listed = false;
		look(w, item, step, context);
	}
	w->todo.len = w->next = 0;
}
