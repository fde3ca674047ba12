/* rewind/moment.c - see moment.h. */
#include "rewind/moment.h"

#include "base/err.h"
#include "debug/predicate.h"
#include "sched/predicate.h"

#include <string.h>

/* By our numbers. */
static const uint8_t dwarf_of[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };
enum { DWARF_RBP = 6, DWARF_RSP = 7 };

bool moment_read(const struct moment *m, uint64_t address, void *to, size_t n)
{
	struct history *h = &m->r->h;
	uint8_t *out = to;
	uint64_t v;

	for (size_t i = 0; i < n; i++) {
		if ((m->others && map_find(&h->shared, address + i)) ||
		    !past_value(h, m->past, past_byte(h, m->past, address + i), &v))
			return false;
		out[i] = (uint8_t)v;
	}
	return true;
}

static bool read_memory(void *arg, uint64_t address, void *to, size_t n)
{
	const struct moment_frame *f = arg;

	return moment_read(f->moment, address, to, n);
}

static bool read_register(void *arg, unsigned number, uint64_t *ret)
{
	const struct moment_frame *f = arg;

	if (number >= 16 || !f->known[number])
		return false;
	*ret = f->regs[number];
	return true;
}

static struct module *module_at(struct rewind *r, uint64_t address, uint64_t *bias)
{
	const struct dump_module *d = dump_module_at(&r->dump, address);
	struct module *m = NULL;
	struct err *err;

	if (!d)
		return NULL;
	*bias = d->bias;
	err = modules_get(r->names.modules, d->path, d->build_id, &m);
	if (err)
		m = NULL;
	err_free(err);
	return m;
}

/* The frame of the caller. False: the tables, or the stack, do not tell. */
static bool unwind(const struct scope *s, const struct moment_frame *f, struct moment_frame *ret)
{
	static const uint8_t kept[] = { 3, DWARF_RBP, 12, 13, 14, 15 };
	unsigned base;
	struct frame_rule rule;
	uint64_t cfa;

	if (!module_frame_rule(s->module, s->offset, &rule))
		return false;
	base = rule.from_bp ? DWARF_RBP : DWARF_RSP;
	if (!f->known[base])
		return false;
	cfa = f->regs[base] + (uint64_t)rule.cfa_off;
	*ret = (struct moment_frame){ .moment = f->moment };
	if (!moment_read(f->moment, cfa - 8, &ret->pc, 8) || !ret->pc)
		return false;
	for (size_t i = 0; i < sizeof(kept); i++) {
		unsigned k = kept[i];

		ret->regs[k] = f->regs[k];
		ret->known[k] = rule.saved_at[k]
					? moment_read(f->moment, cfa + (uint64_t)rule.saved_at[k],
						      &ret->regs[k], 8)
					: f->known[k];
	}
	ret->regs[DWARF_RSP] = cfa;
	ret->known[DWARF_RSP] = true;
	return true;
}

static bool add_scope(struct moment *m)
{
	struct moment_frame *f = &m->frames[m->n];
	uint64_t at = f->pc - (m->n > 0), bias;
	struct module *module = module_at(m->r, at, &bias);

	if (!module)
		return false;
	m->scopes[m->n++] = (struct scope){ .module = module,
					    .offset = at - bias,
					    .bias = bias,
					    .arg = f,
					    .reg = read_register,
					    .read = read_memory };
	return true;
}

/* A thread that lives beside this one may have changed what both share at any time. */
static bool has_others(const struct rewind *r)
{
	for (size_t i = 0; i < r->threads.mates.len; i++)
		if (r->threads.mates.data[i].thread != MATE_ENDED &&
		    r->threads.mates.data[i].thread != r->thread)
			return true;
	return r->threads.mates.len && !r->threads.is_main;
}

void moment_init(struct moment *m, struct rewind *r, const struct past *p)
{
	struct moment_frame *f = &m->frames[0];

	*m = (struct moment){ .r = r, .past = p, .others = has_others(r) };
	f->moment = m;
	f->pc = p->pc;
	for (unsigned i = 0; i < 16; i++)
		f->known[dwarf_of[i]] =
			past_value(&r->h, p, p->registers[i], &f->regs[dwarf_of[i]]);
	while (add_scope(m) && m->n < MOMENT_FRAMES &&
	       unwind(&m->scopes[m->n - 1], &m->frames[m->n - 1], &m->frames[m->n]))
		;
}

static bool read_for_expression(void *arg, uint64_t address, void *to, size_t n)
{
	return moment_read(arg, address, to, n);
}

struct err *moment_evaluate(struct moment *m, const char *text, struct moment_value *ret)
{
	struct predicate_memory memory = { .read_with = read_for_expression, .arg = m };
	struct predicate_meaning meaning;
	struct plait_predicate code;
	struct err *err = predicate_compile_in(text, m->scopes, m->n, &code, &meaning);
	uint64_t v = 0;

	*ret = (struct moment_value){ 0 };
	if (err)
		return err;
	ret->is_place = meaning.is_place;
	ret->size = meaning.size;
	ret->is_unsigned = meaning.is_unsigned;
	ret->frame = meaning.frame;
	memcpy(ret->unknown, meaning.unknown, sizeof(ret->unknown));
	ret->known = !*meaning.unknown && predicate_value(&code, &memory, &v);
	if (!ret->known)
		return NULL;
	if (ret->is_place)
		ret->address = v;
	else
		ret->value = v;
	ret->has_value =
		!ret->is_place || (meaning.is_number && meaning.size && meaning.size <= 8 &&
				   moment_read(m, v, &ret->value, meaning.size));
	return NULL;
}
