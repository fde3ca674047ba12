/* sym/machine/builtins.c - what the machine itself provides: the heap, output, the host's files (read
 * only), conversions of floating point, symbolic values. Everything that can be written in C is a
 * model instead (models/libc). */
#include "sym/machine/machine.h"
#include "unplait/abi.h"

#include "base/err.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEAP_OBJECT (1ull << 31)

static enum stop allocate(struct machine *m, uint64_t size, struct val *ret)
{
	if (size > MAX_HEAP_OBJECT) /* as malloc answers on a machine with little memory */
		*ret = (struct val){ 0 };
	else
		*ret = (struct val){ m->guide->sites ? m->guide->sites->allocate(m, size)
						     : mem_new(m, OBJ_HEAP, size),
				     0 };
	return STOP_NONE;
}

static enum stop reallocate(struct machine *m, struct val old, uint64_t size, struct val *ret)
{
	uint64_t at = machine_concretise(m, old, 64, "a pointer to realloc");
	struct object *o;
	uint32_t off;
	enum stop st;

	if (!at)
		return allocate(m, size, ret);
	st = mem_resolve(m, at, 0, false, &o, &off);
	if (st)
		return st;
	if (o->kind != OBJ_HEAP || off)
		return machine_fault(m, SYM_BAD_FREE,
				     "realloc of something that malloc did not return");
	if (!size) { /* as glibc does */
		*ret = (struct val){ 0 };
		return mem_free_call(m, (struct val){ at, 0 });
	}
	st = allocate(m, size, ret);
	if (st || !ret->c)
		return st;
	o = memory_find(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff);
	st = mem_copy(m, *ret, (struct val){ at, 0 }, (struct val){ MIN(size, o->size), 0 });
	return st ? st : mem_free_call(m, (struct val){ at, 0 });
}

static enum stop write_out(struct machine *m, const struct val *a)
{
	uint64_t at = machine_concretise(m, a[1], 64, "an output buffer"),
		 len = machine_concretise(m, a[2], 64, "the length of output");
	uint8_t *data;
	enum stop st;

	if (!m->output)
		return STOP_NONE;
	data = xmalloc(len + 1);
	st = mem_bytes(m, at, len, data);
	if (!st)
		m->output(m->output_arg, (int)machine_concretise(m, a[0], 32, "a file descriptor"),
			  data, len);
	free(data);
	return st;
}

static enum stop host_file(struct machine *m, bool read, const struct val *a, struct val *ret)
{
	struct file_map map = { 0 };
	char path[4096];
	enum stop st = mem_string(m, machine_concretise(m, a[0], 64, "a path"), path, sizeof(path));
	struct err *err;

	*ret = (struct val){ ~0ull, 0 };
	if (st || !m->config->host_files)
		return st;
	err = file_map_open(path, &map);
	if (err) {
		err_free(err);
		return STOP_NONE;
	}
	if (read)
		st = mem_write(m, a[1].c, map.data, MIN(map.len, a[2].c));
	*ret = (struct val){ map.len, 0 };
	file_map_close(&map);
	return st;
}

/* snprintf of one floating-point number with the program's own conversion. */
static enum stop format_double(struct machine *m, bool is_long, const struct val *a,
			       struct val *ret)
{
	char format[64], out[8192];
	uint64_t cap = machine_concretise(m, a[1], 64, "a buffer length");
	long double ld = 0;
	double d;
	uint64_t v = 0;
	int n;
	enum stop st =
		mem_string(m, machine_concretise(m, a[2], 64, "a format"), format, sizeof(format));

	if (st)
		return st;
	if (is_long) {
		st = mem_bytes(m, machine_concretise(m, a[3], 64, "a long double"), 10,
			       (uint8_t *)&ld);
		if (st)
			return st;
	} else {
		v = machine_concretise(m, a[3], 64, "a printed floating-point number");
	}
	memcpy(&d, &v, 8);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
	n = is_long ? snprintf(out, sizeof(out), format, ld)
		    : snprintf(out, sizeof(out), format, d);
#pragma clang diagnostic pop
	*ret = (struct val){ (uint32_t)n, 0 };
	if (n < 0 || (size_t)n >= sizeof(out))
		return machine_fault(m, SYM_UNSUPPORTED,
				     "printing a number with more than %zu characters",
				     sizeof(out));
	return mem_write(m, machine_concretise(m, a[0], 64, "a buffer"), out,
			 MIN((uint64_t)n + 1, cap));
}

static enum stop parse_double(struct machine *m, const struct val *a, struct val *ret)
{
	char text[512];
	enum stop st = mem_string(m, machine_concretise(m, a[0], 64, "a number's text"), text,
				  sizeof(text));
	double d;

	if (st)
		return st;
	d = strtod(text, NULL);
	*ret = (struct val){ 0 };
	memcpy(&ret->c, &d, 8);
	return STOP_NONE;
}

static enum stop make_symbolic(struct machine *m, const struct val *a)
{
	uint64_t at = machine_concretise(m, a[0], 64, "an address"), len = a[1].c;
	char name[64] = "value", label[96];
	enum stop st = a[2].c ? mem_string(m, a[2].c, name, sizeof(name)) : STOP_NONE;

	for (uint64_t i = 0; !st && i < len; i++) {
		uint32_t number;
		expr_id x;

		snprintf(label, sizeof(label), "%s[%llu]", name, (unsigned long long)i);
		x = expr_symbol(&m->exprs, 8, label, &number);
		vec_push(&m->inputs,
			 ((struct sym_input){ number, SYM_FROM_PROGRAM, 0, (uint32_t)i }));
		st = mem_store(m, (struct val){ at + i, 0 }, 8, (struct val){ 0, x });
	}
	return st;
}

static enum stop assume(struct machine *m, struct val v)
{
	struct exprs *e = &m->exprs;
	struct model *model = NULL;
	expr_id cond;

	if (!v.x)
		return v.c ? STOP_NONE : machine_fault(m, SYM_EXIT, "assumption not met");
	cond = expr_not(e, expr_binary(e, EX_EQ, v.x, expr_const(e, expr_get(e, v.x)->w, 0)));
	if (machine_may(m, cond, &model) != ANSWER_YES)
		return machine_fault(m, SYM_EXIT, "assumption not met");
	machine_assume(m, m->s, cond, model);
	return STOP_NONE;
}

static enum stop assert_fail(struct machine *m, const struct val *a)
{
	char text[160] = "?", file[200] = "?";

	if (mem_string(m, machine_concretise(m, a[0], 64, "an assertion"), text, sizeof(text)) ||
	    mem_string(m, machine_concretise(m, a[1], 64, "an assertion"), file, sizeof(file)))
		return STOP_END;
	return machine_fault(m, SYM_ASSERT, "assertion `%s' failed (%s:%u)", text, file,
			     (unsigned)a[2].c);
}

/* strlen without a loop in the program's code; only for bytes that are all concrete. */
static enum stop string_length(struct machine *m, struct val p, struct val *ret)
{
	struct object *o;
	uint32_t off;
	const uint8_t *end;
	enum stop st;

	*ret = (struct val){ ~0ull, 0 };
	if (p.x)
		return STOP_NONE; /* "do it yourself" */
	st = mem_resolve(m, p.c, 1, false, &o, &off);
	if (st || o->sym || m->guide->follows)
		return st;
	end = memchr(o->bytes + off, 0, o->size - off);
	if (end)
		*ret = (struct val){ (uint64_t)(end - o->bytes - off), 0 };
	return STOP_NONE;
}

/* A jump buffer holds which frame to go back to and the operation whose result that is. */
#define JUMP_MAGIC 0x706d756a74696c70ull

static enum stop set_jump(struct machine *m, const struct frame *f, struct val buffer,
			  struct val *ret)
{
	uint64_t words[4] = { JUMP_MAGIC, f->depth, f->f->index, f->pc };

	*ret = (struct val){ 0 };
	return mem_write(m, machine_concretise(m, buffer, 64, "a jump buffer"), words,
			 sizeof(words));
}

static enum stop long_jump(struct machine *m, const struct val *a)
{
	struct thread *t = current_thread(m);
	uint64_t words[4], value = machine_concretise(m, a[1], 32, "the value of a jump");
	struct frame *f = t->top;
	enum stop st = mem_bytes(m, machine_concretise(m, a[0], 64, "a jump buffer"), sizeof(words),
				 (uint8_t *)words);

	if (st)
		return st;
	while (f && words[0] == JUMP_MAGIC && f->depth > words[1])
		f = f->caller;
	if (!f || words[0] != JUMP_MAGIC || f->depth != words[1] || f->f->index != words[2])
		return machine_fault(m, SYM_UNSUPPORTED,
				     "longjmp to a function that has returned, or with a buffer "
				     "that setjmp did not fill");
	while (t->top->depth > words[1]) {
		f = frame_own(&t->top);
		mem_release_to(m, f, 0);
		t->top = f->caller;
		f->caller = NULL;
		frame_unref(f);
	}
	f = frame_own(&t->top);
	f->pc = (uint32_t)words[3];
	if (f->f->ops[f->pc].w)
		set_reg(m, f, f->f->ops[f->pc].d, (struct val){ value ? value : 1, 0 });
	f->pc++;
	return STOP_SWITCH; /* go on there */
}

/* Before a block is given back others may have their turn, as in a native run. What models of libc
 * free for themselves nobody else has; operator delete is a model, and its caller frees. */
static enum stop free_point(struct machine *m, const struct frame *f, struct val block)
{
	if (!m->guide->points || (!block.c && !block.x) ||
	    (f->f->is_model && strncmp(f->f->name, "_Zd", 3) != 0))
		return STOP_NONE;
	return machine_point(m, PLAIT_EV_FREE, 0);
}

static enum stop dispatch(struct machine *m, struct frame *f, const struct op *o, struct val *a,
			  uint32_t n, struct val *ret)
{
	uint64_t size;
	char text[256];
	enum stop st;

	switch (o->b) {
	case BI_MALLOC:
		return allocate(m, machine_concretise(m, a[0], 64, "the size of an allocation"),
				ret);
	case BI_CALLOC:
		size = machine_concretise(m, a[0], 64, "the size of an allocation");
		if (__builtin_mul_overflow(
			    size, machine_concretise(m, a[1], 64, "the size of an allocation"),
			    &size))
			size = UINT64_MAX;
		return allocate(m, size, ret);
	case BI_REALLOC:
		st = free_point(m, f, a[0]);
		if (st)
			return st;
		return reallocate(
			m, a[0], machine_concretise(m, a[1], 64, "the size of an allocation"), ret);
	case BI_MEMALIGN:
		return allocate(m, machine_concretise(m, a[0], 64, "the size of an allocation"),
				ret);
	case BI_FREE:
		st = free_point(m, f, a[0]);
		return st ? st : mem_free_call(m, a[0]);
	case BI_OBJECT_SIZE: {
		struct object *obj;
		uint32_t off;

		if (!a[0].c)
			return STOP_NONE;
		st = mem_resolve(m, machine_concretise(m, a[0], 64, "a pointer"), 0, false, &obj,
				 &off);
		if (!st)
			*ret = (struct val){ obj->size, 0 };
		return st;
	}
	case BI_MEMCPY:
	case BI_MEMMOVE:
		*ret = a[0];
		return mem_copy(m, a[0], a[1], a[2]);
	case BI_MEMSET:
		*ret = a[0];
		return mem_fill(m, a[0], a[1], a[2]);
	case BI_STRLEN:
		return string_length(m, a[0], ret);
	case BI_EXIT:
		st = m->guide->points ? machine_point(m, PLAIT_EV_PROCESS_EXIT, 0) : STOP_NONE;
		if (st)
			return st;
		st = machine_fault(m, SYM_EXIT, "exit");
		m->outcome.code = (int)(uint8_t)(a[0].x ? machine_value(m, m->s, a[0].x) : a[0].c);
		return st;
	case BI_ABORT:
		return machine_fault(m, SYM_ABORT, "abort called");
	case BI_STACK_CHK:
		return machine_fault(m, SYM_ABORT, "stack protector");
	case BI_ASSERT_FAIL:
		return assert_fail(m, a);
	case BI_OUTPUT:
		return write_out(m, a);
	case BI_HOST_SIZE:
		return host_file(m, false, a, ret);
	case BI_HOST_READ:
		return host_file(m, true, a, ret);
	case BI_FORMAT_DOUBLE:
		return format_double(m, false, a, ret);
	case BI_FORMAT_LDOUBLE:
		return format_double(m, true, a, ret);
	case BI_PARSE_DOUBLE:
		return parse_double(m, a, ret);
	case BI_IS_SYMBOLIC:
		*ret = (struct val){ a[0].x != 0, 0 };
		return STOP_NONE;
	case BI_SYMBOLIC:
		return make_symbolic(m, a);
	case BI_ASSUME:
		return assume(m, a[0]);
	case BI_CONCRETE:
		*ret = (struct val){ machine_concretise(m, a[0], 64, "a value"), 0 };
		return STOP_NONE;
	case BI_PEEK:
		*ret = (struct val){ a[0].x ? machine_value(m, m->s, a[0].x) : a[0].c, 0 };
		return STOP_NONE;
	case BI_NOTE:
	case BI_REFUSE:
		st = mem_string(m, machine_concretise(m, a[0], 64, "a text"), text, sizeof(text));
		if (st)
			return st;
		if (o->b == BI_REFUSE)
			return machine_fault(m, SYM_UNSUPPORTED, "%s", text);
		machine_note(m, "%s", text);
		return STOP_NONE;
	case BI_SETJMP:
	case BI_SETJMP_PLAIN:
	case BI_SIGSETJMP:
		return set_jump(m, f, a[0], ret);
	case BI_LONGJMP:
		return long_jump(m, a);
	case BI_UNWIND:
		return unwind(m, machine_concretise(m, a[0], 64, "an exception"));
	case BI_CLOCK: /* every look at the clock takes a microsecond, so that waiting loops end */
		m->s->clock += 1000;
		m->clock_read = true;
		*ret = (struct val){ m->s->clock, 0 };
		return STOP_NONE;
	default:
		return call_thread_builtin(m, f, o, a, n, ret);
	}
}

enum stop call_builtin(struct machine *m, struct frame *f, const struct op *o)
{
	uint32_t n = (uint32_t)(o->imm >> 32);
	struct val a[8] = { 0 }, ret = { 0 };
	enum stop st;

	for (uint32_t i = 0; i < n && i < ARRAY_SIZE(a); i++)
		a[i] = get_reg(f, m->ir->args.data[(uint32_t)o->imm + i]);
	if (m->guide->sites) {
		bool done = false;

		st = m->guide->sites->builtin(m, (enum builtin)o->b, a, &ret, &done);
		if (!done && !st)
			st = dispatch(m, f, o, a, n, &ret);
	} else {
		st = dispatch(m, f, o, a, n, &ret);
	}
	if (st)
		return st; /* a call that waits runs again */
	if (o->w)
		set_reg(m, f, o->d, ret);
	f->pc++;
	return STOP_NONE;
}

/* A function that neither the program nor the models define. */
enum stop call_unknown(struct machine *m, struct frame *f, const struct op *o,
		       const struct function *callee)
{
	return machine_fault(m, SYM_UNSUPPORTED,
			     "a call of %s, which is neither in the bitcode nor among the models; "
			     "build it with the program, or give it a model",
			     callee->name);
	(void)f;
	(void)o;
}
