/* interp.c - a stack machine. One call runs one script to its end. */
#include <assert.h>

#include "js.h"

struct machine {
	long stack[STACK];
	int top;
};

static void push(struct machine *m, long value)
{
	assert(m->top < STACK);
	m->stack[m->top++] = value;
}

static long pop(struct machine *m)
{
	assert(m->top > 0);
	return m->stack[--m->top];
}

static void ask_for_collection(void)
{
	pthread_mutex_lock(&rt->gc_lock);
	rt->gc_wanted = 1;
	pthread_cond_signal(&rt->gc_changed);
	pthread_mutex_unlock(&rt->gc_lock);
}

void interpret(const struct insn *code)
{
	struct machine m = { .top = 0 };
	int pc = 0;
	long a;

	for (;;) {
		const struct insn *in = &code[pc++];

		switch (in->op) {
		case OP_HALT:
			return;
		case OP_PUSH:
			push(&m, in->arg);
			break;
		case OP_POP:
			pop(&m);
			break;
		case OP_DUP:
			a = pop(&m);
			push(&m, a);
			push(&m, a);
			break;
		case OP_ADD:
			a = pop(&m);
			push(&m, a + pop(&m));
			break;
		case OP_JNZ:
			if (pop(&m))
				pc = in->arg;
			break;
		case OP_GET:
			push(&m, scope_get(in->arg));
			break;
		case OP_SET:
			scope_set(in->arg, pop(&m));
			break;
		case OP_DELETE:
			scope_delete(in->arg);
			break;
		case OP_COLLECT:
			ask_for_collection();
			break;
		}
	}
}
