/* rewind/ahead-calls.c - see ahead.h: what calls of libraries do to a thread that runs forwards. They are not entered.
 *
 * A wait for a condition gives its lock back and takes it again: waking without a signal is allowed, so the orders that
 * are looked at are no fewer than there were. A call that ends the program ends the way: the thread that is in such a
 * call in the dump was taken at the call, and no other one came to it. */
#include "rewind/ahead-state.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/code.h"
#include "rewind/mates.h"

#include <string.h>

enum { MOST_COPIED = 256 };

static const uint8_t arguments[] = { LIFT_RDI, LIFT_RSI, LIFT_RDX };

static bool argument(struct ahead *a, unsigned n, uint64_t *ret)
{
	return past_value(a->h, a->now.p, a->now.p->registers[arguments[n]], ret);
}

void ahead_behind_call(struct ahead *a, expr_id result)
{
	struct exprs *x = &a->h->exprs;
	expr_id *regs = a->now.p->registers;
	uint64_t back;

	if (!past_value(a->h, a->now.p, ahead_load(a, regs[LIFT_RSP], 64), &back)) {
		ahead_give_up(a, "a return address that is not known");
		return;
	}
	regs[LIFT_RSP] = expr_binary(x, EX_ADD, regs[LIFT_RSP], expr_const(x, 64, 8));
	for (unsigned i = 0; i < LIFT_FS; i++)
		if (i != LIFT_RBX && i != LIFT_RBP && i != LIFT_RSP && i != LIFT_DF &&
		    (i < LIFT_R12 || i > LIFT_R15))
			regs[i] = ahead_fresh(a, lift_register_width(i), "changed by a call");
	for (unsigned i = LIFT_YMM; i < LIFT_REGISTERS; i++)
		regs[i] = ahead_fresh(a, 64, "changed by a call");
	regs[LIFT_RAX] = result;
	vec_push(&a->now.t->calls, ((struct ahead_call){ .step = (uint32_t)a->now.t->path.len,
							 .result = result,
							 .sp = regs[LIFT_RSP],
							 .back = back }));
	a->now.pc = back;
}

static expr_id allocate(struct ahead *a, bool zeroes)
{
	struct exprs *x = &a->h->exprs;
	expr_id v = ahead_fresh(a, 64, "block");
	uint64_t number = expr_get(x, v)->imm, n = 0, size = 0;

	map_put(&a->blocks, number, 1);
	vec_push(&a->now.t->blocks, v);
	if (zeroes && argument(a, 0, &n) && argument(a, 1, &size) && n * size <= 4096)
		for (uint64_t i = 0; i < n * size; i++)
			past_store(a->h, a->now.p, AHEAD_BLOCKS + (number << 20) + i, 8,
				   expr_const(x, 8, 0));
	return ahead_require(a, &a->now,
			     expr_not(x, expr_binary(x, EX_EQ, v, expr_const(x, 64, 0))))
		       ? v
		       : 0;
}

/* memcpy and memset of a few bytes, eight at a time as long as that goes. */
static bool copy(struct ahead *a, bool set)
{
	struct exprs *x = &a->h->exprs;
	expr_id to = a->now.p->registers[LIFT_RDI], from = a->now.p->registers[LIFT_RSI], v;
	uint64_t n;

	if (!argument(a, 2, &n) || n > MOST_COPIED)
		return false;
	for (uint64_t at = 0; at < n;) {
		unsigned bytes = n - at >= 8 ? 8 : n - at >= 4 ? 4 : 1;
		expr_id off = expr_const(x, 64, at);

		if (set) {
			v = expr_extract(x, from, 0, 8);
			for (unsigned i = 1; i < bytes; i++)
				v = expr_concat(x, expr_extract(x, from, 0, 8), v);
		} else {
			v = ahead_load(a, expr_binary(x, EX_ADD, from, off), 8 * bytes);
		}
		ahead_store(a, expr_binary(x, EX_ADD, to, off), 8 * bytes, v);
		at += bytes;
	}
	return true;
}

/* ---- threads ---- */

/* The thread with this description, or SIZE_MAX. */
static size_t thread_of(const struct ahead *a, uint64_t self)
{
	for (size_t i = 0; i < a->mates->len; i++)
		if (a->mates->data[i].self == self && !a->mates->data[i].from)
			return i;
	return SIZE_MAX;
}

static bool is_begun(const struct ahead *a, size_t thread)
{
	for (size_t i = 0; i < a->now.t->events.len; i++)
		if (a->now.t->events.data[i].kind == AHEAD_FORK &&
		    a->now.t->events.data[i].address == thread)
			return true;
	return false;
}

/* The thread that this call of pthread_create began: its description's address is where the call put it, if that is still
 * there; else it is the only one left with this routine and argument. */
static size_t created(const struct ahead *a)
{
	const expr_id *regs = a->now.p->registers;
	uint64_t at, routine, argument, self = 0;
	size_t found = SIZE_MAX;

	if (!past_value(a->h, a->now.p, regs[LIFT_RDI], &at) ||
	    !past_value(a->h, a->now.p, regs[LIFT_RDX], &routine) ||
	    !past_value(a->h, a->now.p, regs[LIFT_RCX], &argument))
		return SIZE_MAX;
	for (size_t i = 0; i < a->mates->len; i++) {
		const struct mate *m = &a->mates->data[i];

		if (m->from || m->entry != routine || m->argument != argument || is_begun(a, i))
			continue;
		if (dump_read(a->h->dump, at, &self, 8) && self == m->self)
			return i;
		if (found != SIZE_MAX)
			return SIZE_MAX;
		found = i;
	}
	return found;
}

static bool create_thread(struct ahead *a)
{
	size_t n = created(a);

	if (n == SIZE_MAX)
		return false;
	ahead_store(a, a->now.p->registers[LIFT_RDI], 64,
		    expr_const(&a->h->exprs, 64, a->mates->data[n].self));
	ahead_note(a, AHEAD_FORK, n, 0, 0, 0);
	return true;
}

static bool join_thread(struct ahead *a)
{
	const expr_id *regs = a->now.p->registers;
	uint64_t self, result;
	size_t n;

	if (!past_value(a->h, a->now.p, regs[LIFT_RDI], &self) ||
	    !past_value(a->h, a->now.p, regs[LIFT_RSI], &result))
		return false;
	n = thread_of(a, self);
	if (n == SIZE_MAX)
		return false;
	ahead_note(a, AHEAD_JOIN, n, 0, 0, 0);
	if (result)
		ahead_store(a, regs[LIFT_RSI], 64, ahead_fresh(a, 64, "what a thread returned"));
	return true;
}

/* ---- by name ---- */

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool ahead_ends_program(const char *name)
{
	static const char *const names[] = { "abort",
					     "exit",
					     "_exit",
					     "__assert_fail",
					     "__assert_perror_fail",
					     "__stack_chk_fail",
					     "__fortify_fail",
					     "__chk_fail",
					     "_ZSt9terminatev" };

	return is_one_of(name, names, ARRAY_SIZE(names));
}

/* They write nothing that a thread reads later, but for what they return. */
static bool is_harmless(const char *name)
{
	static const char *const names[] = {
		"free",	       "_ZdlPv",  "_ZdlPvm",	   "_ZdaPv",  "puts",	"printf", "putchar",
		"sched_yield", "usleep",  "nanosleep",	   "sleep",   "write",	"fputs",  "fputc",
		"putc",	       "fprintf", "fwrite",	   "perror",  "fflush", "atoi",	  "atol",
		"strtol",      "strlen",  "strcmp",	   "strncmp", "memcmp", "strchr", "strstr",
		"rand",	       "random",  "pthread_detach"
	};

	return is_one_of(name, names, ARRAY_SIZE(names));
}

/* They return 0. A signal to those who wait is not needed: they may wake without. */
static bool is_zero(const char *name)
{
	static const char *const names[] = {
		"pthread_cond_signal",	"pthread_cond_broadcast", "pthread_cond_init",
		"pthread_cond_destroy", "pthread_mutex_destroy",  "pthread_attr_init",
		"pthread_attr_destroy",
	};

	return is_one_of(name, names, ARRAY_SIZE(names));
}

static bool lock(struct ahead *a, enum ahead_kind kind, unsigned n)
{
	uint64_t mutex;

	if (!argument(a, n, &mutex))
		return false;
	ahead_note(a, kind, mutex, 0, 0, 0);
	return true;
}

/* What the call returns; 0: nobody knows what it does. */
static expr_id effect(struct ahead *a, const char *name)
{
	struct exprs *x = &a->h->exprs;
	expr_id zero = expr_const(x, 64, 0);

	if (strcmp(name, "pthread_mutex_lock") == 0)
		return lock(a, AHEAD_LOCK, 0) ? zero : 0;
	if (strcmp(name, "pthread_mutex_unlock") == 0)
		return lock(a, AHEAD_UNLOCK, 0) ? zero : 0;
	if (strcmp(name, "pthread_cond_wait") == 0)
		return lock(a, AHEAD_UNLOCK, 1) && lock(a, AHEAD_LOCK, 1) ? zero : 0;
	if (strcmp(name, "pthread_create") == 0)
		return a->m->from && create_thread(a) ? zero : 0;
	if (strcmp(name, "pthread_join") == 0)
		return a->m->from && join_thread(a) ? zero : 0;
	if (strcmp(name, "pthread_self") == 0)
		return expr_const(x, 64, a->m->self);
	if (strcmp(name, "malloc") == 0 || strcmp(name, "_Znwm") == 0 ||
	    strcmp(name, "calloc") == 0)
		return allocate(a, *name == 'c');
	if (strcmp(name, "memcpy") == 0 || strcmp(name, "memmove") == 0 ||
	    strcmp(name, "memset") == 0)
		return copy(a, name[3] == 's') ? a->now.p->registers[LIFT_RDI] : 0;
	if (is_zero(name))
		return zero;
	return is_harmless(name) ? ahead_fresh(a, 64, "result of a call") : 0;
}

void ahead_import(struct ahead *a, const char *name)
{
	expr_id result;

	if (ahead_ends_program(name)) {
		a->now.dead = true;
		return;
	}
	if (strcmp(name, "pthread_exit") == 0) {
		a->now.exits = true;
		return;
	}
	result = effect(a, name);
	if (!result && a->scout)
		result = ahead_fresh(a, 64, "result of a call");
	if (result)
		ahead_behind_call(a, result);
	else
		ahead_give_up(a, "a call of a library that threads cannot be run through");
}

/* Who has the mutex in the dump? */
static bool has_mutex(const struct ahead *a, uint64_t mutex, bool *ret)
{
	uint32_t owner;

	if (!dump_read(a->h->dump, mutex + 8, &owner, 4))
		return false;
	*ret = owner == a->end->tid;
	return true;
}

void ahead_finish_call(struct ahead *a, const struct insn *call, const struct function *f)
{
	const char *name = code_import(a->h->code, f, call);
	unsigned n = name && strcmp(name, "pthread_cond_wait") == 0;
	uint64_t mutex;
	bool has;

	if (!name)
		return;
	if (strcmp(name, "pthread_create") == 0 && a->m->from && created(a) != SIZE_MAX)
		create_thread(a);
	if (!argument(a, n, &mutex) || !has_mutex(a, mutex, &has))
		return;
	if (strcmp(name, "pthread_mutex_lock") == 0 && has)
		ahead_note(a, AHEAD_LOCK, mutex, 0, 0, 0);
	else if ((n || strcmp(name, "pthread_mutex_unlock") == 0) && !has)
		ahead_note(a, AHEAD_UNLOCK, mutex, 0, 0, 0);
}
