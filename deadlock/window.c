/* deadlock/window.c - the stacks that nobody unwound.
 *
 * An acquisition only copies the last words of its stack. A thread that waits turns them into
 * frames itself (preload/stack.c); one that holds a lock and does something else leaves them as
 * they are, and here they are unwound by the tables of its modules, as far as they reach: the
 * innermost frames, the wrappers around the lock and mostly their callers. */
#include "deadlock/deadlock.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/modules.h"

static bool word_at(const struct call_stack *s, uint64_t address, uint64_t *ret)
{
	if (address % 8 || address - s->frame >= s->nwords * sizeof(s->words[0]))
		return false;
	*ret = s->words[(address - s->frame) / 8];
	return true;
}

void call_stack_unwind(const struct snapshot *s, struct modules *modules, struct call_stack *stack)
{
	uint64_t sp = stack->frame + 16, bp = stack->words[0], pc = stack->words[1];

	if (stack->nwords < 2)
		return;
	stack->pc[0] = pc;
	stack->n = 1;
	stack->truncated = true;
	while (stack->n < WATCH_DEPTH) {
		const struct module_range *m = snapshot_module(s, pc - 1);
		struct module *module;
		struct frame_rule rule;
		struct err *err;
		uint64_t cfa;

		if (!m)
			return;
		err = modules_get(modules, m->path, m->build_id, &module);
		err_free(err);
		if (err || !module_frame_rule(module, pc - 1 - m->bias, &rule))
			return;
		cfa = (rule.from_bp ? bp : sp) + (uint64_t)rule.cfa_off;
		if (cfa <= sp || !word_at(stack, cfa - 8, &pc) || pc < 4096)
			return;
		if (rule.bp_at && !word_at(stack, cfa + (uint64_t)rule.bp_at, &bp))
			return;
		stack->pc[stack->n++] = pc;
		sp = cfa;
	}
}
