/* debug/symbols.c - the names of a trace: sites by the tables of its binaries, program counters and
 * globals by debug information, heap blocks by who allocated them where and as which.
 *
 * Blocks are collected on first use from the ALLOC and FREE events, all threads merged by clock.
 * An address can belong to many blocks over time; they are kept in order of address and looked
 * through from the right end, as far back as the largest block reaches. */
#include "debug/names.h"

#include "base/err.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "debug/modules.h"

#include <string.h>

struct block {
	uint64_t address, size, from, until; /* clocks: alive in [from, until] */
	uint32_t thread, site, sequence;
};

struct symbols {
	struct trace *trace;
	struct sites **sites; /* per module, NULL = none */
	struct modules *modules;
	struct module **module; /* per module of the trace; NULL = not asked yet, or unreadable */
	bool *asked;
	struct map lines; /* pc -> index into points */
	VEC(struct code_point) points;
	VEC(struct block) blocks; /* by address, then by time */
	uint64_t largest_block;
	bool collected;
};

static struct err *open_sites(struct symbols *s, size_t i)
{
	const struct trace_module *m = &trace_meta(s->trace)->modules[i];
	struct err *err = sites_open(m->path, &s->sites[i]);

	if (err)
		return err_wrap(err, "cannot name the sites of %s", trace_path(s->trace));
	if (m->build_id[0] && strcmp(m->build_id, s->sites[i]->build_id) != 0)
		return err_new(
			ERR_ENV,
			"%s was recorded with another build of %s (build-id %.12s..., the file "
			"now has %.12s...)",
			trace_path(s->trace), m->path, m->build_id,
			s->sites[i]->build_id[0] ? s->sites[i]->build_id : "none");
	return NULL;
}

struct err *symbols_open(struct trace *t, struct symbols **ret)
{
	const struct trace_meta *m = trace_meta(t);
	struct symbols *s = xcalloc(1, sizeof(*s));
	struct err *err = NULL;

	s->trace = t;
	s->sites = xcalloc(m->nmodules + 1, sizeof(*s->sites));
	s->module = xcalloc(m->nmodules + 1, sizeof(*s->module));
	s->asked = xcalloc(m->nmodules + 1, sizeof(*s->asked));
	s->modules = modules_new();
	for (size_t i = 0; i < m->nmodules && !err; i++)
		if (m->modules[i].nsites)
			err = open_sites(s, i);
	if (err) {
		symbols_close(s);
		return err;
	}
	*ret = s;
	return NULL;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < trace_meta(s->trace)->nmodules; i++)
		sites_close(s->sites[i]);
	free(s->sites);
	free(s->module);
	free(s->asked);
	modules_free(s->modules);
	map_deinit(&s->lines);
	vec_deinit(&s->points);
	vec_deinit(&s->blocks);
	free(s);
}

const struct sites *symbols_sites(struct symbols *s, uint32_t site, uint32_t *ret_local)
{
	const struct trace_meta *m = trace_meta(s->trace);

	for (size_t i = 0; i < m->nmodules; i++)
		if (s->sites[i] && site >= m->modules[i].first_site &&
		    site - m->modules[i].first_site < s->sites[i]->header.nsites) {
			*ret_local = site - m->modules[i].first_site;
			return s->sites[i];
		}
	return NULL;
}

bool symbols_in_program(const struct symbols *s, uint64_t pc)
{
	const struct trace_meta *m = trace_meta(s->trace);

	return m->nmodules && pc >= m->modules[0].low && pc < m->modules[0].high;
}

/* The module that an address of the run lies in, and where in it; NULL when it is in none that can
 * be read now. */
static struct module *module_at(struct symbols *s, uint64_t address, uint64_t *offset)
{
	const struct trace_meta *m = trace_meta(s->trace);

	for (size_t i = 0; i < m->nmodules; i++) {
		const struct trace_module *at = &m->modules[i];

		if (address < at->low || address >= at->high || !at->path || at->path[0] != '/')
			continue;
		if (!s->asked[i]) {
			struct err *err =
				modules_get(s->modules, at->path, at->build_id, &s->module[i]);

			s->asked[i] = true;
			if (err) {
				log_debug(1, "%s; its addresses have no names", err_message(err));
				s->module[i] = NULL;
			}
			err_free(err);
		}
		*offset = address - at->load_address;
		return s->module[i];
	}
	return NULL;
}

static struct code_point point_of(const struct source_frame *f)
{
	return (struct code_point){ .file = f && f->file ? f->file : "",
				    .line = f ? f->line : 0,
				    .column = f ? f->column : 0,
				    .function = f && f->function ? f->function : "",
				    .object = "" };
}

static void frames_at(struct symbols *s, uint64_t pc, struct source_frames *ret)
{
	uint64_t offset;
	struct module *m = module_at(s, pc, &offset);

	if (m)
		module_frames(m, offset, ret);
}

static void name_pc(struct symbols *s, uint64_t pc, struct code_point *ret)
{
	struct source_frames frames = { 0 };

	frames_at(s, pc, &frames);
	*ret = point_of(source_frames_own(&frames));
	vec_deinit(&frames);
}

size_t symbols_frames(struct symbols *s, uint64_t pc, struct code_point *ret, size_t max)
{
	struct source_frames frames = { 0 };
	size_t n;

	frames_at(s, pc, &frames);
	n = MIN(frames.len, max);
	for (size_t i = 0; i < n; i++)
		ret[i] = point_of(&frames.data[i]);
	vec_deinit(&frames);
	return n;
}

bool symbols_pc(struct symbols *s, uint64_t pc, struct code_point *ret)
{
	uint64_t *known = map_find(&s->lines, pc);

	if (known) {
		*ret = s->points.data[*known];
	} else {
		name_pc(s, pc, ret);
		map_put(&s->lines, pc, s->points.len);
		vec_push(&s->points, *ret);
	}
	return ret->file[0] || ret->function[0];
}

bool symbols_site(struct symbols *s, uint32_t site, struct code_point *ret)
{
	uint32_t local;
	const struct sites *table;
	const struct plait_site *at;

	*ret = (struct code_point){ .file = "", .function = "", .object = "" };
	if (site >= PLAIT_PC_SITE_FIRST) {
		uint64_t pc = trace_pc_of_site(s->trace, site);

		return pc && symbols_pc(s, pc - 1, ret); /* it is a return address */
	}
	table = symbols_sites(s, site, &local);
	if (!table)
		return false;
	at = &table->sites[local];
	*ret = (struct code_point){ .file = sites_string(table, at->file),
				    .line = at->line,
				    .column = at->column,
				    .function = sites_string(table, at->function),
				    .object = sites_string(table, at->object),
				    .site = at,
				    .sites = table };
	return true;
}

/* ---- blocks ---- */

static void note_alloc(struct symbols *s, struct map *live, struct map *sequences,
		       const struct event *ev)
{
	uint64_t *sequence =
		map_put(sequences, hash_u64(((uint64_t)ev->thread << 32) | ev->site), 0);

	*map_put(live, ev->address, 0) = s->blocks.len + 1;
	vec_push(&s->blocks, (struct block){ .address = ev->address,
					     .size = ev->n,
					     .from = ev->clock,
					     .until = UINT64_MAX,
					     .thread = ev->thread,
					     .site = ev->site,
					     .sequence = (uint32_t)++*sequence });
	if (ev->n > s->largest_block)
		s->largest_block = ev->n;
}

static void note_free(struct symbols *s, struct map *live, const struct event *ev)
{
	uint64_t *slot = map_find(live, ev->address);

	if (!slot || !*slot)
		return;
	s->blocks.data[*slot - 1].until = ev->clock;
	*slot = 0;
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static struct err *collect(struct symbols *s)
{
	struct map live = { 0 }, sequences = { 0 };
	_cleanup_(cursor_deinit) struct cursor c;
	const struct event *ev;
	struct err *err;

	s->collected = true;
	cursor_init(&c, s->trace, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		if (ev->kind == PLAIT_EV_ALLOC)
			note_alloc(s, &live, &sequences, ev);
		else if (ev->kind == PLAIT_EV_FREE)
			note_free(s, &live, ev);
	}
	map_deinit(&live);
	map_deinit(&sequences);
	vec_sort(&s->blocks, by_address);
	return err;
}

/* The block that is alive then; else the youngest that was (a use after free). */
static const struct block *find_block(const struct symbols *s, uint64_t address, uint64_t clock)
{
	const struct block *best = NULL;
	size_t low = vec_upper(&s->blocks, address, address);

	while (low-- > 0) {
		const struct block *b = &s->blocks.data[low];

		if (address - b->address > s->largest_block)
			break;
		if (address - b->address >= b->size || b->from > clock)
			continue;
		if (clock <= b->until)
			return b;
		if (!best || b->from > best->from)
			best = b;
	}
	return best;
}

enum place_kind { PLACE_UNKNOWN, PLACE_GLOBAL, PLACE_HEAP, PLACE_STACK };

/* A run-independent name of an address at a moment. */
struct place {
	enum place_kind kind;
	uint64_t base, size; /* the object; a stack's base is its upper end */
	uint64_t offset;     /* into it; a stack: distance below its upper end */
	uint32_t thread;     /* heap: which allocated it; stack: whose it is */
	uint32_t site;	     /* heap: where it was allocated ... */
	uint32_t sequence;   /* ... its number among the blocks of that thread and site, from 1 */
};

/* clock: that of the event that uses the address. */
static struct err *find_place(struct symbols *s, uint64_t address, uint64_t clock,
			      struct place *ret)
{
	const struct trace_meta *m = trace_meta(s->trace);
	const struct block *b;
	struct module *module;
	uint64_t offset;
	struct err *err = s->collected ? NULL : collect(s);

	*ret = (struct place){ 0 };
	if (err)
		return err;
	module = module_at(s, address, &offset);
	if (module && module_global(module, offset, &ret->base, &ret->size)) {
		ret->kind = PLACE_GLOBAL;
		ret->offset = offset - ret->base;
		ret->base = address - ret->offset;
		return NULL;
	}
	b = find_block(s, address, clock);
	if (b) {
		*ret = (struct place){ PLACE_HEAP, b->address, b->size,	   address - b->address,
				       b->thread,  b->site,    b->sequence };
		return NULL;
	}
	for (uint32_t i = 0; i < m->nthreads; i++)
		if (address - m->threads[i].stack_low < m->threads[i].stack_size) {
			ret->kind = PLACE_STACK;
			ret->size = m->threads[i].stack_size;
			ret->base = m->threads[i].stack_low + ret->size;
			ret->offset = ret->base - address;
			ret->thread = i;
		}
	return NULL;
}

/* Append "queue.filled", "malloc@parse.c:41/0.1#3+8", "stack 0.1-64", "0x7f..". */
static void add_place_name(struct symbols *s, const struct place *p, uint64_t address,
			   struct strbuf *out)
{
	const struct trace_meta *m = trace_meta(s->trace);
	struct code_point at;
	struct module *module;
	uint64_t offset;

	switch (p->kind) {
	case PLACE_GLOBAL:
		module = module_at(s, address, &offset);
		if (module && module_global_name(module, offset, out))
			return;
		break;
	case PLACE_HEAP:
		symbols_site(s, p->site, &at);
		if (strncmp(at.object, "_Zn", 3) == 0)
			at.object = "new"; /* operator new and new[], mangled */
		strbuf_addf(out, "%s@%s:%u/%s#%u", at.object[0] ? at.object : "heap",
			    at.file[0] ? at.file : "?", at.line, m->threads[p->thread].name,
			    p->sequence);
		if (p->offset)
			strbuf_addf(out, "+%llu", (unsigned long long)p->offset);
		return;
	case PLACE_STACK:
		strbuf_addf(out, "stack %s-%llu", m->threads[p->thread].name,
			    (unsigned long long)p->offset);
		return;
	case PLACE_UNKNOWN:
		break;
	}
	strbuf_addf(out, "0x%llx", (unsigned long long)address);
}

struct err *symbols_event_object(struct symbols *s, const struct event *ev, struct strbuf *out)
{
	struct code_point at;
	struct place place;
	struct err *err;

	/* for calls the site's object is the callee's name, not the argument's */
	if (plait_is_access(ev->kind) && symbols_site(s, ev->site, &at) && at.object[0] &&
	    !(at.site && at.site->kind == PLAIT_SITE_CALL)) {
		strbuf_adds(out, at.object);
		return NULL;
	}
	if (!ev->address)
		return NULL;
	err = find_place(s, ev->address, ev->clock, &place);
	if (!err)
		add_place_name(s, &place, ev->address, out);
	return err;
}
