/* sym/machine/unwind.c - C++ exceptions: from throw to the handler.
 *
 * As the C++ ABI has it, in two passes: look whether anybody up the stack catches the type; if
 * nobody does, the program ends there (std::terminate). Then go to the innermost frame that has
 * something to do, a handler or a clean-up, which later sends the exception on its way again
 * (OP_RESUME). What belongs to an exception stands in front of it in memory:
 * models/cxx/exceptions.c. */
#include "sym/machine/machine.h"

#include <stdio.h>
#include <string.h>

#define HEADER	 128 /* bytes in front of an exception; its first words are ... */
#define TYPE	 0   /* ... the address of its type info */
#define ADJUSTED 16  /* ... what the handler is given */

/* What classes of the C++ library derive from: their type infos are not in the bitcode. */
static const char *const bases[][2] = {
	{ "_ZTISt11logic_error", "_ZTISt9exception" },
	{ "_ZTISt13runtime_error", "_ZTISt9exception" },
	{ "_ZTISt9bad_alloc", "_ZTISt9exception" },
	{ "_ZTISt8bad_cast", "_ZTISt9exception" },
	{ "_ZTISt12out_of_range", "_ZTISt11logic_error" },
	{ "_ZTISt12length_error", "_ZTISt11logic_error" },
	{ "_ZTISt12domain_error", "_ZTISt11logic_error" },
	{ "_ZTISt16invalid_argument", "_ZTISt11logic_error" },
	{ "_ZTISt11range_error", "_ZTISt13runtime_error" },
	{ "_ZTISt14overflow_error", "_ZTISt13runtime_error" },
	{ "_ZTISt12system_error", "_ZTISt13runtime_error" },
};

static const char *name_of(struct machine *m, uint64_t address)
{
	uint32_t id = (uint32_t)(address >> 32) & 0x3fffffff;

	return address & ADDR_TAG && id && id <= m->ir->globals.len
		       ? m->ir->globals.data[id - 1].name
		       : "";
}

static uint64_t word_at(struct machine *m, uint64_t address)
{
	const struct object *o = memory_find(&m->s->memory, (uint32_t)(address >> 32) & 0x3fffffff);
	uint32_t off = (uint32_t)address - ADDR_BIAS;
	uint64_t v = 0;

	if (address & ADDR_TAG && o && !o->freed && (uint64_t)off + 8 <= o->size)
		memcpy(&v, o->bytes + off, 8);
	return v;
}

/* Is `type` the wanted one, or derived from it? *shift: where in the object its base is. */
static bool is_a(struct machine *m, uint64_t type, uint64_t wanted, int64_t *shift, int depth)
{
	const char *kind = name_of(m, word_at(m, type)), *name = name_of(m, type);

	if (type == wanted || (*name && !strcmp(name, name_of(m, wanted))))
		return true;
	if (depth > 16)
		return false;
	if (strstr(kind, "__si_class_type_info"))
		return is_a(m, word_at(m, type + 16), wanted, shift, depth + 1);
	if (strstr(kind, "__vmi_class_type_info")) {
		uint32_t n = (uint32_t)(word_at(m, type + 16) >> 32);

		for (uint32_t i = 0; i < n && i < 16; i++) {
			int64_t at = *shift, flags = (int64_t)word_at(m, type + 32 + 16ull * i);

			*shift += flags >> 8;
			if (is_a(m, word_at(m, type + 24 + 16ull * i), wanted, shift, depth + 1))
				return true;
			*shift = at;
		}
		return false;
	}
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		if (!strcmp(bases[i][0], name)) {
			const char *want = name_of(m, wanted);

			while (i < sizeof(bases) / sizeof(bases[0])) {
				if (!strcmp(bases[i][1], want))
					return true;
				name = bases[i][1];
				for (i = 0; i < sizeof(bases) / sizeof(bases[0]) &&
					    strcmp(bases[i][0], name) != 0;)
					i++;
			}
		}
	return false;
}

static const struct unwind *unwind_of(const struct function *f, uint32_t call)
{
	for (uint32_t i = 0; i < f->nunwinds; i++)
		if (f->unwinds[i].call == call)
			return &f->unwinds[i];
	return NULL;
}

/* The number of the first type that the pad catches it by, 0 when it does not. */
static uint32_t caught_by(struct machine *m, const struct landing *l, uint64_t type, int64_t *shift)
{
	for (uint32_t i = 0; i < l->n; i++) {
		*shift = 0;
		if (!l->types[i] || is_a(m, type, l->types[i], shift, 0))
			return ir_type_number(m->ir, l->types[i]);
	}
	return 0;
}

static void leave_frames(struct machine *m, uint32_t depth)
{
	struct thread *t = current_thread(m);

	while (t->top->depth > depth) {
		struct frame *f = frame_own(&t->top);

		mem_release_to(m, f, 0);
		t->top = f->caller;
		f->caller = NULL;
		frame_unref(f);
	}
}

static enum stop land(struct machine *m, uint64_t exception, uint32_t depth, const struct unwind *u,
		      uint32_t handler, int64_t shift)
{
	struct thread *t = current_thread(m);
	uint64_t adjusted = exception + (uint64_t)shift;
	enum stop st = STOP_NONE;

	/* a pointer is caught by value */
	if (!strncmp(name_of(m, word_at(m, exception - HEADER + TYPE)), "_ZTIP", 5))
		adjusted = word_at(m, exception);
	if (handler)
		st = mem_write(m, exception - HEADER + ADJUSTED, &adjusted, 8);
	if (st)
		return st;
	leave_frames(m, depth);
	frame_own(&t->top)->pc = u->to;
	t->exception = exception;
	t->handler = handler;
	return STOP_SWITCH; /* go on there */
}

enum stop unwind(struct machine *m, uint64_t exception)
{
	struct thread *t = current_thread(m);
	uint64_t type = word_at(m, exception - HEADER + TYPE);
	const struct unwind *first = NULL;
	uint32_t depth = 0, handler = 0;
	int64_t shift = 0;

	for (const struct frame *f = t->top; f; f = f->caller) {
		const struct unwind *u = unwind_of(f->f, f == t->top ? f->pc : f->pc - 1);
		const struct landing *l = u ? &m->ir->landings.data[u->landing] : NULL;

		if (!l)
			continue;
		if (l->filters)
			return machine_fault(m, SYM_UNSUPPORTED,
					     "an exception comes by an exception specification");
		handler = caught_by(m, l, type, &shift);
		if (!first && (handler || l->cleanup)) {
			first = u;
			depth = f->depth;
			if (handler)
				return land(m, exception, depth, first, handler, shift);
		}
		if (handler)
			return land(m, exception, depth, first, 0, 0);
	}
	return machine_fault(m, SYM_ABORT, "an exception that nobody catches%s%s",
			     *name_of(m, type) ? ": " : "", name_of(m, type));
}
