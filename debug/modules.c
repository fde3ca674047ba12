/* debug/modules.c - open modules, and read how to unwind their frames.
 *
 * Each module has a Dwfl of its own: modules of different machines and times can then be mixed. */
#include "debug/module.h"

#include "base/demangle.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "debug/binary.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct modules {
	struct arena arena;
	struct names paths; /* "path\nbuild-id" -> index into modules */
	VEC(struct module *) modules;
};

static char *debuginfo_path; /* elfutils' default: /usr/lib/debug and friends */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debuginfo_path,
};

struct modules *modules_new(void)
{
	return xcalloc(1, sizeof(struct modules));
}

static void close_module(struct module *m)
{
	if (m->dwfl)
		dwfl_end(m->dwfl);
	vec_deinit(&m->units);
	vec_deinit(&m->functions);
	vec_deinit(&m->variables);
	free(m->problem);
	free(m);
}

void modules_free(struct modules *ms)
{
	if (!ms)
		return;
	for (size_t i = 0; i < ms->modules.len; i++)
		close_module(ms->modules.data[i]);
	vec_deinit(&ms->modules);
	names_deinit(&ms->paths);
	arena_deinit(&ms->arena);
	free(ms);
}

static bool same_build(Dwfl_Module *mod, const char *build_id)
{
	const unsigned char *bits;
	GElf_Addr where;
	int len = dwfl_module_build_id(mod, &bits, &where);
	char hex[BUILD_ID_CHARS];

	if (len <= 0)
		return true; /* nothing to compare with */
	build_id_hex(bits, (size_t)len, hex);
	return strncmp(build_id, hex, strlen(hex)) == 0;
}

static void open_module(struct module *m, const char *path, const char *build_id)
{
	struct err *err;
	int fd;

	err = binary_open_file(path, &fd);
	if (err) {
		m->problem = xstrdup(err_message(err));
		err_free(err);
		return;
	}
	m->dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin(m->dwfl);
	m->mod = dwfl_report_offline(m->dwfl, path, path, fd); /* the module adopts fd */
	dwfl_report_end(m->dwfl, NULL, NULL);
	if (!m->mod || !dwfl_module_getelf(m->mod, &m->bias))
		m->problem = xasprintf("%s: %s", path, dwfl_errmsg(-1));
	else if (build_id && *build_id && !same_build(m->mod, build_id))
		m->problem = xasprintf("%s is not the build that ran (its build-id is not %s)",
				       path, build_id);
}

struct err *modules_get(struct modules *ms, const char *path, const char *build_id,
			struct module **ret)
{
	_cleanup_(xfreep) char *key = xasprintf("%s\n%s", path, build_id ? build_id : "");
	uint32_t id = names_intern(&ms->paths, key);

	if (id == ms->modules.len) {
		struct module *m = xcalloc(1, sizeof(*m));

		m->arena = &ms->arena;
		open_module(m, path, build_id);
		vec_push(&ms->modules, m);
	}
	*ret = ms->modules.data[id];
	if ((*ret)->problem)
		return err_new(ERR_ENV, "%s", (*ret)->problem);
	return NULL;
}

const char *module_demangled(struct module *m, const char *symbol)
{
	const char *variant, *kept;
	char *plain, *text;

	if (!symbol)
		return NULL;
	variant = strstr(symbol, ".plait");
	plain = xstrndup(symbol, variant ? (size_t)(variant - symbol) : strlen(symbol));
	text = demangle(plain);
	kept = arena_strdup(m->arena, text);
	free(plain);
	free(text);
	return kept;
}

/* ---- unwinding ---- */

enum { REGISTER_BP = 6, REGISTER_SP = 7 }; /* DWARF's numbers on x86-64 */

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
	ret->from_bp = reg == REGISTER_BP;
	return reg == REGISTER_BP || reg == REGISTER_SP;
}

/* Where the caller's register is saved, relative to the cfa; 0 = it is unchanged. */
static bool saved_at(Dwarf_Frame *frame, int reg, int64_t *ret)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	*ret = 0;
	if (dwarf_frame_register(frame, reg, mem, &ops, &n) != 0)
		return false;
	if (n == 0)
		return true;
	if (n != 2 || ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_plus_uconst)
		return false;
	*ret = (int64_t)ops[1].number;
	return true;
}

static bool all_saved_at(Dwarf_Frame *frame, struct frame_rule *ret)
{
	static const int kept[] = { 3, REGISTER_BP, 12, 13, 14, 15 };

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (!saved_at(frame, kept[i], &ret->saved_at[kept[i]]) && kept[i] == REGISTER_BP)
			return false;
	ret->bp_at = ret->saved_at[REGISTER_BP];
	return true;
}

bool module_frame_rule(struct module *m, uint64_t offset, struct frame_rule *ret)
{
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(m->mod, &bias);
	Dwarf_Frame *frame = NULL;
	bool good;

	if (!cfi || dwarf_cfi_addrframe(cfi, offset + m->bias - bias, &frame) != 0)
		return false;
	*ret = (struct frame_rule){ 0 };
	good = cfa_of(frame, ret) && all_saved_at(frame, ret);
	free(frame);
	return good;
}
