/* debug/minidump.c - see minidump.h.
 *
 * A minidump is a directory of streams; every position in it is 32 bits from the beginning of the
 * file. It has less than a core: stacks and a little around them, seldom the heap, never the number of
 * a system call nor, mostly, a thread's pointer to its own storage. What the process had mapped comes
 * from /proc/PID/maps (Breakpad, lldb) or from a list of regions (Crashpad, lldb); so a segment here is
 * a part of a mapping that was dumped (`there` is its size) or one that was not (`there` is 0). They do
 * not overlap and are sorted: what is missing is a gap.
 *
 * The ELF headers of modules are mostly not dumped, and the list of modules says where the first byte
 * of each was. Programs linked to fixed addresses lie below 4 GB; whatever can lie anywhere is linked
 * to address 0, and Linux never puts it that low.
 *
 * Nothing is believed: sizes are checked against the stream and the file, and what we allocate is
 * bounded by the length of the file. */
#include "debug/minidump.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/dump.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum stream {
	STREAM_THREADS = 3,
	STREAM_MODULES = 4,
	STREAM_MEMORY = 5,
	STREAM_EXCEPTION = 6,
	STREAM_SYSTEM = 7,
	STREAM_MEMORY64 = 9,
	STREAM_REGIONS = 16,
	STREAM_LINUX_STATUS = 0x47670004,
	STREAM_LINUX_CMDLINE = 0x47670006,
	STREAM_LINUX_ENVIRON = 0x47670007,
	STREAM_LINUX_AUXV = 0x47670008,
	STREAM_LINUX_MAPS = 0x47670009,
};

enum {
	STREAMS_MOST = 4096,
	MODULES_MOST = 16384,
	PATH_MOST = 4096,
	PROCESSOR_AMD64 = 9,
	SYSTEM_LINUX = 0x8201,
	SYSTEM_ANDROID = 0x8203,
	CONTEXT_NEEDED = 3, /* control registers and integer registers */
	CONTEXT_FLOAT = 8,
	FXSAVE_BYTES = 512,
	BUILD_ID_RECORD = 0x4270454c, /* "LEpB": Breakpad's own kind of CodeView record */
	STATE_COMMITTED = 0x1000,
};

/* Where something lies in the file. */
struct piece {
	uint32_t size, at;
};

struct header {
	char magic[4];
	uint32_t version, nstreams, streams, checksum, time;
	uint64_t flags;
};

struct stream_entry {
	uint32_t type;
	struct piece piece;
};

struct raw_thread {
	uint32_t tid, suspended, class, priority;
	uint64_t block; /* Crashpad: the thread pointer */
	uint64_t stack;
	struct piece stack_bytes, context;
};

struct raw_context {
	uint64_t home[6];
	uint32_t flags, mxcsr;
	uint16_t cs, ds, es, fs, gs, ss;
	uint32_t eflags;
	uint64_t debug[6];
	uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rip;
	/* then what FXSAVE writes; lldb leaves out a part of it */
};

struct raw_exception {
	uint32_t tid, padding;
	uint32_t signal, code;
	uint64_t next, address;
	uint32_t nparameters, more_padding;
	uint64_t parameters[15];
	struct piece context;
};

/* 8-byte fields at odd places: read as words. */
struct raw_module {
	uint32_t base[2], size, checksum, time, name, version[13];
	struct piece identity, other;
	uint32_t reserved[4];
};

struct raw_memory {
	uint64_t address;
	struct piece bytes;
};

struct raw_region {
	uint64_t base, allocation;
	uint32_t allocated, padding;
	uint64_t size;
	uint32_t state, protection, type, more_padding;
};

static_assert(sizeof(struct raw_thread) == 48, "as in the file");
static_assert(sizeof(struct raw_context) == 256, "as in the file");
static_assert(sizeof(struct raw_exception) == 168, "as in the file");
static_assert(sizeof(struct raw_module) == 108, "as in the file");
static_assert(sizeof(struct raw_region) == 48, "as in the file");

struct segments VEC_FIELDS(struct dump_segment);

struct reader {
	struct dump *d;
	VEC(struct stream_entry) streams;
	struct segments memory; /* what was dumped; may overlap */
	struct segments mapped; /* what the process had; nothing of it is there */
};

/* The bytes of a stream; NULL when there is none or it does not lie in the file. */
static const uint8_t *stream(const struct reader *r, enum stream type, size_t *len)
{
	for (size_t i = 0; i < r->streams.len; i++) {
		const struct stream_entry *e = &r->streams.data[i];

		*len = e->piece.size;
		if (e->type == (uint32_t)type)
			return dump_file_bytes(r->d, e->piece.at, e->piece.size);
	}
	*len = 0;
	return NULL;
}

/* The elements of a list: a count of 4 bytes, maybe 4 of padding, `size` bytes for each. At most as many as the
 * stream has room for; a gap is noted when it claims more. */
static const uint8_t *list(struct reader *r, enum stream type, size_t size, size_t *n)
{
	size_t len, head = 4;
	const uint8_t *p = stream(r, type, &len);
	uint32_t count;

	*n = 0;
	if (!p || len < head)
		return NULL;
	memcpy(&count, p, sizeof(count));
	if (len == 8 + (uint64_t)count * size)
		head = 8;
	*n = MIN(count, (len - head) / size);
	if (*n < count)
		names_intern(&r->d->gaps, "a list of the minidump is cut off");
	return p + head;
}

/* ---- threads ---- */

/* False when the context lacks what a walk needs. */
static bool read_context(const struct reader *r, struct piece p, struct dump_thread *t)
{
	const uint8_t *at = dump_file_bytes(r->d, p.at, p.size);
	struct raw_context c;

	if (!at || p.size < sizeof(c))
		return false;
	memcpy(&c, at, sizeof(c));
	if ((c.flags & CONTEXT_NEEDED) != CONTEXT_NEEDED)
		return false;
	t->registers = (struct user_regs_struct){
		.r15 = c.r15,
		.r14 = c.r14,
		.r13 = c.r13,
		.r12 = c.r12,
		.rbp = c.rbp,
		.rbx = c.rbx,
		.r11 = c.r11,
		.r10 = c.r10,
		.r9 = c.r9,
		.r8 = c.r8,
		.rax = c.rax,
		.rcx = c.rcx,
		.rdx = c.rdx,
		.rsi = c.rsi,
		.rdi = c.rdi,
		.orig_rax = (uint64_t)-1,
		.rip = c.rip,
		.cs = c.cs,
		.eflags = c.eflags,
		.rsp = c.rsp,
		.ss = c.ss,
		.ds = c.ds,
		.es = c.es,
		.fs = c.fs,
		.gs = c.gs,
		.fs_base = t->registers.fs_base,
	};
	t->flags_unknown = c.eflags == UINT32_MAX;
	if (c.flags & CONTEXT_FLOAT && p.size >= sizeof(c) + FXSAVE_BYTES) {
		t->extended = at + sizeof(c);
		t->extended_len = FXSAVE_BYTES;
	}
	return true;
}

static void add_memory(struct reader *r, uint64_t address, uint64_t at, uint64_t size)
{
	uint64_t end = r->d->map.len;

	if (!size || address + size < address)
		return;
	if (at > end || size > end - at) {
		names_intern(&r->d->gaps, "the file is cut off: part of the memory is missing");
		size = at < end ? end - at : 0;
	}
	if (size)
		vec_push(&r->memory,
			 (struct dump_segment){
				 .address = address, .size = size, .there = size, .at = at });
}

static void read_threads(struct reader *r)
{
	size_t n;
	const uint8_t *p = list(r, STREAM_THREADS, sizeof(struct raw_thread), &n);

	for (size_t i = 0; i < n; i++) {
		struct raw_thread raw;
		struct dump_thread t = { .number_unknown = true };

		memcpy(&raw, p + i * sizeof(raw), sizeof(raw));
		t.tid = raw.tid;
		t.registers.fs_base = raw.block;
		t.base_unknown = raw.block == 0;
		add_memory(r, raw.stack, raw.stack_bytes.at, raw.stack_bytes.size);
		if (read_context(r, raw.context, &t))
			vec_push(&r->d->threads, t);
		else
			names_intern(&r->d->gaps, "the registers of a thread are missing");
	}
}

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

/* The thread that failed becomes the first, with the registers that it had then. */
static void read_exception(struct reader *r)
{
	struct dump *d = r->d;
	struct raw_exception e;
	size_t len;
	const uint8_t *p = stream(r, STREAM_EXCEPTION, &len);

	if (!p || len < sizeof(e))
		return;
	memcpy(&e, p, sizeof(e));
	if (e.signal < NSIG) { /* what was asked for is an exception with the number -1 */
		d->signal = (int)e.signal;
		d->code = (int)e.code;
		d->origin_unknown = d->signal && !d->code; /* lldb: then it has no address either */
		if (d->code > 0 && is_fault(d->signal))
			d->fault = e.address;
	}
	for (size_t i = 0; i < d->threads.len; i++) {
		struct dump_thread t = d->threads.data[i];

		if (t.tid != e.tid)
			continue;
		read_context(r, e.context, &t);
		memmove(d->threads.data + 1, d->threads.data, i * sizeof(t));
		d->threads.data[0] = t;
		return;
	}
}

/* ---- what was mapped ---- */

static uint32_t flags_of_text(const char *perms)
{
	return (perms[0] == 'r' ? PF_R : 0u) | (perms[1] == 'w' ? PF_W : 0u) |
	       (perms[2] == 'x' ? PF_X : 0u);
}

static void add_mapped(struct reader *r, uint64_t low, uint64_t high, uint32_t flags)
{
	if (low < high)
		vec_push(&r->mapped, (struct dump_segment){
					     .address = low, .size = high - low, .flags = flags });
}

/* A line of /proc/PID/maps: "low-high rwxp offset device inode   path". */
static void read_map_line(struct reader *r, const char *line)
{
	uint64_t low, high, offset;
	const char *path = strchr(line, '/');
	char perms[5], *end;

	low = strtoull(line, &end, 16);
	if (*end != '-')
		return;
	high = strtoull(end + 1, &end, 16);
	if (*end != ' ' || strlen(end) < 6)
		return;
	memcpy(perms, end + 1, 4);
	offset = strtoull(end + 5, NULL, 16);
	add_mapped(r, low, high, flags_of_text(perms));
	if (path && low < high)
		vec_push(&r->d->files,
			 (struct dump_file){
				 .start = low, .end = high, .offset = offset, .path = path });
}

static void read_maps(struct reader *r)
{
	size_t len;
	const uint8_t *p = stream(r, STREAM_LINUX_MAPS, &len);
	char *line, *next;

	if (!p)
		return;
	for (line = arena_strndup(&r->d->strings, (const char *)p, len); *line; line = next) {
		size_t n = strcspn(line, "\n");

		next = line + n + (line[n] != 0);
		line[n] = '\0';
		read_map_line(r, line);
	}
}

/* Windows' names of protections; with 0xf0 one can execute. */
static uint32_t flags_of_protection(uint32_t p)
{
	return (p & 0x66 ? PF_R : 0u) | (p & 0xcc ? PF_R | PF_W : 0u) | (p & 0xf0 ? PF_X : 0u);
}

static void read_regions(struct reader *r)
{
	size_t len;
	const uint8_t *p = stream(r, STREAM_REGIONS, &len);
	struct {
		uint32_t header, entry;
		uint64_t n;
	} h;

	if (!p || len < sizeof(h) || r->mapped.len)
		return;
	memcpy(&h, p, sizeof(h));
	if (h.header < sizeof(h) || h.header > len || h.entry < sizeof(struct raw_region))
		return;
	for (uint64_t i = 0; i < MIN(h.n, (len - h.header) / h.entry); i++) {
		struct raw_region raw;

		memcpy(&raw, p + h.header + i * h.entry, sizeof(raw));
		if (raw.state == STATE_COMMITTED && raw.base + raw.size > raw.base)
			add_mapped(r, raw.base, raw.base + raw.size,
				   flags_of_protection(raw.protection));
	}
}

/* Nothing says what was mapped: modules were. What they allow is not known, so everything. */
static void mapped_from_modules(struct reader *r)
{
	if (r->mapped.len)
		return;
	names_intern(&r->d->gaps, "the minidump does not say what was mapped");
	for (size_t i = 0; i < r->d->modules.len; i++)
		add_mapped(r, r->d->modules.data[i].low, r->d->modules.data[i].high,
			   PF_R | PF_W | PF_X);
}

/* ---- memory ---- */

static void read_memory(struct reader *r)
{
	struct {
		uint64_t n, at;
	} head;
	size_t n, len;
	const uint8_t *p = list(r, STREAM_MEMORY, sizeof(struct raw_memory), &n);

	for (size_t i = 0; i < n; i++) {
		struct raw_memory raw;

		memcpy(&raw, p + i * sizeof(raw), sizeof(raw));
		add_memory(r, raw.address, raw.bytes.at, raw.bytes.size);
	}
	p = stream(r, STREAM_MEMORY64, &len);
	if (!p || len < sizeof(head))
		return;
	memcpy(&head, p, sizeof(head)); /* one behind the other from `at` on */
	for (uint64_t i = 0; i < MIN(head.n, (len - sizeof(head)) / 16); i++) {
		uint64_t range[2];

		memcpy(range, p + sizeof(head) + 16 * i, sizeof(range));
		add_memory(r, range[0], head.at, range[1]);
		if (head.at + range[1] < head.at)
			return;
		head.at += range[1];
	}
}

/* By address; of those that begin together the longest first. */
static int compare_segments(const void *a, const void *b)
{
	const struct dump_segment *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->size > y->size ? -1 : x->size < y->size;
}

/* Sort, and cut off what an earlier one has, too. (A thread's stack is in the list of memory again.) */
static void disjoin(struct segments *v)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (v->len)
		qsort(v->data, v->len, sizeof(*v->data), compare_segments);
	for (size_t i = 0; i < v->len; i++) {
		struct dump_segment s = v->data[i];
		uint64_t again = kept && s.address < end ? MIN(end - s.address, s.size) : 0;

		if (again == s.size)
			continue;
		s.address += again;
		s.size -= again;
		s.there -= MIN(again, s.there);
		s.at += again;
		end = s.address + s.size;
		v->data[kept++] = s;
	}
	v->len = kept;
}

/* The first n bytes of a piece of memory become a segment. */
static void take(struct reader *r, struct dump_segment *m, uint64_t n, uint32_t flags)
{
	struct dump_segment s = *m;

	s.size = s.there = n;
	s.flags = flags;
	vec_push(&r->d->segments, s);
	m->address += n;
	m->at += n;
	m->size -= n;
}

static void hole(struct reader *r, uint64_t low, uint64_t high, uint32_t flags)
{
	if (low < high)
		vec_push(&r->d->segments, (struct dump_segment){ .address = low,
								 .size = high - low,
								 .flags = flags });
}

/* Mappings, cut where memory was dumped; and memory that no mapping has. */
static void make_segments(struct reader *r)
{
	size_t k = 0;

	disjoin(&r->memory);
	disjoin(&r->mapped);
	for (size_t i = 0; i < r->mapped.len; i++) {
		const struct dump_segment *g = &r->mapped.data[i];
		uint64_t at = g->address, end = g->address + g->size;

		while (k < r->memory.len && r->memory.data[k].address < end) {
			struct dump_segment *m = &r->memory.data[k];

			if (m->address < at) {
				take(r, m, MIN(m->size, at - m->address), PF_R | PF_W);
			} else {
				hole(r, at, m->address, g->flags);
				at = m->address + MIN(m->size, end - m->address);
				take(r, m, at - m->address, g->flags);
			}
			k += m->size == 0;
		}
		hole(r, at, end, g->flags);
	}
	for (; k < r->memory.len; k++)
		take(r, &r->memory.data[k], r->memory.data[k].size, PF_R | PF_W);
}

/* ---- modules ---- */

/* A string of 16-bit characters, as UTF-8; NULL when it is not in the file. */
static const char *read_string(struct reader *r, uint32_t at)
{
	const uint8_t *p = dump_file_bytes(r->d, at, 4);
	char text[PATH_MOST];
	uint32_t len;
	size_t n = 0;

	if (!p)
		return NULL;
	memcpy(&len, p, sizeof(len));
	if (!dump_file_bytes(r->d, at, 4 + (uint64_t)len))
		return NULL;
	for (uint32_t i = 0; i + 1 < len && n + 4 < sizeof(text); i += 2) {
		unsigned c = p[4 + i] | (unsigned)p[5 + i] << 8;

		if (c < 0x80) {
			text[n++] = (char)c;
		} else if (c < 0x800) {
			text[n++] = (char)(0xc0 | c >> 6);
			text[n++] = (char)(0x80 | (c & 0x3f));
		} else {
			text[n++] = (char)(0xe0 | c >> 12);
			text[n++] = (char)(0x80 | (c >> 6 & 0x3f));
			text[n++] = (char)(0x80 | (c & 0x3f));
		}
	}
	text[n] = '\0';
	return arena_strdup(&r->d->strings, text);
}

/* Other records than Breakpad's have a part of the build-id at most. */
static void read_identity(struct reader *r, struct piece p, struct dump_module *m)
{
	const uint8_t *at = dump_file_bytes(r->d, p.at, p.size);
	uint32_t kind;

	if (at && p.size > sizeof(kind)) {
		memcpy(&kind, at, sizeof(kind));
		if (kind == BUILD_ID_RECORD) {
			build_id_hex(at + sizeof(kind), p.size - sizeof(kind), m->build_id);
			return;
		}
	}
	names_intern(&r->d->gaps, "the minidump does not say which build of some modules ran");
}

static void read_modules(struct reader *r)
{
	size_t n;
	const uint8_t *p = list(r, STREAM_MODULES, sizeof(struct raw_module), &n);

	for (size_t i = 0; i < MIN(n, (size_t)MODULES_MOST); i++) {
		struct raw_module raw;
		struct dump_module m = { 0 };

		memcpy(&raw, p + i * sizeof(raw), sizeof(raw));
		memcpy(&m.low, raw.base, sizeof(m.low));
		m.high = m.low + raw.size;
		m.path = read_string(r, raw.name);
		if (m.high <= m.low || !m.path || *m.path != '/') /* linux-gate.so has no file */
			continue;
		m.bias = dump_bias_of(m.low);
		read_identity(r, raw.identity, &m);
		vec_push(&r->d->modules, m);
	}
}

/* What the writer says about the size of a module may be too little: lldb. */
static void stretch_modules(struct reader *r)
{
	for (size_t i = 0; i < r->d->modules.len; i++)
		for (size_t k = 0; k < r->d->files.len; k++) {
			struct dump_module *m = &r->d->modules.data[i];
			const struct dump_file *f = &r->d->files.data[k];

			if (f->start >= m->low && f->end > m->high && !strcmp(f->path, m->path))
				m->high = f->end;
		}
}

/* Where a module's own headers were dumped, they know better. */
static void look_at_headers(struct reader *r)
{
	for (size_t i = 0; i < r->d->modules.len; i++) {
		struct dump_module m = r->d->modules.data[i];

		if (!dump_elf_at(r->d, m.low, &m))
			continue;
		r->d->modules.data[i].bias = m.bias;
		if (!*r->d->modules.data[i].build_id)
			r->d->modules.data[i] = m;
	}
}

/* ---- what else Linux tells ---- */

static void read_name(struct reader *r)
{
	static const char key[] = "Name:\t";
	size_t len, n;
	const char *p = (const char *)stream(r, STREAM_LINUX_STATUS, &len);

	if (!p || len < sizeof(key) || memcmp(p, key, sizeof(key) - 1) != 0)
		return;
	p += sizeof(key) - 1;
	len -= sizeof(key) - 1;
	for (n = 0; n < MIN(len, sizeof(r->d->program) - 1) && p[n] != '\n'; n++)
		r->d->program[n] = p[n];
}

static void read_words(struct reader *r, enum stream type, struct dump_list *ret)
{
	size_t len;
	const uint8_t *p = stream(r, type, &len);

	if (!p || !len)
		return;
	ret->text = memcpy(arena_alloc(&r->d->strings, len + 1), p, len);
	ret->len = len;
}

static struct err *check_system(struct reader *r, const char *path)
{
	size_t len;
	const uint8_t *p = stream(r, STREAM_SYSTEM, &len);
	uint16_t processor;
	uint32_t system;

	if (!p || len < 24)
		return err_new(ERR_ENV,
			       "%s is a minidump that does not say of which system: it is "
			       "damaged or cut off",
			       path);
	memcpy(&processor, p, sizeof(processor));
	memcpy(&system, p + 20, sizeof(system));
	if (processor == PROCESSOR_AMD64 && (system == SYSTEM_LINUX || system == SYSTEM_ANDROID))
		return NULL;
	return err_new(
		ERR_ENV,
		"%s is a minidump of another machine; only those of Linux on x86-64 are read",
		path);
}

/* ---- the whole ---- */

bool minidump_is(const struct dump *d)
{
	return d->map.len >= 4 && !memcmp(d->map.data, "MDMP", 4);
}

static struct err *read_directory(struct reader *r, const char *path)
{
	const uint8_t *p = dump_file_bytes(r->d, 0, sizeof(struct header));
	struct header h;

	if (p) {
		memcpy(&h, p, sizeof(h));
		p = dump_file_bytes(r->d, h.streams,
				    (uint64_t)h.nstreams * sizeof(struct stream_entry));
	}
	if (!p || h.nstreams > STREAMS_MOST)
		return err_new(ERR_ENV, "%s is a minidump whose list of streams is cut off", path);
	for (uint32_t i = 0; i < h.nstreams; i++) {
		struct stream_entry e;

		memcpy(&e, p + i * sizeof(e), sizeof(e));
		if (!dump_file_bytes(r->d, e.piece.at, e.piece.size))
			names_intern(&r->d->gaps,
				     "the file is cut off: a part of the minidump is missing");
		vec_push(&r->streams, e);
	}
	return NULL;
}

struct err *minidump_read(const char *path, struct dump *d)
{
	struct reader r = { .d = d };
	struct err *err = read_directory(&r, path);
	size_t len;
	const uint8_t *auxv;

	if (!err)
		err = check_system(&r, path);
	if (!err) {
		d->mini = true;
		read_threads(&r);
		read_exception(&r);
		read_modules(&r);
		read_maps(&r);
		stretch_modules(&r);
		read_regions(&r);
		mapped_from_modules(&r);
		read_memory(&r);
		make_segments(&r);
		look_at_headers(&r);
		read_name(&r);
		read_words(&r, STREAM_LINUX_CMDLINE, &d->words[0]);
		read_words(&r, STREAM_LINUX_ENVIRON, &d->words[1]);
		if ((auxv = stream(&r, STREAM_LINUX_AUXV, &len)))
			dump_take_auxv(d, auxv, len);
	}
	vec_deinit(&r.streams);
	vec_deinit(&r.memory);
	vec_deinit(&r.mapped);
	return err;
}
