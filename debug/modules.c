/* debug/modules.c - see modules.h.
 *
 * One Dwfl per module: modules of different machines and times can then be mixed, and each lies at
 * the address elfutils likes best (`bias` away from the file's own addresses).
 *
 * Inlined frames: the innermost scope that contains the address is found first; its chain of real
 * parents then passes through every inlined_subroutine up to the function. Each of them says where
 * it was called from, which is the line of the next frame. */
#include "debug/modules.h"

#include "base/demangle.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "debug/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct module {
	Dwfl *dwfl;
	Dwfl_Module *mod;
	GElf_Addr bias;
	char *problem; /* why it cannot be used; NULL = it can */
};

struct symbols {
	struct arena arena;
	struct names paths; /* "path\nbuild-id" -> index into modules */
	VEC(struct module) modules;
};

static char *debuginfo_path; /* elfutils' default: /usr/lib/debug and friends */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debuginfo_path,
};

struct symbols *symbols_new(void)
{
	return xcalloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->modules.len; i++) {
		if (s->modules.data[i].dwfl)
			dwfl_end(s->modules.data[i].dwfl);
		free(s->modules.data[i].problem);
	}
	vec_deinit(&s->modules);
	names_deinit(&s->paths);
	arena_deinit(&s->arena);
	free(s);
}

/* ---- modules ---- */

static bool same_build(Dwfl_Module *mod, const char *build_id)
{
	const unsigned char *bits;
	GElf_Addr where;
	int len = dwfl_module_build_id(mod, &bits, &where);

	if (len <= 0)
		return true; /* nothing to compare with */
	for (int i = 0; i < len; i++) {
		char hex[3];

		snprintf(hex, sizeof(hex), "%02x", bits[i]);
		if (strncmp(build_id + 2 * i, hex, 2) != 0)
			return false;
	}
	return true;
}

static void open_module(struct module *m, const char *path, const char *build_id)
{
	if (access(path, R_OK) != 0) {
		m->problem = xasprintf("cannot read %s", path);
		return;
	}
	m->dwfl = dwfl_begin(&callbacks);
	if (!m->dwfl) {
		m->problem = xasprintf("elfutils: %s", dwfl_errmsg(-1));
		return;
	}
	dwfl_report_begin(m->dwfl);
	m->mod = dwfl_report_offline(m->dwfl, path, path, -1);
	dwfl_report_end(m->dwfl, NULL, NULL);
	if (!m->mod || !dwfl_module_getelf(m->mod, &m->bias)) {
		m->problem = xasprintf("%s: %s", path, dwfl_errmsg(-1));
		return;
	}
	if (build_id && *build_id && !same_build(m->mod, build_id))
		m->problem = xasprintf("%s is not the build that ran (its build-id is not %s)",
				       path, build_id);
}

static struct err *get_module(struct symbols *s, const char *path, const char *build_id,
			      struct module **ret)
{
	_cleanup_(xfreep) char *key = xasprintf("%s\n%s", path, build_id ? build_id : "");
	uint32_t id = names_intern(&s->paths, key);

	if (id == s->modules.len) {
		struct module *m = vec_add(&s->modules);

		open_module(m, path, build_id);
	}
	*ret = &s->modules.data[id];
	if ((*ret)->problem)
		return err_new(ERR_ENV, "%s", (*ret)->problem);
	return NULL;
}

/* ---- names ---- */

static const char *demangled(struct symbols *s, const char *name)
{
	char *text;
	const char *kept;

	if (!name)
		return NULL;
	text = demangle(name);
	kept = arena_strdup(&s->arena, text);
	free(text);
	return kept;
}

static const char *function_name(struct symbols *s, Dwarf_Die *die)
{
	static const unsigned kinds[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	Dwarf_Attribute attr;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (dwarf_attr_integrate(die, kinds[i], &attr) && dwarf_formstring(&attr))
			return demangled(s, dwarf_formstring(&attr));
	return demangled(s, dwarf_diename(die));
}

static const char *relative_file(struct symbols *s, const char *file, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;

	if (!file)
		return NULL;
	while (n && dir[n - 1] == '/')
		n--;
	if (n && strncmp(file, dir, n) == 0 && file[n] == '/')
		file += n + 1;
	while (strncmp(file, "./", 2) == 0)
		file += 2;
	return arena_strdup(&s->arena, file);
}

/* ---- frames ---- */

struct place {
	const char *file;
	unsigned line;
};

/* The compilation unit of an address. clang writes no .debug_aranges, so elfutils' own table may be
 * empty: then every unit is asked. */
static Dwarf_Die *find_unit(struct module *m, GElf_Addr addr, Dwarf_Addr *bias)
{
	Dwarf_Die *cu = dwfl_module_addrdie(m->mod, addr, bias);

	if (cu)
		return cu;
	while ((cu = dwfl_module_nextcu(m->mod, cu, bias)))
		if (dwarf_haspc(cu, addr - *bias) == 1)
			return cu;
	return NULL;
}

static const char *unit_dir(Dwarf_Die *cu)
{
	Dwarf_Attribute attr;

	return dwarf_attr(cu, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
}

static struct place place_of(struct symbols *s, Dwarf_Die *cu, Dwarf_Addr addr)
{
	Dwarf_Line *line = cu ? dwarf_getsrc_die(cu, addr) : NULL;
	struct place p = { 0 };
	int number = 0;

	if (line && dwarf_lineno(line, &number) == 0) {
		p.line = (unsigned)number;
		p.file = relative_file(s, dwarf_linesrc(line, NULL, NULL), unit_dir(cu));
	}
	return p;
}

static struct place call_place(struct symbols *s, Dwarf_Die *cu, Dwarf_Die *inlined)
{
	const char *path;
	struct place p;

	dwarf_call_place(cu, inlined, &path, &p.line);
	p.file = relative_file(s, path, unit_dir(cu));
	return p;
}

static void add_frame(struct symbol_frames *ret, const char *function, struct place place,
		      bool inlined)
{
	vec_push(ret, (struct symbol_frame){ function, place.file, place.line, inlined });
}

/* True when debug info knew the function. addr is the debug info's own. */
static bool frames_from_dwarf(struct symbols *s, Dwarf_Die *cu, Dwarf_Addr addr, struct place place,
			      struct symbol_frames *ret)
{
	Dwarf_Die *inner = NULL, *chain = NULL;
	bool found = false;
	int n;

	if (!cu || dwarf_getscopes(cu, addr, &inner) <= 0)
		return false;
	n = dwarf_getscopes_die(&inner[0], &chain);
	for (int i = 0; i < n && !found; i++) {
		int tag = dwarf_tag(&chain[i]);

		if (tag == DW_TAG_inlined_subroutine) {
			add_frame(ret, function_name(s, &chain[i]), place, true);
			place = call_place(s, cu, &chain[i]);
		} else if (tag == DW_TAG_subprogram) {
			add_frame(ret, function_name(s, &chain[i]), place, false);
			found = true;
		}
	}
	free(inner);
	free(chain);
	return found;
}

struct err *symbols_lookup(struct symbols *s, const char *path, const char *build_id,
			   uint64_t offset, struct symbol_frames *ret)
{
	struct module *m;
	struct err *err = get_module(s, path, build_id, &m);
	struct place place;
	GElf_Addr addr;
	Dwarf_Addr bias = 0;
	Dwarf_Die *cu;
	const char *name;

	if (err)
		return err;
	addr = offset + m->bias;
	cu = find_unit(m, addr, &bias);
	place = place_of(s, cu, addr - bias);
	if (frames_from_dwarf(s, cu, addr - bias, place, ret))
		return NULL;
	name = dwfl_module_addrname(m->mod, addr);
	if (name || place.file)
		add_frame(ret, demangled(s, name), place, false);
	return NULL;
}

/* ---- variables ---- */

static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

/* A type somebody would call the lock: do not look inside. */
static bool is_whole(const char *name)
{
	static const char *const words[] = { "pthread_", "mutex", "mtx_t", "cnd_t", "sem_t" };

	for (size_t i = 0; name && i < ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

static bool step_into_array(struct strbuf *out, Dwarf_Die *type, Dwarf_Word *off)
{
	Dwarf_Die elem;
	Dwarf_Word size;

	if (!type_of(type, &elem) || dwarf_aggregate_size(&elem, &size) != 0 || size == 0)
		return false;
	strbuf_addf(out, "[%llu]", (unsigned long long)(*off / size));
	*off %= size;
	*type = elem;
	return true;
}

static bool step_into_struct(struct strbuf *out, Dwarf_Die *type, Dwarf_Word *off)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word at = 0, size;
		Dwarf_Die member;
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    !type_of(&child, &member))
			continue;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attr))
			dwarf_formudata(&attr, &at);
		else if (dwarf_attr(&child, DW_AT_external, &attr))
			continue; /* a static member */
		if (dwarf_aggregate_size(&member, &size) != 0 || *off < at || *off >= at + size)
			continue;
		if (tag == DW_TAG_member && dwarf_diename(&child))
			strbuf_addf(out, ".%s", dwarf_diename(&child));
		*off -= at;
		*type = member;
		return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static void describe(struct strbuf *out, Dwarf_Die type, Dwarf_Word off)
{
	for (unsigned steps = 0; steps < 32; steps++) {
		int tag = dwarf_tag(&type);
		Dwarf_Die next;

		if (off == 0 && is_whole(dwarf_diename(&type)))
			return;
		if (tag == DW_TAG_typedef || tag == DW_TAG_const_type ||
		    tag == DW_TAG_volatile_type || tag == DW_TAG_atomic_type) {
			if (!type_of(&type, &next))
				break;
			type = next;
		} else if (tag == DW_TAG_array_type) {
			if (!step_into_array(out, &type, &off))
				break;
		} else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
			   tag == DW_TAG_union_type) {
			if (!step_into_struct(out, &type, &off))
				break;
		} else {
			break;
		}
	}
	if (off)
		strbuf_addf(out, "+%llu", (unsigned long long)off);
}

/* The address of a variable with static storage; false for any other. */
static bool static_address(Dwarf_Die *die, Dwarf_Addr *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(die, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_addr) {
		*ret = ops[0].number;
		return true;
	}
	if (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) {
		Dwarf_Attribute address;

		if (dwarf_getlocation_attr(&attr, &ops[0], &address) == 0)
			return dwarf_formaddr(&address, ret) == 0;
	}
	return false;
}

/* Variables with static storage among the children of die, in namespaces and functions too. */
static bool find_variable(Dwarf_Die *die, Dwarf_Addr addr, struct strbuf *out)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);
		Dwarf_Die type;
		Dwarf_Addr at;
		Dwarf_Word size;

		if (tag == DW_TAG_namespace || tag == DW_TAG_subprogram ||
		    tag == DW_TAG_lexical_block) {
			if (find_variable(&child, addr, out))
				return true;
			continue;
		}
		if (tag != DW_TAG_variable || !static_address(&child, &at) || addr < at)
			continue;
		if (!type_of(&child, &type) || dwarf_aggregate_size(&type, &size) != 0 ||
		    addr >= at + size)
			continue;
		if (dwarf_diename(&child)) {
			strbuf_adds(out, dwarf_diename(&child));
			describe(out, type, addr - at);
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

struct err *symbols_variable(struct symbols *s, const char *path, const char *build_id,
			     uint64_t offset, const char **ret)
{
	struct module *m;
	struct err *err = get_module(s, path, build_id, &m);
	struct strbuf out = { 0 };
	Dwarf_Die *cu = NULL;
	Dwarf_Addr bias;
	GElf_Off rest;
	GElf_Sym sym;
	const char *name;

	*ret = NULL;
	if (err)
		return err;
	while ((cu = dwfl_module_nextcu(m->mod, cu, &bias)) && !*ret)
		if (find_variable(cu, offset + m->bias - bias, &out))
			*ret = arena_strdup(&s->arena, strbuf_str(&out));
	strbuf_deinit(&out);
	if (*ret)
		return NULL;
	name = dwfl_module_addrinfo(m->mod, offset + m->bias, &rest, &sym, NULL, NULL, NULL);
	if (name && GELF_ST_TYPE(sym.st_info) == STT_OBJECT && rest < sym.st_size) {
		name = demangled(s, name);
		*ret = rest ? arena_printf(&s->arena, "%s+%llu", name, (unsigned long long)rest)
			    : name;
	}
	return NULL;
}

/* ---- frames ---- */

static bool cfa_of(Dwarf_Frame *frame, struct frame_rule *ret)
{
	Dwarf_Op *ops;
	size_t n;
	uint64_t reg;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		reg = ops[0].number;
		ret->cfa_off = (int64_t)ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		reg = ops[0].atom - DW_OP_breg0;
		ret->cfa_off = (int64_t)ops[0].number;
	} else {
		return false;
	}
	ret->from_bp = reg == 6;
	return reg == 6 || reg == 7;
}

static bool bp_of(Dwarf_Frame *frame, struct frame_rule *ret)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	ret->bp_at = 0;
	if (dwarf_frame_register(frame, 6, mem, &ops, &n) != 0)
		return false;
	if (n == 0)
		return true;
	if (n != 2 || ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_plus_uconst)
		return false;
	ret->bp_at = (int64_t)ops[1].number;
	return true;
}

bool symbols_frame_rule(struct symbols *s, const char *path, const char *build_id, uint64_t offset,
			struct frame_rule *ret)
{
	struct module *m;
	struct err *err = get_module(s, path, build_id, &m);
	Dwarf_CFI *cfi;
	Dwarf_Addr bias;
	Dwarf_Frame *frame = NULL;
	bool good;

	err_free(err);
	if (err)
		return false;
	cfi = dwfl_module_eh_cfi(m->mod, &bias);
	if (!cfi || dwarf_cfi_addrframe(cfi, offset + m->bias - bias, &frame) != 0)
		return false;
	good = cfa_of(frame, ret) && bp_of(frame, ret);
	free(frame);
	return good;
}
