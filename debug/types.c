/* debug/types.c - types as debug information has them: what expressions ask about them. */
#include "debug/types.h"

#include <dwarf.h>
#include <string.h>

enum { DEEPEST = 16, ELEMENTS_MOST = 16 };

static uint64_t constant(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	if (dwarf_attr_integrate(die, name, &attr))
		dwarf_formudata(&attr, &value);
	return value;
}

static bool next_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

static void number_of(Dwarf_Die *die, struct type *t)
{
	uint64_t encoding = constant(die, DW_AT_encoding);

	t->is_unsigned = encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char ||
			 encoding == DW_ATE_boolean || encoding == DW_ATE_UTF;
	if (t->is_unsigned || encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
		t->kind = TYPE_NUMBER;
}

struct type type_of_die(Dwarf_Die *die)
{
	struct type t = { .kind = TYPE_OTHER };
	Dwarf_Die plain, base;
	Dwarf_Word size;

	if (dwarf_peel_type(die, &plain) != 0)
		return t;
	t.size = dwarf_aggregate_size(&plain, &size) == 0 ? size : 0;
	switch (dwarf_tag(&plain)) {
	case DW_TAG_base_type:
		number_of(&plain, &t);
		break;
	case DW_TAG_enumeration_type:
		t.kind = TYPE_NUMBER; /* of the type behind it, where one is given */
		t.is_unsigned = !next_of(&plain, &base) || type_of_die(&base).is_unsigned;
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
		t = (struct type){ .kind = TYPE_POINTER, .size = 8, .is_unsigned = true };
		t.leads = next_of(&plain, &t.die);
		break;
	case DW_TAG_array_type:
		t.kind = TYPE_ARRAY;
		t.leads = t.of_array = true;
		t.die = plain;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		t.kind = TYPE_STRUCTURE;
		t.die = plain;
		break;
	}
	return t;
}

/* How many elements each dimension behind `from` has, multiplied; *left: how many of those there are.
 */
static uint64_t elements_behind(const struct type *array, uint32_t from, uint32_t *left)
{
	Dwarf_Die whole = array->die, die;
	uint32_t number = 0;
	uint64_t n = 1;

	*left = 0;
	if (dwarf_child(&whole, &die) != 0)
		return 1;
	do {
		if (dwarf_tag(&die) != DW_TAG_subrange_type || number++ <= from)
			continue;
		++*left;
		n *= dwarf_hasattr(&die, DW_AT_count) ? constant(&die, DW_AT_count)
						      : constant(&die, DW_AT_upper_bound) + 1;
	} while (dwarf_siblingof(&die, &die) == 0);
	return n;
}

bool type_target(const struct type *t, struct type *ret)
{
	Dwarf_Die die = t->die, next;
	uint32_t left;
	uint64_t n;

	if (!t->leads || (t->of_array && !next_of(&die, &next)))
		return false;
	*ret = type_of_die(t->of_array ? &next : &die);
	if (!t->of_array)
		return true;
	n = elements_behind(t, t->dimension, &left);
	if (left)
		*ret = (struct type){ .kind = TYPE_ARRAY,
				      .size = n * ret->size,
				      .leads = true,
				      .of_array = true,
				      .dimension = t->dimension + 1,
				      .die = t->die };
	return true;
}

/* Where it looks for a member, and what for; name NULL: any that has this size. */
struct search {
	const char *name;
	uint64_t size;
};

static bool is_it(const struct search *s, Dwarf_Die *die, const struct type *t)
{
	const char *name = dwarf_diename(die);

	if (s->name)
		return name && !strcmp(name, s->name);
	return t->kind == TYPE_NUMBER && t->size == s->size;
}

static bool find(const struct type *structure, const struct search *s, int depth, struct type *ret,
		 uint64_t *at, bool *is_bits)
{
	Dwarf_Die whole = structure->die, die, type;

	if (structure->kind != TYPE_STRUCTURE || depth > DEEPEST || dwarf_child(&whole, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		struct type t;
		uint64_t inside = 0;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&die, DW_AT_external) || !next_of(&die, &type))
			continue;
		t = type_of_die(&type);
		*is_bits = dwarf_hasattr(&die, DW_AT_bit_size);
		if (tag == DW_TAG_member && is_it(s, &die, &t)) {
			*ret = t;
			*at = constant(&die, DW_AT_data_member_location);
			return true;
		}
		if ((tag == DW_TAG_inheritance || !dwarf_diename(&die) || !s->name) &&
		    find(&t, s, depth + 1, ret, &inside, is_bits)) {
			*at = inside + constant(&die, DW_AT_data_member_location);
			return true;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

bool type_member(const struct type *structure, const char *name, struct type *ret, uint64_t *at,
		 bool *is_bits)
{
	struct search s = { .name = name };

	*is_bits = false;
	return find(structure, &s, 0, ret, at, is_bits);
}

bool type_inside(const struct type *structure, struct type *ret)
{
	struct search s = { .size = structure->size };
	uint64_t at = 0;
	bool is_bits = false;

	return find(structure, &s, 0, ret, &at, &is_bits) && at == 0 && !is_bits;
}

static void add_parts(const struct type *t, uint64_t at, int depth, type_part_fn *fn, void *arg);

static void add_members(const struct type *t, uint64_t at, int depth, type_part_fn *fn, void *arg)
{
	Dwarf_Die whole = t->die, die, type;

	if (dwarf_tag(&whole) == DW_TAG_union_type || dwarf_child(&whole, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		struct type member;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&die, DW_AT_external) || dwarf_hasattr(&die, DW_AT_bit_size) ||
		    !next_of(&die, &type))
			continue;
		member = type_of_die(&type);
		add_parts(&member, at + constant(&die, DW_AT_data_member_location), depth, fn, arg);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void add_parts(const struct type *t, uint64_t at, int depth, type_part_fn *fn, void *arg)
{
	struct type element;

	if (depth > DEEPEST)
		return;
	if (t->kind == TYPE_STRUCTURE) {
		add_members(t, at, depth + 1, fn, arg);
	} else if (t->kind == TYPE_ARRAY) {
		if (!type_target(t, &element) || !element.size ||
		    t->size / element.size > ELEMENTS_MOST)
			return;
		for (uint64_t i = 0; i < t->size / element.size; i++)
			add_parts(&element, at + i * element.size, depth + 1, fn, arg);
	} else if ((t->kind == TYPE_NUMBER || t->kind == TYPE_POINTER) &&
		   (t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8)) {
		fn(arg, t, at);
	}
}

void type_each_part(const struct type *t, uint64_t at, type_part_fn *fn, void *arg)
{
	add_parts(t, at, 0, fn, arg);
}
