/* sym/follow/call.c - calls on a recorded path.
 *
 * What a call brought in from outside is in the recording: its result, and the bytes it filled.
 * Such calls are not executed. Allocations run, and their block is tied to the recorded one.
 * Synchronisation is sync.c. Functions of the C library without an outside (strings, conversions,
 * qsort) run as models; output does nothing. A function that nobody knows returns a fresh symbol,
 * and what it may have written through its arguments is forgotten. */
#include "sym/follow/follow.h"

#include <errno.h>
#include <string.h>

/* --- results --- */

/* Width of a function's result in bits, by name; 64 when unknown. */
static unsigned result_width(struct machine *m, const char *name)
{
	uint32_t f = ir_find_function(m->ir, name);

	return f != UINT32_MAX && m->ir->functions.data[f]->ret_w ? m->ir->functions.data[f]->ret_w
								  : 64;
}

static bool is_pointer_result(struct machine *m, const char *name)
{
	uint32_t f = ir_find_function(m->ir, name);

	return f != UINT32_MAX && m->ir->functions.data[f]->ret_pointer;
}

static void fresh_result(struct machine *m, struct frame *f, int32_t d, uint32_t n,
			 const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		set_reg(m, f, d + (int32_t)i,
			follow_symbol(m, n == 1 ? result_width(m, name) : 64, name, NULL));
}

static void unknown_errno(struct machine *m)
{
	struct thread *t = current_thread(m);

	for (size_t i = 0; i < m->ir->globals.len; i++) {
		const struct global *g = &m->ir->globals.data[i];

		if (g->tls && !strcmp(g->name, "errno_value"))
			mem_store(m, (struct val){ object_address(t->tls_first + g->tls_index), 0 },
				  32, follow_symbol(m, 32, "errno", NULL));
	}
}

/* Functions that only look; recorded where what they saw is not. */
static bool only_looks(const char *name)
{
	return !strncmp(name, "mem", 3) || !strncmp(name, "ato", 3) || !strcmp(name, "bcmp") ||
	       !strcmp(name, "rawmemchr") ||
	       (!strncmp(name, "str", 3) && strncmp(name, "strto", 5) != 0);
}

/* What a pointer argument leads to may have changed: the bytes of its object are unknown now. */
static void forget_object(struct machine *m, uint64_t address)
{
	struct object *o = mem_find(m, address);
	uint32_t off = (uint32_t)address - ADDR_BIAS;

	if (!o || o->freed || o->readonly || off >= o->size)
		return;
	for (uint32_t i = off & ~7u; i < o->size && i < off + 4096; i += 8) {
		unsigned w = 8 * MIN(8u, o->size - i);
		struct val v;

		/* pointers stay: losing them would end the trace, keeping them is a guess */
		if (mem_load(m, (struct val){ object_address(o->id) + i, 0 }, w, &v) ||
		    (!v.x && (v.c & ADDR_TAG || v.c & FUNC_TAG)))
			continue;
		mem_store(m, (struct val){ object_address(o->id) + i, 0 }, w,
			  follow_symbol(m, w, "external", NULL));
	}
}

/* The same for what a model was given to write to, also through variable arguments. */
static void forget_arguments(struct machine *m, const struct frame *f)
{
	uint32_t n = f->f->nparams;

	for (uint32_t i = 0; i < n; i++)
		if (!(f->x && f->x[i]))
			forget_object(m, f->r[i]);
	for (uint32_t i = 0; f->f->variadic && i < 64; i++) {
		const struct object *o =
			memory_find(&m->s->memory, (uint32_t)(f->r[n] >> 32) & 0x3fffffff);
		struct val v;

		if (!o || 8 * i + 8 > o->size)
			break;
		if (!mem_load(m, (struct val){ f->r[n] + 8ull * i, 0 }, 64, &v) && !v.x)
			forget_object(m, v.c);
	}
}

/* A branch in a model depends on something unknown: give up the call, its result is unknown. */
enum stop follow_undecided(struct machine *m)
{
	struct thread *t = current_thread(m);
	const char *name = t->top->f->name;
	uint32_t nret = 0;
	int32_t ret = 0;
	struct frame *f;

	m->undecided = false;
	while (t->top->f->is_model) {
		f = frame_own(&t->top);
		if (!f->caller)
			return machine_fault(m, SYM_UNSUPPORTED, "a branch on unknown values");
		name = f->f->name;
		ret = f->ret;
		nret = f->nret;
		if (!f->caller->f->is_model && !only_looks(name))
			forget_arguments(m, f);
		mem_release_to(m, f, 0);
		t->top = f->caller;
		f->caller = NULL;
		frame_unref(f);
	}
	f = frame_own(&t->top);
	fresh_result(m, f, ret, nret, name);
	follow_gap(m, "%s of shared memory: its result is unknown", name);
	return STOP_NONE;
}

/* --- from outside --- */

enum { RETURNED, RECORDS, TEXT, LINE, SECOND, POLLED, EVENTS, RESULT = 99 };

/* Which argument a call fills, -1 = none; *line: the address of the string lies there. */
static int filled_argument(const char *name, bool *line)
{
	static const struct {
		const char *name;
		int arg;
		bool line;
	} table[] = {
#define FILLED(name, arg, bytes) { name, arg, bytes == LINE },
#include "unplait/inputs.def"
#undef FILLED
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].name, name)) {
			*line = table[i].line;
			return table[i].arg;
		}
	return -1;
}

/* Memory that only the C library knows: as large as what is known to be in it. */
static uint64_t outside_memory(struct machine *m, uint64_t value, uint64_t size, const char *name)
{
	struct follow *fo = follow_of(m);
	struct rec_block *block;
	uint64_t at = addrmap_machine(&fo->n, value, 0, UINT64_MAX, &block);

	if (!at && !block)
		at = addrmap_learned(&fo->n, value);
	if (at || block || !value)
		return at;
	if (size > 4096) { /* a mapping */
		at = mem_new(m, OBJ_ENV, size);
		memory_own(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff)->name = name;
	} else {
		at = follow_unknown_memory(m, size, name);
	}
	addrmap_learn(&fo->n, value, size, at);
	return at;
}

/* The bytes that the call brought in, to where they belong. result: the address it returned, in
 * the machine. */
static enum stop fill(struct machine *m, struct frame *f, const struct op *o, const char *name,
		      const struct rec_input *in, uint64_t result)
{
	struct follow *fo = follow_of(m);
	bool line = false;
	int arg = filled_argument(name, &line);
	uint64_t at = result;

	if (!in->len || arg < 0)
		return STOP_NONE;
	if (arg != RESULT) {
		if ((uint32_t)arg >= (uint32_t)(o->imm >> 32))
			return STOP_NONE;
		at = machine_concretise(
			m, get_reg(f, m->ir->args.data[(uint32_t)o->imm + (uint32_t)arg]), 64,
			"an input buffer");
	}
	if (line) {
		uint64_t text = mem_new(m, OBJ_HEAP, MAX(in->len, 120u));
		enum stop st = mem_write(m, at, &text, 8);

		if (st)
			return st;
		at = text;
	}
	return mem_write(m, at, fo->r.pool.data + in->first, in->len);
}

/* The pointer that a call returned: often one of its arguments (fgets), or new to us. */
static uint64_t returned_pointer(struct machine *m, struct frame *f, const struct op *o,
				 const char *name, const struct rec_input *in)
{
	static const char *const same[] = { "fgets", "getcwd", "localtime_r", "gmtime_r" };
	const int32_t *args = m->ir->args.data + (uint32_t)o->imm;
	uint64_t size = MAX((in->len + 7u) & ~7u, 1024u);

	if (!in->value)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		if (!strcmp(same[i], name))
			return machine_concretise(m, get_reg(f, args[i < 2 ? 0 : 1]), 64,
						  "an input buffer");
	if (!strncmp(name, "mmap", 4) && in->value != ~0ull)
		size = 8192 +
		       machine_concretise(m, get_reg(f, args[1]), 64, "the size of a mapping");
	if (in->value >> 47 || in->value < 65536)
		return in->value;
	if (only_looks(name))
		return follow_translate(m, in->value, in->clock, UINT64_MAX, (struct val){ 0 });
	return outside_memory(m, in->value, MIN(size, 1ull << 30), "memory from outside");
}

/* Synchronisation runs, with the recorded result. */
static bool is_sync(const char *name)
{
	static const char *const prefixes[] = { "pthread_", "sem_",  "mtx_",
						"cnd_",	    "thrd_", "__cxa_guard_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool is_outside(const char *name)
{
	static const char *const names[] = {
#define INPUT(name) name,
#include "unplait/inputs.def"
#undef INPUT
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return strcmp(name, "raise") != 0; /* its handler runs at once */
	return false;
}

static enum stop take_input(struct machine *m, struct frame *f, const struct op *o, uint32_t site,
			    const char *name, bool model, bool *done)
{
	struct follow_thread *t = follow_thread(m);
	struct rec_thread *r = t->rec;
	bool runs = is_sync(name) || (model && !is_outside(name) && !only_looks(name));
	const struct rec_input *in = r->input < r->inputs.len ? &r->inputs.data[r->input] : NULL;
	unsigned w = result_width(m, name);
	struct val v;
	enum stop st;

	if (!in && !r->ended && o->w)
		return follow_halt(m, SYM_RECORDING_END, "the recording of this thread ends here");
	if (!in || in->site != site) {
		if (runs)
			return STOP_NONE;
		*done = true;
		follow_gap(m, "the result of %s, which is not recorded", name);
		fresh_result(m, f, o->d, o->w, name);
		f->pc++;
		return STOP_NONE;
	}
	st = follow_yield(m, in->clock);
	if (st)
		return st;
	r->input++;
	if (runs) {
		t->has_result = is_sync(name);
		t->result = in->value;
		return STOP_NONE;
	}
	v = (struct val){ is_pointer_result(m, name) ? returned_pointer(m, f, o, name, in)
						     : in->value & mask_of(w),
			  0 };
	st = fill(m, f, o, name, in, v.c);
	if (st)
		return st;
	if ((int64_t)(in->value << (64 - w)) < 0)
		unknown_errno(m);
	follow_emit(m, (struct sym_step){ .kind = SYM_STEP_INPUT,
					  .event = PLAIT_EV_INPUT,
					  .w = (uint8_t)w,
					  .known = true,
					  .concrete = v.c,
					  .value = val_expr(m, v, w) });
	if (o->w)
		set_reg(m, f, o->d, v);
	for (uint32_t i = 1; i < o->w; i++)
		set_reg(m, f, o->d + (int32_t)i, (struct val){ 0 });
	*done = true;
	f->pc++;
	return STOP_NONE;
}

/* --- unknown functions --- */

static void call_external(struct machine *m, struct frame *f, const struct op *o, const char *name)
{
	uint32_t n = (uint32_t)(o->imm >> 32);

	for (uint32_t i = 0; i < n; i++) {
		struct val v = get_reg(f, m->ir->args.data[(uint32_t)o->imm + i]);

		if (!v.x)
			forget_object(m, v.c);
	}
	fresh_result(m, f, o->d, o->w, name);
	follow_gap(m, "a call of %s, which is in no bitcode and has no model", name);
	f->pc++;
}

static bool is_output(const char *name)
{
	static const char *const names[] = {
		"printf",	    "vprintf",	    "fprintf",	     "vfprintf",       "puts",
		"putchar",	    "dprintf",	    "vdprintf",	     "perror",	       "setbuf",
		"setvbuf",	    "__printf_chk", "__fprintf_chk", "__vfprintf_chk", "setlinebuf",
		"putchar_unlocked", "psignal",	    "syslog",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* --- allocation --- */

static enum stop begin_allocation(struct machine *m, uint32_t site)
{
	struct follow *fo = follow_of(m);
	struct follow_thread *t = follow_thread(m);
	struct rec_thread *r = t->rec;
	const struct rec_block *b;
	enum stop st;

	t->block = 0;
	if (r->block >= r->blocks.len) {
		if (!r->ended && r->bit == r->nbits)
			return follow_halt(m, SYM_RECORDING_END,
					   "the recording of this thread ends here");
		return STOP_NONE;
	}
	b = &fo->r.blocks.data[r->blocks.data[r->block]];
	if (b->site != site)
		return STOP_NONE;
	st = follow_yield(m, b->born);
	if (!st)
		t->block = r->blocks.data[r->block++] + 1;
	return st;
}

uint64_t follow_allocate(struct machine *m, uint64_t size)
{
	struct follow *fo = follow_of(m);
	struct follow_thread *t = follow_thread(m);
	struct rec_block *b = t->block ? &fo->r.blocks.data[t->block - 1] : NULL;
	uint64_t at;

	t->block = 0;
	if (b && b->object)
		return b->object;
	at = mem_new(m, OBJ_HEAP, size);
	if (b) {
		b->object = at;
		*map_put(&fo->n.base_of, (uint32_t)(at >> 32) & 0x3fffffff, 0) = b->address + 1;
	}
	return at;
}

/* The key in a shared variable is a symbol. With one key in the program there is no question which
 * one it is. */
static void known_key(struct machine *m, struct frame *f, const struct op *o)
{
	int32_t r = m->ir->args.data[(uint32_t)o->imm];
	struct val key = get_reg(f, r), n;
	uint32_t g = ir_find_global(m->ir, "keys_used");

	if (!key.x || r < 0 || g == UINT32_MAX ||
	    mem_load(m, (struct val){ object_address(g + 1), 0 }, 32, &n) || n.x || !n.c)
		return;
	if (n.c > 1)
		follow_gap(m, "which thread-specific key is meant");
	set_reg(m, f, r, (struct val){ n.c - 1, 0 });
}

/* A library that is given a function may call it: what it does then is in the recording, but nobody
 * can say when. */
static void note_holder(struct machine *m, struct frame *f, const struct op *o, const char *name)
{
	struct follow *fo = follow_of(m);

	for (uint32_t i = 0; i < o->imm >> 32 && !fo->holder; i++) {
		struct val v = get_reg(f, m->ir->args.data[(uint32_t)o->imm + i]);

		if (!v.x && ir_function_at(m->ir, v.c))
			fo->holder = name;
	}
}

enum stop follow_call(struct machine *m, struct frame *f, const struct op *o,
		      struct function *callee, bool *done)
{
	struct follow *fo = follow_of(m);
	uint32_t site = site_here(f);
	const struct plait_site *s = recorded_site(&fo->r, site);
	const char *name = callee ? callee->name : s ? sites_string(fo->r.sites, s->object) : "";
	enum stop st;

	if (callee && callee->declared_only && ir_builtin(name) < 0)
		note_holder(m, f, o, callee->name);
	if (s && s->kind == PLAIT_SITE_ALLOC) {
		st = begin_allocation(m, site);
		if (st)
			return st;
	} else if (s && s->kind == PLAIT_SITE_INPUT) {
		st = take_input(m, f, o, site, name, !callee || !callee->declared_only, done);
		if (st || *done)
			return st;
	}
	if (!strcmp(name, "pthread_getspecific") || !strcmp(name, "pthread_setspecific"))
		known_key(m, f, o);
	if (!strcmp(name, "pthread_kill") || !strcmp(name, "pthread_cancel")) {
		/* what it did to the other thread is in that thread's recording */
		set_reg(m, f, o->d, (struct val){ 0 });
		f->pc++;
		*done = true;
	} else if (s && is_output(name)) {
		fresh_result(m, f, o->d, o->w, name);
		f->pc++;
		*done = true;
	} else if (callee && callee->declared_only && ir_builtin(name) < 0) {
		call_external(m, f, o, name);
		*done = true;
	}
	return STOP_NONE;
}
