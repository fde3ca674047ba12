/* debug/frames.c - an address becomes functions and source lines.
 *
 * Inlined frames: from the function that contains the address, down through every scope that does.
 * Each inlined_subroutine on the way says where it was called from, which is the line of the next
 * frame. Functions are collected once: libdw would walk through the whole unit at each question,
 * and a program that was linked as one object is one unit. */
#include "debug/module.h"

#include "base/path.h"
#include "base/strbuf.h"

#include <dwarf.h>
#include <string.h>

/* ---- compilation units ---- */

static int by_low(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* clang writes no .debug_aranges, which is what libdwfl looks at: take the units' own ranges. */
static void collect_units(struct module *m)
{
	Dwarf_Addr bias, base, low, high;
	Dwarf_Die *unit = NULL;

	m->have_units = true;
	while ((unit = dwfl_module_nextcu(m->mod, unit, &bias)))
		for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0;)
			vec_push(&m->units,
				 (struct unit_range){ low + bias, high + bias, *unit, bias });
	vec_sort(&m->units, by_low);
}

static struct unit_range *find_unit(struct module *m, GElf_Addr addr)
{
	size_t at;

	if (!m->have_units)
		collect_units(m);
	at = vec_upper(&m->units, low, addr);
	return at > 0 && addr < m->units.data[at - 1].high ? &m->units.data[at - 1] : NULL;
}

/* ---- places ---- */

/* Of a frame, only the place is filled in. */
static void set_place(struct module *m, Dwarf_Die *unit, const char *path, Dwarf_Word line,
		      Dwarf_Word column, struct source_frame *ret)
{
	Dwarf_Attribute attr;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	struct strbuf clean = { 0 };

	*ret = (struct source_frame){ .line = (unsigned)line, .column = (unsigned)column };
	if (!path)
		return;
	path_shorten(path, folder, &clean);
	ret->file = arena_strdup(m->arena, strbuf_str(&clean));
	ret->of_system = path_is_system(ret->file) || path_is_runtime(ret->file);
	strbuf_deinit(&clean);
}

static void place_of(struct module *m, struct unit_range *u, GElf_Addr addr,
		     struct source_frame *ret)
{
	Dwarf_Line *found = u ? dwarf_getsrc_die(&u->unit, addr - u->bias) : NULL;
	int line = 0, column = 0;

	*ret = (struct source_frame){ 0 };
	if (!found || dwarf_lineno(found, &line) != 0)
		return;
	dwarf_linecol(found, &column);
	set_place(m, &u->unit, dwarf_linesrc(found, NULL, NULL), (Dwarf_Word)line,
		  (Dwarf_Word)column, ret);
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	if (dwarf_attr(die, attribute, &attr) && dwarf_formudata(&attr, &value) == 0)
		return value;
	return 0;
}

/* Where an inlined call was written. */
static void call_place(struct module *m, struct unit_range *u, Dwarf_Die *inlined,
		       struct source_frame *ret)
{
	Dwarf_Word file = number_of(inlined, DW_AT_call_file);
	const char *path = NULL;
	Dwarf_Files *files;
	size_t nfiles;

	if (dwarf_hasattr(inlined, DW_AT_call_file) &&
	    dwarf_getsrcfiles(&u->unit, &files, &nfiles) == 0 && file < nfiles)
		path = dwarf_filesrc(files, file, NULL, NULL);
	set_place(m, &u->unit, path, number_of(inlined, DW_AT_call_line),
		  number_of(inlined, DW_AT_call_column), ret);
}

/* ---- frames ---- */

static const char *function_name(struct module *m, Dwarf_Die *die)
{
	static const unsigned kinds[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	Dwarf_Attribute attr;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (dwarf_attr_integrate(die, kinds[i], &attr) && dwarf_formstring(&attr))
			return module_demangled(m, dwarf_formstring(&attr));
	return module_demangled(m, dwarf_diename(die));
}

static bool has_functions_inside(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_subprogram;
}

static void collect_inside(struct module *m, Dwarf_Die *parent, Dwarf_Addr bias)
{
	Dwarf_Addr base, low, high;
	Dwarf_Die die;

	if (dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		for (ptrdiff_t at = 0; tag == DW_TAG_subprogram &&
				       (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;)
			vec_push(&m->functions,
				 (struct function_range){ low + bias, high + bias, die });
		if (has_functions_inside(tag))
			collect_inside(m, &die, bias);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int by_low_address(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static struct function_range *find_function(struct module *m, GElf_Addr addr)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	size_t at;

	while (!m->have_functions && (unit = dwfl_module_nextcu(m->mod, unit, &bias)))
		collect_inside(m, unit, bias);
	if (!m->have_functions)
		vec_sort(&m->functions, by_low_address);
	m->have_functions = true;
	at = vec_upper(&m->functions, low, addr);
	return at > 0 && addr < m->functions.data[at - 1].high ? &m->functions.data[at - 1] : NULL;
}

/* The child of a scope that contains the address. */
static bool scope_inside(Dwarf_Die *die, Dwarf_Addr pc)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
		    dwarf_haspc(&child, pc) > 0) {
			*die = child;
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

size_t module_scopes(struct module *m, uint64_t offset, Dwarf_Die *ret, size_t most,
		     Dwarf_Addr *bias)
{
	GElf_Addr addr = offset + m->bias;
	struct unit_range *u = find_unit(m, addr);
	struct function_range *f = u ? find_function(m, addr) : NULL;
	size_t n = 0;
	Dwarf_Die die;

	if (!f)
		return 0;
	*bias = u->bias;
	die = f->die;
	do
		ret[n++] = die;
	while (n < most && scope_inside(&die, addr - u->bias));
	return n;
}

/* Append the inlined functions and the function around them. *place is that of the innermost;
 * afterwards it is that of the next frame outwards. True when debug information knew the function. */
static bool frames_from_dwarf(struct module *m, struct unit_range *u, GElf_Addr addr,
			      struct source_frame *place, struct source_frames *ret)
{
	struct function_range *f = u ? find_function(m, addr) : NULL;
	VEC(Dwarf_Die) inlined = { 0 };
	Dwarf_Die die;

	if (!f)
		return false;
	die = f->die;
	while (scope_inside(&die, addr - u->bias))
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			vec_push(&inlined, die);
	for (size_t i = inlined.len; i-- > 0;) {
		place->function = function_name(m, &inlined.data[i]);
		place->inlined = true;
		vec_push(ret, *place);
		call_place(m, u, &inlined.data[i], place);
	}
	place->function = function_name(m, &f->die);
	place->inlined = false;
	vec_push(ret, *place);
	vec_deinit(&inlined);
	return true;
}

void module_frames(struct module *m, uint64_t offset, struct source_frames *ret)
{
	GElf_Addr addr = offset + m->bias;
	struct unit_range *u = find_unit(m, addr);
	struct source_frame place;

	place_of(m, u, addr, &place);
	if (frames_from_dwarf(m, u, addr, &place, ret))
		return;
	place.function = module_demangled(m, dwfl_module_addrname(m->mod, addr));
	if (place.function || place.file)
		vec_push(ret, place);
}

const struct source_frame *source_frames_own(const struct source_frames *frames)
{
	for (size_t i = 0; i < frames->len; i++)
		if (frames->data[i].file && frames->data[i].line && !frames->data[i].of_system)
			return &frames->data[i];
	return frames->len ? &frames->data[0] : NULL;
}
