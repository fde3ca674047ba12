/* debug/globals.c - see globals.h. */
#include "debug/globals.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "debug/text.h"
#include "debug/types.h"

#include <elf.h>
#include <string.h>

enum { PARTS_MOST = 1 << 16 };

struct collector {
	struct globals *globals;
	const struct text *text;
	struct text_relocations relocations;
	const struct variable *variable; /* that is looked at */
	bool alone;
};

static const struct text_relocation *relocation_at(const struct collector *c, uint64_t slot)
{
	size_t at = vec_upper(&c->relocations, slot, slot);

	return at && c->relocations.data[at - 1].slot == slot ? &c->relocations.data[at - 1] : NULL;
}

/* What the file says the part holds at first; false when only the loader knows. */
static bool first_value(const struct collector *c, struct global_part *p)
{
	const struct text_segment *s = text_segment_at(c->text, p->address);
	const struct text_relocation *r = relocation_at(c, p->address);
	const uint8_t *bytes;
	size_t len = 0;

	if (!s || !(s->flags & PF_W))
		return false;
	if (r) {
		p->moves = r->relative;
		p->first = r->addend;
		return r->relative && p->bytes == 8;
	}
	bytes = text_bytes(c->text, p->address, &len);
	if (bytes) /* behind the file's bytes are zeroes */
		memcpy(&p->first, bytes, MIN(len, (size_t)p->bytes));
	return true;
}

static void add_part(void *arg, const struct type *t, uint64_t at)
{
	struct collector *c = arg;
	const struct variable *v = c->variable;
	struct global_part p = { .variable = v->name,
				 .size = v->size,
				 .offset = at,
				 .address = v->addr - c->globals->module->bias + at,
				 .bytes = (uint8_t)t->size,
				 .pointer = t->kind == TYPE_POINTER,
				 .alone = c->alone };

	if (at + t->size <= v->size && c->globals->parts.len < PARTS_MOST && first_value(c, &p))
		vec_push(&c->globals->parts, p);
}

/* Each variable once: units that share it name it again. */
static void collect(struct collector *c, struct module *m)
{
	struct map names = { 0 };
	struct variable *last = NULL;

	for (size_t i = 0; i < m->variables.len; i++) {
		struct variable *v = &m->variables.data[i];
		uint64_t *n = map_put(&names, hash_bytes(v->name, strlen(v->name), 0), 0);

		*n += !i || m->variables.data[i - 1].addr != v->addr;
	}
	for (size_t i = 0; i < m->variables.len; i++) {
		struct variable *v = &m->variables.data[i];
		struct type t = type_of_die(&v->type);

		if (v->of_runtime || (last && last->addr == v->addr))
			continue;
		last = v;
		c->variable = v;
		c->alone = map_get_or(&names, hash_bytes(v->name, strlen(v->name), 0), 0) == 1;
		type_each_part(&t, 0, add_part, c);
	}
	map_deinit(&names);
}

struct err *globals_open(const char *path, struct globals *ret)
{
	struct text text = { 0 };
	struct collector c = { .globals = ret, .text = &text };
	struct err *err;

	*ret = (struct globals){ .modules = modules_new() };
	err = modules_get(ret->modules, path, NULL, &ret->module);
	if (err)
		return err;
	err = text_open(path, &text);
	if (!err) {
		text_relocations(&text, &c.relocations);
		module_need_variables(ret->module);
		collect(&c, ret->module);
	}
	vec_deinit(&c.relocations);
	text_close(&text);
	return err;
}

void globals_close(struct globals *g)
{
	if (g->modules)
		modules_free(g->modules);
	vec_deinit(&g->parts);
	*g = (struct globals){ 0 };
}

bool global_part_read(const struct global_part *p, const struct dump *d, uint64_t *ret,
		      bool *changed)
{
	const struct dump_module *m = dump_program(d);
	uint64_t first;

	*ret = 0;
	if (!m || !dump_read(d, m->bias + p->address, ret, p->bytes))
		return false;
	first = p->first + (p->moves ? m->bias : 0);
	/* packed relocations (DT_RELR) leave what they add to in place */
	*changed = *ret != first && !(p->pointer && !p->moves && first && *ret == first + m->bias);
	return true;
}
