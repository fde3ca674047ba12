/* debug/debuginfo.c - addresses of a run to source lines and variables.
 *
 * Modules are reported to libdwfl at the addresses they had in the run. Global variables are
 * collected once per module from its DWARF (including statics inside functions); the path
 * into a variable (members, array elements) is found by walking down its type with the offset. */
#include "debug/debuginfo.h"

#include "base/arena.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "debug/dwarf.h"
#include "trace/trace.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <string.h>

struct variable {
	uint64_t address, size;
	const char *name;
	Dwarf_Die type;
};

/* Which compilation unit a program counter belongs to. clang writes no .debug_aranges, which is
 * what libdwfl looks at, so the units' own ranges are collected. */
struct unit_range {
	uint64_t low, high;
	Dwarf_Die unit;
	Dwarf_Addr bias;
};

struct debuginfo {
	Dwfl *dwfl;
	VEC(struct unit_range) units; /* by low */
	bool units_collected;
	struct arena arena;
	VEC(struct variable) variables; /* by address */
	bool collected;
};

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

struct debuginfo *debuginfo_open(const struct trace_meta *m)
{
	struct debuginfo *d = xcalloc(1, sizeof(*d));

	d->dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin(d->dwfl);
	for (size_t i = 0; i < m->nmodules; i++)
		if (m->modules[i].path && m->modules[i].path[0] == '/')
			dwfl_report_elf(d->dwfl, m->modules[i].path, m->modules[i].path, -1,
					m->modules[i].load_address, true);
	dwfl_report_end(d->dwfl, NULL, NULL);
	return d;
}

void debuginfo_close(struct debuginfo *d)
{
	if (!d)
		return;
	dwfl_end(d->dwfl);
	arena_deinit(&d->arena);
	vec_deinit(&d->variables);
	vec_deinit(&d->units);
	free(d);
}

/* ---- lines ---- */

static const char *relative(const char *file, const char *folder)
{
	size_t n = folder ? strlen(folder) : 0;

	if (n > 0 && strncmp(file, folder, n) == 0 && file[n] == '/')
		file += n + 1;
	return strncmp(file, "./", 2) == 0 ? file + 2 : file;
}

static int collect_units(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr start,
			 void *arg)
{
	struct debuginfo *d = arg;
	Dwarf_Addr bias, base, low, high;
	Dwarf_Die *unit = NULL;

	(void)user;
	(void)name;
	(void)start;
	while ((unit = dwfl_module_nextcu(mod, unit, &bias)))
		for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0;)
			vec_push(&d->units,
				 (struct unit_range){ low + bias, high + bias, *unit, bias });
	return DWARF_CB_OK;
}

static int by_low(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static struct unit_range *find_unit(struct debuginfo *d, uint64_t pc)
{
	size_t low = 0, high;

	if (!d->units_collected) {
		d->units_collected = true;
		dwfl_getmodules(d->dwfl, collect_units, d, 0);
		vec_sort(&d->units, by_low);
	}
	high = d->units.len;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (d->units.data[mid].low <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 && pc < d->units.data[low - 1].high ? &d->units.data[low - 1] : NULL;
}

/* Without the variant of the function (NAME.plait.full ...), and as C++ spells it. */
static const char *function_name(struct debuginfo *d, const char *symbol)
{
	const char *variant = strstr(symbol, ".plait");
	char *plain = xstrndup(symbol, variant ? (size_t)(variant - symbol) : strlen(symbol));
	char *text = demangle(plain);
	const char *kept = arena_strdup(&d->arena, text);

	free(plain);
	free(text);
	return kept;
}

static bool is_system(const char *path)
{
	return strncmp(path, "/usr/", 5) == 0;
}

/* std::mutex::lock() inlined into main.cpp is a line of main.cpp to its author: from a line of the
 * system's headers, out to the first that is none. */
static void users_own(struct unit_range *u, uint64_t pc, const char **path, uint32_t *line)
{
	Dwarf_Die *scopes = NULL, *chain = NULL;
	int n = dwarf_getscopes(&u->unit, pc - u->bias, &scopes);

	n = n > 0 ? dwarf_getscopes_die(&scopes[0], &chain) : 0;
	for (int i = 0; i < n; i++) {
		const char *outer;
		unsigned number;

		if (dwarf_tag(&chain[i]) != DW_TAG_inlined_subroutine)
			continue;
		dwarf_call_place(&u->unit, &chain[i], &outer, &number);
		if (!outer || !number || is_system(outer))
			continue;
		*path = outer;
		*line = number;
		break;
	}
	free(scopes);
	free(chain);
}

bool debuginfo_line(struct debuginfo *d, uint64_t pc, const char **file, uint32_t *line,
		    uint32_t *column, const char **function)
{
	Dwfl_Module *mod = dwfl_addrmodule(d->dwfl, pc);
	const char *name = mod ? dwfl_module_addrname(mod, pc) : NULL;
	struct unit_range *u = mod ? find_unit(d, pc) : NULL;
	Dwarf_Line *l = u ? dwarf_getsrc_die(&u->unit, pc - u->bias) : NULL;
	int number = 0;

	*file = *function = "";
	*line = *column = 0;
	if (l) {
		const char *path = dwarf_linesrc(l, NULL, NULL), *innermost = path;
		Dwarf_Attribute attr;
		const char *folder = dwarf_formstring(dwarf_attr(&u->unit, DW_AT_comp_dir, &attr));

		if (dwarf_lineno(l, &number) == 0)
			*line = (uint32_t)number;
		if (path && is_system(path))
			users_own(u, pc, &path, line);
		if (path)
			*file = arena_strdup(&d->arena, relative(path, folder));
		if (path == innermost && dwarf_linecol(l, &number) == 0)
			*column = (uint32_t)number;
	}
	if (name)
		*function = function_name(d, name);
	return l || name;
}

/* ---- variables ---- */

static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

/* Through typedefs and qualifiers. */
static bool peel(Dwarf_Die *type)
{
	return dwarf_peel_type(type, type) == 0;
}

static void collect_die(struct debuginfo *d, Dwarf_Die *die, Dwarf_Addr bias)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t nops;
	Dwarf_Die type;
	Dwarf_Word size = 0;
	const char *name = dwarf_diename(die);

	if (!name || !dwarf_attr_integrate(die, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &nops) != 0 || nops != 1 ||
	    (ops[0].atom != DW_OP_addr && ops[0].atom != DW_OP_addrx) || !type_of(die, &type))
		return;
	if (ops[0].atom == DW_OP_addrx) {
		Dwarf_Attribute where;

		if (dwarf_getlocation_attr(&attr, &ops[0], &where) != 0 ||
		    dwarf_formaddr(&where, &ops[0].number) != 0)
			return;
	}
	peel(&type);
	dwarf_aggregate_size(&type, &size);
	vec_push(&d->variables, (struct variable){ .address = ops[0].number + bias,
						   .size = size ? size : 1,
						   .name = arena_strdup(&d->arena, name),
						   .type = type });
}

static void collect_children(struct debuginfo *d, Dwarf_Die *parent, Dwarf_Addr bias, int depth)
{
	Dwarf_Die die;

	if (depth > 64 || dwarf_child(parent, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			collect_die(d, &die, bias);
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
			collect_children(d, &die, bias, depth + 1);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int collect_module(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr start,
			  void *arg)
{
	Dwarf_Addr bias;
	Dwarf *dw = dwfl_module_getdwarf(mod, &bias);
	Dwarf_Die *cu = NULL;

	(void)user;
	(void)name;
	(void)start;
	while (dw && (cu = dwfl_module_nextcu(mod, cu, &bias)))
		collect_children(arg, cu, bias, 0);
	return DWARF_CB_OK;
}

static int by_address(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static const struct variable *find_variable(struct debuginfo *d, uint64_t address)
{
	size_t low = 0, high;

	if (!d->collected) {
		d->collected = true;
		dwfl_getmodules(d->dwfl, collect_module, d, 0);
		vec_sort(&d->variables, by_address);
	}
	high = d->variables.len;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (d->variables.data[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0 ||
	    address - d->variables.data[low - 1].address >= d->variables.data[low - 1].size)
		return NULL;
	return &d->variables.data[low - 1];
}

static const char *find_symbol(struct debuginfo *d, uint64_t address, uint64_t *base,
			       uint64_t *size)
{
	Dwfl_Module *mod = dwfl_addrmodule(d->dwfl, address);
	GElf_Off offset;
	GElf_Sym sym;
	const char *name;

	if (!mod)
		return NULL;
	name = dwfl_module_addrinfo(mod, address, &offset, &sym, NULL, NULL, NULL);
	if (!name || GELF_ST_TYPE(sym.st_info) != STT_OBJECT || offset >= sym.st_size)
		return NULL;
	*base = address - offset;
	*size = sym.st_size;
	return name;
}

bool debuginfo_global(struct debuginfo *d, uint64_t address, uint64_t *base, uint64_t *size)
{
	const struct variable *v = find_variable(d, address);

	if (!v)
		return find_symbol(d, address, base, size) != NULL;
	*base = v->address;
	*size = v->size;
	return true;
}

/* ---- the way into a variable ---- */

static bool member_at(Dwarf_Die *type, uint64_t *offset, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (dwarf_child(type, &die) != 0)
		return false;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word at = 0, size = 0;
		Dwarf_Die t;

		if (dwarf_tag(&die) != DW_TAG_member || !type_of(&die, &t))
			continue;
		if (dwarf_attr(&die, DW_AT_data_member_location, &attr))
			dwarf_formudata(&attr, &at);
		dwarf_aggregate_size(&t, &size);
		if (*offset >= at && *offset - at < size) {
			*offset -= at;
			*ret = die;
			return true;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static void add_path(Dwarf_Die type, uint64_t offset, struct strbuf *out)
{
	for (int depth = 0; depth < 32; depth++) {
		Dwarf_Die member, element;
		Dwarf_Word size = 0;

		if (!peel(&type))
			break;
		switch (dwarf_tag(&type)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			if (!member_at(&type, &offset, &member))
				goto out;
			if (dwarf_diename(&member))
				strbuf_addf(out, ".%s", dwarf_diename(&member));
			type_of(&member, &type);
			continue;
		case DW_TAG_array_type:
			if (!type_of(&type, &element))
				goto out;
			dwarf_aggregate_size(&element, &size);
			if (!size)
				goto out;
			strbuf_addf(out, "[%llu]", (unsigned long long)(offset / size));
			offset %= size;
			type = element;
			continue;
		}
		break;
	}
out:
	if (offset)
		strbuf_addf(out, "+%llu", (unsigned long long)offset);
}

bool debuginfo_global_name(struct debuginfo *d, uint64_t address, struct strbuf *out)
{
	const struct variable *v = find_variable(d, address);
	uint64_t base, size;
	const char *name;

	if (v) {
		strbuf_adds(out, v->name);
		add_path(v->type, address - v->address, out);
		return true;
	}
	name = find_symbol(d, address, &base, &size);
	if (!name)
		return false;
	strbuf_adds(out, name);
	if (address != base)
		strbuf_addf(out, "+%llu", (unsigned long long)(address - base));
	return true;
}
