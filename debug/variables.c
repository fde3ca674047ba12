/* debug/variables.c - the global variable at an address, and the way into it.
 *
 * Variables with static storage are collected once per module from its debug information, those in
 * namespaces and functions too. The path into a variable (members, array elements) is found by
 * walking down its type with the offset. A module without debug information still has its symbol
 * table: then the name is "queue+24".
 *
 * A name shows what the programmer wrote. Members with reserved names (_M_i, __data) belong to the
 * library's own types: they are passed through silently, so that std::atomic<int> hits is "hits"
 * and std::array<int, 4> a is "a[2]". */
#include "debug/module.h"

#include "base/demangle.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "debug/types.h"

#include <ctype.h>
#include <dwarf.h>
#include <string.h>

enum { DEEPEST_SCOPE = 64, DEEPEST_TYPE = 32 };

static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/* ---- collecting ---- */

/* The address of a variable with static storage; false for any other. */
static bool static_address(Dwarf_Die *die, Dwarf_Addr *ret)
{
	Dwarf_Attribute attr, address;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(die, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1)
		return false;
	switch (ops[0].atom) {
	case DW_OP_addr:
		*ret = ops[0].number;
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return dwarf_getlocation_attr(&attr, &ops[0], &address) == 0 &&
		       dwarf_formaddr(&address, ret) == 0;
	}
	return false;
}

/* Whose variables they are. */
struct unit {
	Dwarf_Addr bias;
	bool of_runtime;
};

static const char *folder_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));

	return folder ? folder : "";
}

/* Where the runtime was compiled; NULL: it is not in this module. */
static const char *runtime_folder(struct module *m)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	while ((unit = dwfl_module_nextcu(m->mod, unit, &bias)))
		if (dwarf_diename(unit) && path_is_runtime(dwarf_diename(unit)))
			return folder_of(unit);
	return NULL;
}

static void collect_variable(struct module *m, Dwarf_Die *die, const struct unit *unit)
{
	const char *name = dwarf_diename(die);
	Dwarf_Addr at;
	Dwarf_Die type;

	if (!name || !static_address(die, &at) || !type_of(die, &type))
		return;
	vec_push(&m->variables, (struct variable){ .addr = at + unit->bias,
						   .size = MAX(size_of(&type), 1),
						   .name = arena_strdup(m->arena, name),
						   .of_runtime = unit->of_runtime,
						   .type = type });
}

static void collect_scope(struct module *m, Dwarf_Die *scope, const struct unit *unit, int depth)
{
	Dwarf_Die die;

	if (depth > DEEPEST_SCOPE || dwarf_child(scope, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			collect_variable(m, &die, unit);
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
			collect_scope(m, &die, unit, depth + 1);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int by_addr(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void collect_variables(struct module *m)
{
	struct unit unit = { 0 };
	const char *runtime = runtime_folder(m);
	Dwarf_Die *die = NULL;

	m->have_variables = true;
	while ((die = dwfl_module_nextcu(m->mod, die, &unit.bias))) {
		unit.of_runtime = runtime && !strcmp(folder_of(die), runtime);
		collect_scope(m, die, &unit, 0);
	}
	vec_sort(&m->variables, by_addr);
}

void module_need_variables(struct module *m)
{
	if (!m->have_variables)
		collect_variables(m);
}

static const struct variable *find_variable(struct module *m, GElf_Addr addr)
{
	const struct variable *v;
	size_t at;

	module_need_variables(m);
	at = vec_upper(&m->variables, addr, addr);
	if (at == 0)
		return NULL;
	v = &m->variables.data[at - 1];
	return addr - v->addr < v->size ? v : NULL;
}

size_t module_variable(struct module *m, const char *name, uint64_t *offset, struct type *ret)
{
	GElf_Addr last = 0;
	size_t n = 0;

	module_need_variables(m);
	for (size_t i = 0; i < m->variables.len; i++) {
		struct variable *v = &m->variables.data[i];

		if (v->of_runtime || strcmp(v->name, name) != 0 || (n && v->addr == last))
			continue;
		n++;
		last = v->addr;
		*offset = v->addr - m->bias;
		*ret = type_of_die(&v->type);
	}
	return n;
}

/* The same from the symbol table. */
static const char *find_symbol(struct module *m, GElf_Addr addr, uint64_t *base, uint64_t *size)
{
	GElf_Off into;
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(m->mod, addr, &into, &sym, NULL, NULL, NULL);

	if (!name || GELF_ST_TYPE(sym.st_info) != STT_OBJECT || into >= sym.st_size)
		return NULL;
	*base = addr - into - m->bias;
	*size = sym.st_size;
	return name;
}

bool module_global(struct module *m, uint64_t offset, uint64_t *base, uint64_t *size)
{
	const struct variable *v = find_variable(m, offset + m->bias);

	if (!v)
		return find_symbol(m, offset + m->bias, base, size) != NULL;
	*base = v->addr - m->bias;
	*size = v->size;
	return true;
}

/* ---- the way into a variable ---- */

/* "__x" and "_X" are the library's own. */
static bool is_reserved(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* Where a member lies in its structure, in bytes. */
static void member_range(Dwarf_Die *member, Dwarf_Die *type, uint64_t *at, uint64_t *size)
{
	Dwarf_Attribute attr;
	Dwarf_Word where = 0, bits = 0;

	*size = size_of(type);
	if (dwarf_attr(member, DW_AT_data_member_location, &attr)) {
		dwarf_formudata(&attr, &where);
	} else if (dwarf_attr(member, DW_AT_data_bit_offset, &attr)) {
		dwarf_formudata(&attr, &where);
		if (dwarf_attr(member, DW_AT_bit_size, &attr))
			dwarf_formudata(&attr, &bits);
		*size = (where % 8 + bits + 7) / 8;
		where /= 8;
	}
	*at = where;
}

/* An empty base class (an allocator) has a size of one byte but nothing in it. */
static bool is_empty(Dwarf_Die *structure, int depth)
{
	Dwarf_Die die, base;

	if (depth > 8 || dwarf_child(structure, &die) != 0)
		return true;
	do {
		int tag = dwarf_tag(&die);

		if ((tag == DW_TAG_member && !dwarf_hasattr(&die, DW_AT_external)) ||
		    (tag == DW_TAG_inheritance && type_of(&die, &base) &&
		     !is_empty(&base, depth + 1)))
			return false;
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

/* The member (or base class, by `tag`) of a structure that covers the offset. */
static bool find_member(Dwarf_Die *structure, int tag, uint64_t offset, Dwarf_Die *ret,
			Dwarf_Die *ret_type, uint64_t *ret_at)
{
	Dwarf_Die die;

	if (dwarf_child(structure, &die) != 0)
		return false;
	do {
		uint64_t size;

		if (dwarf_tag(&die) != tag || dwarf_hasattr(&die, DW_AT_external) ||
		    !type_of(&die, ret_type) ||
		    (tag == DW_TAG_inheritance && is_empty(ret_type, 0)))
			continue;
		member_range(&die, ret_type, ret_at, &size);
		if (offset >= *ret_at && offset - *ret_at < size) {
			*ret = die;
			return true;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

struct walk {
	Dwarf_Die type;
	uint64_t offset;
	bool in_library; /* passed a reserved name: what is left of the offset means nothing */
};

/* Members first: they may lie in the padding of a base class. */
static bool into_structure(struct walk *w, struct strbuf *out)
{
	Dwarf_Die member, type;
	const char *name;
	uint64_t at;

	if (!find_member(&w->type, DW_TAG_member, w->offset, &member, &type, &at) &&
	    !find_member(&w->type, DW_TAG_inheritance, w->offset, &member, &type, &at))
		return false;
	name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : NULL;
	if (name && is_reserved(name))
		w->in_library |= !strstr(name, "elems"); /* of std::array: the user's own */
	else if (name && !w->in_library)
		strbuf_addf(out, ".%s", name);
	w->offset -= at;
	w->type = type;
	return true;
}

/* How many elements a dimension has; 0 = not known. */
static uint64_t dimension(Dwarf_Die *subrange)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	if (dwarf_attr(subrange, DW_AT_count, &attr) && dwarf_formudata(&attr, &n) == 0)
		return n;
	if (dwarf_attr(subrange, DW_AT_upper_bound, &attr) && dwarf_formudata(&attr, &n) == 0)
		return n + 1;
	return 0;
}

/* "[1][2]": one index for each dimension, the last varies fastest. */
static bool into_array(struct walk *w, struct strbuf *out)
{
	Dwarf_Die element, die;
	uint64_t size = type_of(&w->type, &element) ? size_of(&element) : 0, n[8], index;
	size_t ndims = 0;

	if (!size)
		return false;
	if (dwarf_child(&w->type, &die) == 0)
		do
			if (dwarf_tag(&die) == DW_TAG_subrange_type && ndims < ARRAY_SIZE(n))
				n[ndims++] = dimension(&die);
		while (dwarf_siblingof(&die, &die) == 0);
	index = w->offset / size;
	for (size_t i = 0; i < MAX(ndims, 1u); i++) {
		uint64_t below = 1;

		for (size_t k = i + 1; k < ndims; k++)
			below *= MAX(n[k], 1u);
		strbuf_addf(out, "[%llu]", (unsigned long long)(index / below));
		index %= below;
	}
	w->offset %= size;
	w->type = element;
	return true;
}

static bool is_library_union(Dwarf_Die *type)
{
	Dwarf_Die die;

	return dwarf_child(type, &die) == 0 && dwarf_tag(&die) == DW_TAG_member &&
	       dwarf_diename(&die) && is_reserved(dwarf_diename(&die));
}

static void add_path(struct walk *w, struct strbuf *out)
{
	for (int depth = 0; depth < DEEPEST_TYPE; depth++) {
		if (dwarf_peel_type(&w->type, &w->type) != 0)
			break;
		switch (dwarf_tag(&w->type)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			if (into_structure(w, out))
				continue;
			break;
		case DW_TAG_array_type:
			if (into_array(w, out))
				continue;
			break;
		case DW_TAG_union_type:
			/* which member of a union is meant nobody knows */
			w->in_library |= is_library_union(&w->type);
			break;
		}
		break;
	}
	if (w->offset && !w->in_library)
		strbuf_addf(out, "+%llu", (unsigned long long)w->offset);
}

void type_add_path(Dwarf_Die *type, uint64_t offset, struct strbuf *out)
{
	struct walk w = { *type, offset, false };

	add_path(&w, out);
}

bool module_global_name(struct module *m, uint64_t offset, struct strbuf *out)
{
	const struct variable *v = find_variable(m, offset + m->bias);
	uint64_t base, size;
	const char *name;
	char *text;

	if (v) {
		Dwarf_Die type = v->type;

		strbuf_adds(out, v->name);
		type_add_path(&type, offset + m->bias - v->addr, out);
		return true;
	}
	name = find_symbol(m, offset + m->bias, &base, &size);
	if (!name)
		return false;
	text = demangle(name);
	strbuf_adds(out, text);
	free(text);
	if (offset != base)
		strbuf_addf(out, "+%llu", (unsigned long long)(offset - base));
	return true;
}
