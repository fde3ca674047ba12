/* explain/show/told.c - one step in words: who does what to which variable, where. */
#include "explain/show/teller.h"

#include "base/err.h"
#include "explain/cure/cure.h"
#include "explain/show/present.h"
#include "explain/show/stacks.h"
#include "unplait/abi.h"

#include <string.h>

/* "reads", "read of" */
static struct words words_of(uint32_t kind)
{
	switch (kind) {
	case PLAIT_EV_READ:
	case PLAIT_EV_READ_RANGE:
	case PLAIT_EV_ATOMIC_READ:
		return (struct words){ "reads", "read of" };
	case PLAIT_EV_WRITE:
	case PLAIT_EV_WRITE_RANGE:
	case PLAIT_EV_ATOMIC_WRITE:
		return (struct words){ "writes", "write to" };
	case PLAIT_EV_ATOMIC_RMW:
		return (struct words){ "updates", "update of" };
	case PLAIT_EV_FREE:
		return (struct words){ "frees", "release of" };
	case PLAIT_EV_UNLOCK:
	case PLAIT_EV_RWUNLOCK:
		return (struct words){ "unlocks", "unlocking of" };
	case PLAIT_EV_WAIT:
	case PLAIT_EV_WOKEN:
		return (struct words){ "waits for", "wait for" };
	case PLAIT_EV_SIGNAL:
	case PLAIT_EV_BROADCAST:
		return (struct words){ "signals", "signal to" };
	case PLAIT_EV_SEM_WAIT:
	case PLAIT_EV_SEM_TRYWAIT:
		return (struct words){ "takes from", "wait for" };
	case PLAIT_EV_SEM_POST:
		return (struct words){ "posts", "post to" };
	case PLAIT_EV_LOCK_DESTROY:
		return (struct words){ "destroys", "destruction of" };
	case PLAIT_EV_LOCK_INIT:
	case PLAIT_EV_SEM_INIT:
		return (struct words){ "initialises", "initialisation of" };
	default:
		return (struct words){ "locks", "locking of" };
	}
}
void told_set_where(struct arena *arena, struct told *ret, const char *where)
{
	ret->where = where;
	ret->verb = arena_printf(arena, "%s %s at %s", ret->words.verb, ret->object, where);
	ret->act = arena_printf(arena, "%s %s", ret->words.noun, ret->object);
	ret->noun = arena_printf(arena, "%s at %s", ret->act, where);
}

struct err *tell_step(struct teller *t, const struct steps *s, uint32_t i, struct told *ret)
{
	struct arena *arena = &t->p.x->arena;
	struct words w = words_of(s->data[i].kind);
	struct shown_event e = { 0 };
	struct err *err = labels_event(&t->p, &s->data[i], &e);

	if (err)
		return err;
	ret->words = w;
	ret->object = e.object ? e.object : "memory";
	ret->thread = t->p.x->threads[s->data[i].thread];
	ret->function = e.function;
	told_set_where(arena, ret, labels_place(&t->p, &e));
	return NULL;
}

static void say_line(struct teller *t, struct told *ret, const struct code_point *at)
{
	told_set_where(&t->p.x->arena, ret, labels_point(&t->p, at));
}

/* The line that a step's function was inlined at; 0. */
static uint32_t inlined_at(struct teller *t, const struct step *s, const char **file)
{
	struct code_point at;

	if (!symbols_site(t->p.symbols, s->site, &at) || !at.site || !at.site->inlined_at_line)
		return 0;
	*file = sites_string(at.sites, at.site->inlined_at_file);
	return at.site->inlined_at_line;
}

/* Inlined code has no call stack, but its places say where it was called from. */
static void tell_inlined(struct teller *t, struct told *from, struct told *to,
			 struct told *intruder)
{
	const struct steps *end = t->c->to_in_passing ? t->g : t->f;
	const char *a = "", *b = "", *c = "";
	uint32_t first = inlined_at(t, &t->f->data[t->c->from], &a);
	uint32_t last = inlined_at(t, &end->data[t->c->to], &b);
	uint32_t other = inlined_at(t, &t->f->data[t->c->intruder], &c);

	if (!first || !last || first == last || strcmp(a, b) != 0 || is_system_file(a))
		return;
	say_line(t, from, &(struct code_point){ .file = a, .line = first });
	say_line(t, to, &(struct code_point){ .file = b, .line = last });
	if (other && !is_system_file(c))
		say_line(t, intruder, &(struct code_point){ .file = c, .line = other });
}

/* A block whose ends lie in different functions is told in the function that calls both: there it
 * can be mended. The other thread's step is told where it enters the same functions. */
void tell_in_common(struct teller *t, struct told *from, struct told *to, struct told *intruder)
{
	struct arena *arena = &t->p.x->arena;
	const struct step *d = t->f->data;
	uint32_t end =
		t->c->to_in_passing ? steps_last_at(t->f, t->g->data[t->c->to].site) : t->c->to;
	struct stack_block b;
	struct code_point at;

	/* where the failing run ended before, another thread may have been called alike */
	if (end == STEP_NONE ||
	    !stack_common(t->p.symbols, stacks_find(t->p.stacks, &d[t->c->from]),
			  stacks_find(t->p.stacks, &d[end]), &b)) {
		tell_inlined(t, from, to, intruder);
		return;
	}
	say_line(t, from, &b.from);
	say_line(t, to, &b.to);
	t->function = arena_printf(arena, strchr(b.to.function, '(') ? " in %s" : " in %s()",
				   b.to.function);
	if (stack_beside(t->p.symbols, &b, stacks_find(t->p.stacks, &d[t->c->intruder]), &at))
		say_line(t, intruder, &at);
}

/* The same for what the other side does. */
void tell_other_in_common(struct teller *t, struct told *begin, struct told *end)
{
	const struct step *d = t->f->data;
	struct stack_block b;

	if (t->c->other_to_in_passing ||
	    !stack_common(t->p.symbols, stacks_find(t->p.stacks, &d[t->c->other_from]),
			  stacks_find(t->p.stacks, &d[t->c->other_to]), &b))
		return;
	say_line(t, begin, &b.from);
	say_line(t, end, &b.to);
}
