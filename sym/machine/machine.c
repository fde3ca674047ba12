/* sym/machine/machine.c - set up a run, keep it going, say how it ended. */
#include "sym/machine/machine.h"

#include "base/err.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[SYM_KINDS] = {
	[SYM_EXIT] = "exit",
	[SYM_ASSERT] = "assert",
	[SYM_ABORT] = "abort",
	[SYM_NULL] = "null-dereference",
	[SYM_BOUNDS] = "out-of-bounds",
	[SYM_USE_AFTER_FREE] = "use-after-free",
	[SYM_DOUBLE_FREE] = "double-free",
	[SYM_BAD_FREE] = "bad-free",
	[SYM_BAD_POINTER] = "bad-pointer",
	[SYM_READONLY] = "write-to-constant",
	[SYM_DIV_ZERO] = "division-by-zero",
	[SYM_STACK] = "stack-overflow",
	[SYM_DEADLOCK] = "deadlock",
	[SYM_LIVELOCK] = "livelock",
	[SYM_UNREACHABLE] = "unreachable",
	[SYM_UNSUPPORTED] = "unsupported",
	[SYM_BUDGET] = "budget",
	[SYM_DIVERGED] = "diverged",
	[SYM_RECORDING_END] = "end-of-recording",
};

const char *sym_kind_name(enum sym_kind kind)
{
	return kind_names[kind];
}

bool sym_kind_is_error(enum sym_kind kind)
{
	return kind != SYM_EXIT && kind < SYM_UNSUPPORTED;
}

void machine_init(struct machine *m, struct ir *ir, const struct sym_config *config)
{
	*m = (struct machine){ .ir = ir,
			       .config = config,
			       .sym_args = config->sym_args,
			       .op_limit = config->max_ops ? config->max_ops : UINT64_MAX,
			       .rng = config->seed };
	if (config->max_seconds > 0)
		m->deadline = clock_seconds() + config->max_seconds;
	exprs_init(&m->exprs);
	m->solver = solver_new(&m->exprs, &m->stats, config->query_ms, config->query_log);
	solver_set_deadline(m->solver, m->deadline);
}

void machine_deinit(struct machine *m)
{
	solver_free(m->solver);
	exprs_deinit(&m->exprs);
	model_unref(m->valued);
	names_deinit(&m->notes);
	strbuf_deinit(&m->scratch);
	vec_deinit(&m->inputs);
}

void machine_note(struct machine *m, const char *fmt, ...)
{
	va_list ap;
	char text[256];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	names_intern(&m->notes, text);
}

/* Frames from the innermost out; those of the models only count when nothing else is there. */
static void describe_stack(struct machine *m, struct sym_outcome *o)
{
	const struct frame *f = m->s->nthreads ? current_thread(m)->top : NULL, *own = f;
	size_t len = 0;
	char where[160];
	int shown = 0;

	while (own && own->f->is_model && own->caller)
		own = own->caller;
	if (!own)
		return;
	o->function_index = own->f->index;
	o->pc = own == f ? own->pc : own->pc - 1;
	snprintf(o->where, sizeof(o->where), "%s",
		 ir_where(m->ir, own->f, o->pc, where, sizeof(where)));
	snprintf(o->function, sizeof(o->function), "%s", own->f->name);
	for (; f && shown < 8 && len + 1 < sizeof(o->stack); f = f->caller, shown++) {
		uint32_t pc = shown || !f->pc ? (f->pc ? f->pc - 1 : 0) : f->pc;
		int n = snprintf(o->stack + len, sizeof(o->stack) - len, "%s%.60s (%s)",
				 shown ? " < " : "", f->f->name,
				 ir_where(m->ir, f->f, pc, where, sizeof(where)));

		len += n > 0 ? (size_t)n : 0;
	}
	thread_name(m->s, m->s->current, o->thread, sizeof(o->thread));
}

static void fill_outcome(struct machine *m, struct sym_outcome *o, enum sym_kind kind,
			 const char *fmt, va_list ap)
{
	struct sym_outcome fresh = { .kind = kind };

	vsnprintf(fresh.message, sizeof(fresh.message), fmt, ap);
	describe_stack(m, &fresh);
	*o = fresh;
}

void machine_outcome(struct machine *m, struct sym_outcome *o, enum sym_kind kind, const char *fmt,
		     ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_outcome(m, o, kind, fmt, ap);
	va_end(ap);
}

enum stop machine_fault(struct machine *m, enum sym_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_outcome(m, &m->outcome, kind, fmt, ap);
	va_end(ap);
	return STOP_END;
}

/* --- start --- */

static void place_globals(struct machine *m, struct state *s)
{
	for (size_t i = 0; i < m->ir->globals.len; i++) {
		struct global *g = &m->ir->globals.data[i];
		struct object *o = memory_new(&s->memory, g->tls ? OBJ_TLS : OBJ_GLOBAL,
					      g->tls ? 0 : (uint32_t)g->size);

		assert(o->id == i + 1); /* addresses in constants count on it */
		o->name = g->name;
		o->readonly = g->readonly;
		o->foreign = g->foreign;
		if (g->init && !g->tls)
			memcpy(o->bytes, g->init, g->size);
	}
}

static uint64_t new_text(struct machine *m, const char *text, size_t len, const char *name)
{
	uint64_t at = mem_new(m, OBJ_ENV, len + 1);
	struct object *o = memory_own(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff);

	memcpy(o->bytes, text, len);
	o->name = name;
	return at;
}

/* `len` symbolic bytes and a 0 behind them. */
static uint64_t new_symbolic_text(struct machine *m, const char *prefix, uint32_t len,
				  const char *name, enum sym_source source, uint32_t index)
{
	size_t plen = strlen(prefix);
	uint64_t at = mem_new(m, OBJ_ENV, plen + len + 1);
	struct object *o = memory_own(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff);
	char label[64];

	memcpy(o->bytes, prefix, plen);
	o->name = name;
	object_make_symbolic(o);
	for (uint32_t i = 0; i < len; i++) {
		uint32_t number;

		snprintf(label, sizeof(label), "%s[%u]", name, i);
		o->sym[plen + i] = expr_symbol(&m->exprs, 8, label, &number);
		vec_push(&m->inputs, ((struct sym_input){ number, (uint8_t)source, index, i }));
	}
	return at;
}

static uint64_t pointer_array(struct machine *m, const uint64_t *p, size_t n, const char *name)
{
	uint64_t at = mem_new(m, OBJ_ENV, (n + 1) * 8);
	struct object *o = memory_own(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff);

	memcpy(o->bytes, p, n * 8);
	o->name = name;
	return at;
}

static void make_argv(struct machine *m, struct val args[3])
{
	const struct sym_config *c = m->config;
	VEC(uint64_t) v = { 0 };
	size_t n = 0;

	for (uint32_t i = 0; i < c->nargs; i++) {
		size_t len = strlen(c->args[i]);

		if (c->sym_given && i)
			vec_push(&v, new_symbolic_text(m, "", (uint32_t)len,
						       arena_printf(&m->ir->arena, "arg%u", i),
						       SYM_FROM_ARG, i));
		else
			vec_push(&v, new_text(m, c->args[i], len, "an argument"));
	}
	for (uint32_t i = 0; i < m->sym_args; i++) {
		char *name = arena_printf(&m->ir->arena, "arg%u", c->nargs + i);

		vec_push(&v, new_symbolic_text(m, "", c->sym_arg_len, name, SYM_FROM_ARG,
					       c->nargs + i));
	}
	args[0] = (struct val){ v.len, 0 };
	args[1] = (struct val){ pointer_array(m, v.data, v.len, "argv"), 0 };
	vec_clear(&v);
	for (n = 0; c->env && c->env[n]; n++)
		vec_push(&v, new_text(m, c->env[n], strlen(c->env[n]), "the environment"));
	for (uint32_t i = 0; c->sym_env && c->sym_env[i]; i++) {
		char *prefix = arena_printf(&m->ir->arena, "%s=", c->sym_env[i]);

		vec_push(&v, new_symbolic_text(m, prefix, c->sym_env_len, c->sym_env[i],
					       SYM_FROM_ENV, i));
	}
	args[2] = (struct val){ pointer_array(m, v.data, v.len, "envp"), 0 };
	vec_deinit(&v);
}

static void store_global(struct machine *m, const char *name, uint64_t value)
{
	uint32_t g = ir_find_global(m->ir, name);

	if (g != UINT32_MAX && m->ir->globals.data[g].size >= 8)
		memcpy(memory_own(&m->s->memory, g + 1)->bytes, &value, 8);
}

struct err *machine_start(struct machine *m, struct state **ret)
{
	struct state *s = state_new();
	uint32_t main = ir_find_function(m->ir, "main");
	struct val args[3];
	struct function *f;

	m->s = s;
	cache_clear(m);
	if (main == UINT32_MAX || m->ir->functions.data[main]->declared_only) {
		state_free(s);
		return err_new(ERR_ENV,
			       "the program has no main function; link the whole program first");
	}
	s->sym_args = m->sym_args;
	s->inputs[0] = (uint32_t)m->inputs.len;
	place_globals(m, s);
	make_argv(m, args);
	store_global(m, "environ", args[2].c);
	store_global(m, "__environ", args[2].c);
	{
		const struct sym_config *c = m->config;
		uint32_t n = c->sym_given ? (uint32_t)c->input_len : c->sym_stdin;
		uint64_t at = n ? new_symbolic_text(m, "", n, "stdin", SYM_FROM_STDIN, 0)
				: new_text(m, c->input ? c->input : "", c->input_len, "stdin");

		store_global(m, "sym_stdin_data", at);
		store_global(m, "sym_stdin_len", n ? n : c->input_len);
	}
	s->inputs[1] = (uint32_t)m->inputs.len;
	s->threads = xcalloc(1, sizeof(*s->threads));
	s->nthreads = 1;
	thread_make_tls(m, &s->threads[0]);
	f = m->ir->functions.data[ir_find_function(m->ir, "sym_start")];
	ir_lower(m->ir, m->ir->functions.data[main]);
	/* sym_start(main, nparams, argc, argv, envp) runs main and flushes; constructors come
	 * first, and before them destructors are registered, so that they run last */
	{
		struct val a[5] = { { function_address(main), 0 },
				    { m->ir->functions.data[main]->nparams, 0 },
				    args[0],
				    args[1],
				    args[2] };
		enum stop st = push_call(m, f, a, 5, 0, 0);

		assert(!st);
	}
	for (size_t i = m->ir->constructors.len; i-- > 0;)
		push_call(m, m->ir->functions.data[m->ir->constructors.data[i]], args, 3, 0, 0);
	f = m->ir->functions.data[ir_find_function(m->ir, "sym_at_end")];
	for (size_t i = m->ir->destructors.len; i-- > 0;)
		push_call(m, f, &(struct val){ function_address(m->ir->destructors.data[i]), 0 }, 1,
			  0, 0);
	cache_clear(m); /* objects became symbolic behind its back */
	*ret = s;
	return NULL;
}

const char *machine_should_stop(const struct machine *m)
{
	if (m->config->interrupted && m->config->interrupted())
		return "interrupted";
	if (m->deadline > 0 && clock_seconds() > m->deadline)
		return "the time is used up";
	return NULL;
}

/* Is there more time, and may the state do more? Else it ends. */
static bool may_go_on(struct machine *m, const struct state *s)
{
	const char *why = machine_should_stop(m);

	if (why)
		machine_fault(m, SYM_BUDGET, "%s", why);
	else if (s->ops + 1 >= m->op_limit)
		machine_fault(m, SYM_BUDGET, "more than %llu operations",
			      (unsigned long long)m->op_limit);
	else
		return true;
	return false;
}

enum { GIVES_WAY_MOST = 256 }; /* turns of threads between two looks at the clock */

enum stop machine_run(struct machine *m, struct state *s)
{
	uint64_t given = 0;
	enum stop st;

	if (m->s != s)
		cache_clear(m);
	m->s = s;
	for (;;) {
		st = interp(m);
		if (st == STOP_END || st == STOP_PARK)
			return st;
		if (st == STOP_BUDGET) {
			if (!may_go_on(m, s))
				return STOP_END;
			if (s->nthreads > 1 && !schedule(m)) /* nobody spins for ever */
				return STOP_END;
		} else if (st == STOP_THREAD) {
			bool gave_way = current_thread(m)->status == TH_RUNNABLE;

			/* a loop that sleeps gives way before its operations are many */
			if (++given % GIVES_WAY_MOST == 0 && !may_go_on(m, s))
				return STOP_END;
			if (!schedule(m))
				return STOP_END;
			if (m->config->preemptions)
				fork_schedules(m, gave_way);
		}
	}
}
