/* rewind/names.c - see names.h. */
#include "rewind/names.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "debug/dump.h"
#include "debug/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct module *module_of(struct dump_names *n, uint64_t address, uint64_t *offset)
{
	const struct dump_module *m = dump_module_at(n->dump, address);
	struct module *ret = NULL;
	struct err *err;

	if (!m)
		return NULL;
	err = modules_get(n->modules, m->path, m->build_id, &ret);
	if (err) {
		err_free(err);
		return NULL;
	}
	*offset = address - m->bias;
	return ret;
}

void dump_names_frames(struct dump_names *n, uint64_t pc, struct source_frames *ret)
{
	uint64_t offset;
	struct module *m = module_of(n, pc, &offset);

	if (m)
		module_frames(m, offset, ret);
}

void dump_names_add_place(struct dump_names *n, uint64_t pc, struct strbuf *out)
{
	const struct dump_module *m = dump_module_at(n->dump, pc);
	struct source_frames frames = { 0 };
	const struct source_frame *f;

	dump_names_frames(n, pc, &frames);
	f = source_frames_own(&frames);
	if (f && f->file) {
		strbuf_add_printable(out, f->file, "");
		strbuf_addf(out, ":%u", f->line);
	}
	if (f && f->function) {
		strbuf_adds(out, f->file ? " in " : "");
		strbuf_add_printable(out, f->function, "");
	}
	if (!f && m) {
		const char *slash = strrchr(m->path, '/');

		strbuf_add_printable(out, slash ? slash + 1 : m->path, "");
		strbuf_addf(out, "+0x%" PRIx64, pc - m->bias);
	} else if (!f) {
		strbuf_addf(out, "0x%" PRIx64, pc);
	}
	vec_deinit(&frames);
}

bool dump_names_global(struct dump_names *n, uint64_t address, uint64_t *base, uint64_t *size)
{
	uint64_t offset;
	struct module *m = module_of(n, address, &offset);

	if (!m || !module_global(m, offset, base, size))
		return false;
	*base += address - offset;
	return true;
}

void dump_names_add_object(struct dump_names *n, uint64_t address, struct strbuf *out)
{
	uint64_t offset, sp;
	struct module *m = module_of(n, address, &offset);
	struct heap_chunk chunk;

	if (m && module_global_name(m, offset, out))
		return;
	if (heap_chunk_at(n->dump, address, &chunk)) {
		strbuf_addf(out, "%sheap block of %" PRIu64 " bytes",
			    chunk.state == HEAP_FREE ? "freed " : "", chunk.size);
		if (address != chunk.start)
			strbuf_addf(out, "+%" PRId64, (int64_t)(address - chunk.start));
		return;
	}
	for (size_t i = 0; i < n->dump->threads.len; i++) {
		sp = n->dump->threads.data[i].registers.rsp;
		if (address + 65536 >= sp && address < sp + (8u << 20)) {
			strbuf_addf(out, "stack %c 0x%" PRIx64, address >= sp ? '+' : '-',
				    address >= sp ? address - sp : sp - address);
			return;
		}
	}
	strbuf_addf(out, "0x%" PRIx64, address);
}
