#include "cc/instrument/sites.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cc/program.h"
#include "unplait/hooks.h"

#include <string.h>

struct err *sites_write(struct program *p, const char *path)
{
	struct plait_sites_header *h = &p->counts;
	VEC(uint32_t) offsets = { 0 };
	struct strbuf strings = { 0 }, out = { 0 };
	struct err *err;

	memcpy(h->magic, PLAIT_SITES_MAGIC, sizeof(h->magic));
	h->version = PLAIT_SITES_VERSION;
	h->nsites = (uint32_t)p->sites.len;
	h->nelements = (uint32_t)p->elements.len;
	for (size_t i = 0; i < p->strings.len; i++) {
		vec_push(&offsets, (uint32_t)strings.len);
		strbuf_add(&strings, p->strings.text[i], strlen(p->strings.text[i]) + 1);
	}
	h->nstrings_bytes = (uint32_t)strings.len;
	strbuf_add(&out, h, sizeof(*h));
	for (size_t i = 0; i < p->sites.len; i++) {
		struct plait_site s = p->sites.data[i];

		s.file = offsets.data[s.file];
		s.function = offsets.data[s.function];
		s.object = offsets.data[s.object];
		s.inlined_at_file = offsets.data[s.inlined_at_file];
		strbuf_add(&out, &s, sizeof(s));
	}
	for (size_t i = 0; i < p->elements.len; i++) {
		struct plait_element e = p->elements.data[i];

		e.name = offsets.data[e.name];
		strbuf_add(&out, &e, sizeof(e));
	}
	strbuf_add(&out, strings.data, strings.len);
	err = file_write(path, out.data, out.len);
	vec_deinit(&offsets);
	strbuf_deinit(&strings);
	strbuf_deinit(&out);
	return err;
}

struct err *sites_write_elements(struct program *p, const char *path)
{
	VEC(uint32_t) of = { 0 };
	struct err *err;

	vec_reserve(&of, p->sites.len + 1);
	for (size_t i = 0; i < p->sites.len; i++)
		vec_push(&of, p->sites.data[i].element);
	err = file_write(path, of.data, of.len * sizeof(uint32_t));
	vec_deinit(&of);
	return err;
}

static void add_section(struct strbuf *sb, const char *section, const char *dir, const char *file)
{
	strbuf_addf(sb, "\t.section %s,\"\",@progbits\n\t.incbin \"%s/%s\"\n", section, dir, file);
}

struct err *sites_write_assembly(struct program *p, const char *dir, const char *output,
				 const char *bases, bool has_source, const char *path)
{
	const char *slash = strrchr(output, '/');
	struct strbuf sb = { 0 };
	struct err *err;

	add_section(&sb, PLAIT_SECTION_SITES, dir, "sites.bin");
	add_section(&sb, PLAIT_SECTION_BITCODE, dir, "bitcode.zst");
	add_section(&sb, PLAIT_SECTION_BUILD, dir, "build.txt");
	if (has_source)
		add_section(&sb, PLAIT_SECTION_SOURCE, dir, "source.zst");
	strbuf_addf(&sb,
		    "\t.section .rodata.plait,\"a\",@progbits\n"
		    "\t.p2align 3\n"
		    "elements:\n"
		    "\t.incbin \"%s/elements.bin\"\n"
		    "name:\n"
		    "\t.asciz \"",
		    dir);
	for (const char *c = slash ? slash + 1 : output; *c; c++)
		strbuf_addf(&sb, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	strbuf_addf(&sb,
		    "\"\n"
		    "\t.p2align 2\n"
		    "%s"
		    "\t.bss\n"
		    "\t.hidden plait_module_base\n"
		    "\t.globl plait_module_base\n"
		    "\t.p2align 2\n"
		    "plait_module_base:\n"
		    "\t.zero 4\n"
		    "\t.section plait_order,\"a\",@progbits\n" /* so that there is one */
		    "\t.long 0, 0, 0, %d\n"
		    "\t.hidden __start_plait_order\n"
		    "\t.hidden __stop_plait_order\n"
		    "\t.section .data.rel.ro.plait,\"aw\",@progbits\n"
		    "\t.p2align 3\n"
		    "module:\n"
		    "\t.long %d, %d, %u, %u\n"
		    "\t.quad plait_module_base, module, name, elements\n"
		    "\t.quad __start_plait_order, __stop_plait_order\n"
		    "\t.text\n"
		    "register:\n"
		    "\tleaq module(%%rip), %%rdi\n"
		    "\tjmp plait_register_module@PLT\n",
		    bases, p->no_places ? PLAIT_PLACE_NONE : PLAIT_PLACE_ENTER,
		    PLAIT_MODULE_VERSION, p->library, p->counts.nsites, p->counts.nelements);
	/* an executable registers before every constructor, of its libraries too */
	strbuf_addf(&sb, "\t.section %s\n\t.p2align 3\n\t.quad register\n",
		    p->library ? ".init_array.00000,\"aw\",@init_array"
			       : ".preinit_array,\"aw\",@preinit_array");
	strbuf_adds(&sb, "\t.section .note.GNU-stack,\"\",@progbits\n");
	err = file_write(path, sb.data, sb.len);
	strbuf_deinit(&sb);
	return err;
}
