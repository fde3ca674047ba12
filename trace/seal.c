/* trace/seal.c - run folders into plaits.
 *
 * Comes in: what the runtime left (struct plait_run, a file of records per thread, the table of
 * program counters) and what the launcher knew. Goes out: blocks of about PLAIT_BLOCK bytes,
 * each compressed and hashed, then the sections, the directory and the footer. Records keep their
 * bytes; they are decoded only to cut blocks between records and to note the decoder's state there,
 * which is what makes random access possible.
 *
 * A folder may be that of a process killed at any moment: a thread's file ends at the first zero
 * tag, the thread table may announce threads that never wrote, and `run` may lack its last changes.
 */
#include "trace/format.h"

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "unplait/graph.h"
#include "unplait/vectors.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

struct writer {
	FILE *out;
	uint64_t at; /* bytes written */
	bool stamped;
	struct siphash stamp; /* of everything behind the header */
	VEC(struct format_entry) directory;
	struct strbuf scratch;
};

static void writer_deinit(struct writer *w)
{
	strbuf_deinit(&w->scratch);
	vec_deinit(&w->directory);
}

/* Errors show at the commit. */
static void put(struct writer *w, const void *data, size_t len)
{
	fwrite(data, 1, len, w->out);
	w->at += len;
	if (w->stamped)
		siphash_add(&w->stamp, data, len);
}

/* made_here: what follows gets a stamp. */
static void writer_begin(struct writer *w, bool made_here)
{
	struct format_header h = { .version = PLAIT_FORMAT_VERSION, .endian = PLAIT_ENDIAN };

	memcpy(h.magic, PLAIT_MAGIC, 8);
	put(w, &h, sizeof(h));
	w->stamped = made_here && stamp_begin(&w->stamp);
}

/* Appends the bytes, compressed when that helps, and their entry. */
static struct format_entry *writer_put(struct writer *w, const char *name, const void *data,
				       size_t len)
{
	size_t bound = ZSTD_compressBound(len), n;
	struct format_entry *e = vec_add(&w->directory);

	snprintf(e->name, sizeof(e->name), "%s", name);
	e->offset = w->at;
	e->raw = len;
	strbuf_clear(&w->scratch);
	strbuf_pad(&w->scratch, 0, bound);
	n = ZSTD_compress(w->scratch.data, bound, data, len, 3);
	if (!ZSTD_isError(n) && n < len && format_size_is_fair(n, len)) {
		e->coding = 1;
		data = w->scratch.data;
		len = n;
	}
	e->stored = len;
	e->hash = XXH64(data, len, 0);
	put(w, data, len);
	return e;
}

/* The stamp is known last; a pipe, where nobody can go back, gets none. */
static void put_stamp(struct writer *w)
{
	uint8_t stamp[SIPHASH_LEN];

	siphash_end(&w->stamp, stamp);
	if (fseek(w->out, offsetof(struct format_header, stamp), SEEK_SET) == 0)
		fwrite(stamp, 1, sizeof(stamp), w->out);
}

static void writer_end(struct writer *w)
{
	struct format_footer f = { .nentries = w->directory.len };
	size_t len = w->directory.len * sizeof(struct format_entry);

	put(w, "\0\0\0\0\0\0\0", (8 - w->at % 8) % 8);
	f.directory = w->at;
	f.hash = XXH64(w->directory.data, len, 0);
	put(w, w->directory.data, len);
	f.size = w->at + sizeof(f);
	memcpy(f.magic, PLAIT_END_MAGIC, 8);
	put(w, &f, sizeof(f));
	if (w->stamped)
		put_stamp(w);
}

/* ---- one thread's events ---- */

static void put_block(struct writer *w, const struct decoder *start, const struct decoder *end)
{
	struct format_entry *e =
		writer_put(w, "events", start->next, (size_t)(end->next - start->next));

	e->thread = start->thread;
	e->first_index = start->index;
	e->nevents = end->index - start->index;
	e->clock = start->clock;
	e->address = start->address;
	e->site = start->site;
}

/* The records of one file; d goes on from file to file. damaged: it ends in something that is no
 * record, and is cut off there. */
static void put_events(struct writer *w, struct decoder *d, const uint8_t *data, size_t len,
		       bool *damaged)
{
	struct decoder start, good;
	enum decoded result;
	struct event ev;

	if (!len)
		return;
	d->next = data;
	d->end = data + len;
	start = good = *d;
	while ((result = decoder_next(d, &ev)) == DECODED_EVENT) {
		good = *d;
		if (good.next - start.next >= PLAIT_BLOCK) {
			put_block(w, &start, &good);
			start = good;
		}
	}
	if (good.next > start.next)
		put_block(w, &start, &good);
	*d = good;
	*damaged |= result == DECODED_DAMAGED;
}

/* ---- the description ---- */

static void read_machine(struct trace_meta *m)
{
	struct strbuf cpuinfo = { 0 };
	struct utsname u;
	const char *model;

	if (uname(&u) == 0)
		m->kernel = xasprintf("%s %s %s", u.sysname, u.release, u.machine);
	m->ncpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	err_free(file_read("/proc/cpuinfo", &cpuinfo));
	model = strstr(strbuf_str(&cpuinfo), "model name");
	model = model ? strchr(model, ':') : NULL;
	if (model)
		m->cpu = xstrndup(model + 2, strcspn(model + 2, "\n"));
	strbuf_deinit(&cpuinfo);
}

static char **copy_words(const cJSON *array)
{
	size_t n = cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
	char **ret = xcalloc(n + 1, sizeof(*ret));

	for (size_t i = 0; i < n; i++) {
		const char *s = cJSON_GetStringValue(cJSON_GetArrayItem(array, (int)i));

		ret[i] = xstrdup(s ? s : "");
	}
	return ret;
}

static void read_launch(const char *dir, struct trace_meta *m)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/launch", dir);
	struct strbuf sb = { 0 };
	cJSON *o;
	const char *cwd;

	err_free(file_read(path, &sb));
	o = cJSON_Parse(strbuf_str(&sb));
	m->command = copy_words(cJSON_GetObjectItemCaseSensitive(o, "command"));
	m->environment = copy_words(cJSON_GetObjectItemCaseSensitive(o, "environment"));
	cwd = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "cwd"));
	m->cwd = cwd ? xstrdup(cwd) : NULL;
	cJSON_Delete(o);
	strbuf_deinit(&sb);
}

struct err *trace_write_launch(const char *dir, char *const *command, const char *cwd,
			       char *const *environment)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/launch", dir);
	struct json j;
	struct err *err;

	json_init(&j);
	json_begin_object(&j, NULL);
	json_begin_array(&j, "command");
	for (; command && *command; command++)
		json_str(&j, NULL, *command);
	json_end(&j);
	json_str(&j, "cwd", cwd);
	json_begin_array(&j, "environment");
	for (; environment && *environment; environment++)
		json_strn(&j, NULL, *environment, strcspn(*environment, "="));
	json_end(&j);
	json_end(&j);
	err = file_write(path, strbuf_str(&j.out), j.out.len);
	json_deinit(&j);
	return err;
}

static void read_modules(const struct plait_run *run, struct trace_meta *m)
{
	uint32_t n = MIN(run->nmodules, PLAIT_MAX_MODULES);

	m->modules = xcalloc(n + 1, sizeof(*m->modules));
	for (; m->nmodules < n; m->nmodules++) {
		const struct plait_module_info *from = &run->modules[m->nmodules];
		struct trace_module *to = &m->modules[m->nmodules];

		to->path = xstrndup(from->path, sizeof(from->path));
		for (size_t i = 0; i < MIN(from->build_id_len, sizeof(from->build_id)); i++)
			snprintf(to->build_id + 2 * i, 3, "%02x", from->build_id[i]);
		to->load_address = from->load_address;
		to->low = from->low;
		to->high = from->high;
		to->first_site = from->first_site;
		to->nsites = from->nsites;
	}
}

static void read_threads(const struct plait_run *run, struct trace_meta *m)
{
	uint32_t n = MIN(run->nthreads, PLAIT_MAX_THREADS);

	m->threads = xcalloc(n + 1, sizeof(*m->threads));
	for (; m->nthreads < n; m->nthreads++) {
		const struct plait_thread_info *t = &run->threads[m->nthreads];

		m->threads[m->nthreads] = (struct trace_thread){
			.parent = t->parent,
			.ordinal = t->ordinal,
			.kernel_tid = t->kernel_tid,
			.ended = t->state == 2,
			.stack_low = t->stack_low,
			.stack_size = t->stack_size,
			.entry = t->entry,
			.lost = t->lost,
			.bits = t->bits,
			.values = t->values,
		};
		m->lost += t->lost;
	}
}

static void read_outcome(const struct plait_run *run, const struct trace_outcome *judged,
			 struct trace_outcome *o)
{
	const struct plait_failure *f = &run->failure;

	*o = (struct trace_outcome){ .exit_code = -1 };
	if (f->kind != PLAIT_OUTCOME_UNKNOWN) {
		o->kind = (enum plait_outcome_kind)f->kind;
		o->message = f->text[0] ? xstrndup(f->text, sizeof(f->text)) : NULL;
		o->signal = f->signal;
		o->code = f->code;
		o->thread = f->thread;
		o->site = f->site;
		o->address = f->address;
		o->nframes = MIN(f->nframes, PLAIT_MAX_FRAMES);
		memcpy(o->frames, f->frames, sizeof(o->frames));
	} else if (run->ended) {
		o->kind = PLAIT_OUTCOME_PASS;
	}
	if (!judged)
		return;
	/* the launcher knows how it ended, the runtime knows where and why */
	o->kind = judged->kind;
	o->signal = judged->signal;
	o->exit_code = judged->exit_code;
	if (judged->message) {
		free(o->message);
		o->message = xstrdup(judged->message);
	}
}

/* The runtime writes no file that the limit forbids. */
static bool files_are_limited(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof(struct plait_run);
}

static struct err *check_run(const char *dir, const struct file_map *map)
{
	const struct plait_run *run = (const void *)map->data;

	if (map->len < 32 || memcmp(run->magic, PLAIT_RUN_MAGIC, 8) != 0)
		return err_new(
			ERR_ENV,
			"%s is no run folder: the program may not have been built with unplait, "
			"or it was killed before it began%s",
			dir,
			files_are_limited() ? ", or the limit on the size of files (ulimit -f) is "
					      "too low"
					    : "");
	if (run->version != PLAIT_FORMAT_VERSION || run->size != sizeof(*run) ||
	    map->len < sizeof(*run))
		return err_new(
			ERR_ENV,
			"%s was written by a libplait of another version (format %u, this is %u); "
			"rebuild the program",
			dir, run->version, PLAIT_FORMAT_VERSION);
	return NULL;
}

/* Empty when there is no such file: a thread that never wrote, or never much. */
static struct file_map map_if_there(const char *dir, char letter, uint32_t thread)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/%c%05u", dir, letter, thread);
	struct file_map map = { 0 };

	err_free(file_map_open(path, &map));
	return map;
}

static void add_varint(struct strbuf *sb, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf_addc(sb, (char)(v | 0x80));
	strbuf_addc(sb, (char)v);
}

static bool is_blank(const uint8_t *data, size_t len)
{
	return !len || (!data[0] && memcmp(data, data + 1, len - 1) == 0);
}

/* Mode sync: what the thread had read before somebody wrote who did not know of it, and would have said when it
 * came there again (rt/log/atomics.c). */
static void put_cuts(struct writer *w, const char *dir, struct decoder *d, size_t nthreads,
		     bool *damaged)
{
	struct file_map map = map_if_there(dir, 'c', d->thread);
	const struct plait_cells *cells = (const void *)map.data;
	struct strbuf records = { 0 };

	if (map.len !=
	    sizeof(*cells)) /* the disk was full, or the program killed: they were not used */
		*damaged |= !is_blank(map.data, map.len);
	for (uint32_t i = 0; map.len == sizeof(*cells) && i < PLAIT_CELLS; i++) {
		const struct plait_cell *c = &cells->cells[i];

		if (!plait_cell_is_cut(c))
			continue;
		if ((c->by >> PLAIT_STAMP_BITS) - 1 >= nthreads) {
			*damaged = true;
			continue;
		}
		strbuf_addc(&records, PLAIT_EV_CAME_BEFORE);
		add_varint(&records, c->last);
		add_varint(&records, (c->by >> PLAIT_STAMP_BITS) - 1);
		add_varint(&records, c->by & ((1ull << PLAIT_STAMP_BITS) - 1));
	}
	put_events(w, d, (const uint8_t *)records.data, records.len, damaged);
	strbuf_deinit(&records);
	file_map_close(&map);
}

/* rt/core/buffer.c: the event file as far as it counts, then the window. */
static void put_thread(struct writer *w, const char *dir, struct decoder *d, size_t nthreads,
		       bool *damaged, uint64_t *synced)
{
	struct file_map before = map_if_there(dir, 's', d->thread);
	struct file_map events = map_if_there(dir, 't', d->thread);
	struct file_map window = map_if_there(dir, 'w', d->thread);
	struct plait_window head = { .before = ~PLAIT_WINDOW_STALE };

	if (window.len > sizeof(head))
		memcpy(&head, window.data, sizeof(head));
	if (before.len) { /* rt/core/last.c: the next file begins anew */
		put_events(w, d, before.data, before.len, damaged);
		d->clock = d->address = d->site = 0;
	}
	put_events(w, d, events.data, MIN(events.len, head.before & ~PLAIT_WINDOW_STALE), damaged);
	if (window.len > sizeof(head) && !(head.before & PLAIT_WINDOW_STALE))
		put_events(w, d, window.data + sizeof(head), window.len - sizeof(head), damaged);
	put_cuts(w, dir, d, nthreads, damaged);
	*synced = head.synced;
	file_map_close(&before);
	file_map_close(&events);
	file_map_close(&window);
}

static void put_all_events(struct writer *w, const char *dir, struct trace_meta *m)
{
	for (uint32_t i = 0; i < m->nthreads; i++) {
		struct decoder d = { .clock_kind = m->clock, .thread = i };
		bool damaged = false;

		put_thread(w, dir, &d, m->nthreads, &damaged, &m->threads[i].synced);
		m->threads[i].nevents = d.index;
		m->nevents += d.index;
		m->threads[i].lost += damaged;
		m->lost += damaged;
	}
}

/* Pairs (site, counter), up to the first that is not complete. */
static void put_pcs(struct writer *w, const char *dir)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/pcs", dir);
	struct file_map map;
	size_t len = 0;
	struct err *err = file_map_open(path, &map);

	if (err) {
		err_free(err);
		return;
	}
	for (uint64_t pair[2]; len + sizeof(pair) <= map.len; len += sizeof(pair)) {
		memcpy(pair, map.data + len, sizeof(pair));
		if (!pair[1])
			break;
	}
	if (len)
		writer_put(w, "pcs", map.data, len);
	file_map_close(&map);
}

/* Edges up to the first that is not complete. */
static void add_edges(struct strbuf *out, const char *path)
{
	struct plait_graph_edge e;
	struct file_map map;
	struct err *err = file_map_open(path, &map);

	if (err) { /* a thread without edges */
		err_free(err);
		return;
	}
	for (size_t at = 0; at + sizeof(e) <= map.len; at += sizeof(e)) {
		memcpy(&e, map.data + at, sizeof(e));
		if (!e.sink)
			break;
		strbuf_add(out, &e, sizeof(e));
	}
	file_map_close(&map);
}

/* unplait/graph.h: header, nodes, edges of all threads, in one section. */
static void put_graph(struct writer *w, const char *dir, size_t nthreads)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/graph", dir);
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	struct plait_graph_header h;
	struct file_map map;
	struct err *err;
	size_t nodes;

	if (!file_exists(path))
		return;
	err = file_map_open(path, &map);
	if (err) {
		err_free(err);
		return;
	}
	memcpy(&h, map.data, MIN(sizeof(h), map.len));
	if (map.len < PLAIT_GRAPH_NODES_AT || memcmp(h.magic, PLAIT_GRAPH_MAGIC, 8) != 0) {
		file_map_close(&map);
		return;
	}
	nodes = (map.len - PLAIT_GRAPH_NODES_AT) / sizeof(struct plait_graph_node);
	h.nnodes = (uint32_t)MIN(h.nnodes, nodes);
	strbuf_add(&out, &h, sizeof(h));
	strbuf_add(&out, map.data + PLAIT_GRAPH_NODES_AT,
		   h.nnodes * sizeof(struct plait_graph_node));
	file_map_close(&map);
	nodes = out.len;
	for (size_t i = 0; i < nthreads; i++) {
		_cleanup_(xfreep) char *edges = xasprintf("%s/g%05zu", dir, i);

		add_edges(&out, edges);
	}
	h.edges = (out.len - nodes) / sizeof(struct plait_graph_edge);
	memcpy(out.data, &h, sizeof(h));
	writer_put(w, "graph", out.data, out.len);
}

/* The access vectors of modes order and block, as they are. */
static void put_vectors(struct writer *w, const char *dir)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/vectors", dir);
	struct file_map map;
	struct err *err = file_exists(path) ? file_map_open(path, &map) : NULL;

	if (err || !file_exists(path)) {
		err_free(err);
		return;
	}
	if (map.len >= sizeof(struct plait_vectors_header))
		writer_put(w, "vectors", map.data,
			   MIN(map.len, ((const struct plait_vectors_header *)map.data)->used));
	file_map_close(&map);
}

static struct err *seal(const char *dir, const struct trace_seal_options *options, struct writer *w)
{
	static const struct trace_seal_options none;
	_cleanup_(xfreep) char *path = xasprintf("%s/run", dir);
	_cleanup_(meta_deinit) struct trace_meta m = { 0 };
	struct strbuf text = { 0 };
	struct file_map map;
	const struct plait_run *run;
	struct err *err;

	if (!options)
		options = &none;
	if (!file_exists(path))
		return err_new(ERR_ENV,
			       "%s holds no recorded run: was the program built with `unplait cc`?",
			       dir);
	err = file_map_open(path, &map);
	if (err)
		return err;
	err = check_run(dir, &map);
	if (err) {
		file_map_close(&map);
		return err;
	}
	run = (const void *)map.data;
	m.mode = (enum plait_mode)MIN(run->mode, PLAIT_MODE_SYNC);
	m.clock = run->clock == PLAIT_CLOCK_STEPS ? PLAIT_CLOCK_STEPS : PLAIT_CLOCK_TSC;
	m.clock_hz = run->clock_hz ? run->clock_hz : options->clock_hz;
	m.start_ns = run->start_ns;
	m.pid = run->pid;
	m.ended = run->ended;
	m.flags = run->flags;
	m.threads_lost = run->threads_lost;
	read_launch(dir, &m);
	read_machine(&m);
	read_modules(run, &m);
	read_threads(run, &m);
	read_outcome(run, options->outcome, &m.outcome);
	file_map_close(&map);

	writer_begin(w, options->made_here);
	put_all_events(w, dir, &m);
	put_pcs(w, dir);
	put_graph(w, dir, m.nthreads);
	put_vectors(w, dir);
	for (size_t i = 0; i < options->nextra; i++)
		writer_put(w, options->extra[i].name, options->extra[i].data,
			   options->extra[i].len);
	meta_write(&m, &text);
	writer_put(w, "meta", text.data, text.len);
	strbuf_deinit(&text);
	writer_end(w);
	return NULL;
}

struct err *trace_seal_memory(const char *dir, const struct trace_seal_options *options,
			      struct strbuf *ret)
{
	_cleanup_(writer_deinit) struct writer w = { 0 };
	char *data = NULL;
	size_t len = 0;
	struct err *err;

	w.out = open_memstream(&data, &len);
	if (!w.out)
		return err_errno(errno, "no memory");
	err = seal(dir, options, &w);
	fclose(w.out);
	if (!err)
		strbuf_add(ret, data, len);
	free(data);
	return err;
}

struct err *trace_seal(const char *dir, const struct trace_seal_options *options, const char *path)
{
	_cleanup_(writer_deinit) struct writer w = { 0 };
	_cleanup_(file_out_deinit) struct file_out out = { 0 };
	struct err *err = file_out_open(path, &out);

	w.out = out.stream;
	if (!err)
		err = seal(dir, options, &w);
	return err ? err : file_out_commit(&out);
}

struct err *trace_copy(struct trace *from, const struct trace_extra *extra, size_t nextra,
		       const char *path)
{
	_cleanup_(writer_deinit) struct writer w = { 0 };
	_cleanup_(file_out_deinit) struct file_out out = { 0 };
	const struct format_entry *e;
	struct err *err = file_out_open(path, &out);

	if (err)
		return err;
	w.out = out.stream;
	writer_begin(&w, trace_made_here(from));
	for (size_t i = 0; (e = trace_entry(from, i)) != NULL; i++) {
		struct format_entry *to;
		bool replaced = false;

		for (size_t k = 0; k < nextra; k++)
			replaced |= strncmp(extra[k].name, e->name, sizeof(e->name)) == 0;
		if (replaced)
			continue;
		to = vec_add(&w.directory);
		*to = *e;
		to->offset = w.at;
		put(&w, trace_stored(from, e), e->stored);
	}
	for (size_t k = 0; k < nextra; k++)
		writer_put(&w, extra[k].name, extra[k].data, extra[k].len);
	writer_end(&w);
	return file_out_commit(&out);
}
