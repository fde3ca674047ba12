/* trace/reader.c - opening plaits. Nothing in a file is trusted: every offset and size is checked
 * against the file before use, every stored piece has a hash, and what does not fit is refused with
 * one sentence that says what is wrong and, where possible, what to do. */
#include "trace/format.h"

#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zstd.h>

#define MAX_RAW (1ull << 31) /* of one section */

struct section_cache {
	char name[16];
	struct strbuf data;
	struct section_cache *next;
};

struct trace {
	char *path;
	struct file_map map;
	struct strbuf sealed; /* of a run folder */
	const uint8_t *data;
	size_t len;
	struct format_entry *entries;
	size_t nentries;
	struct trace_meta meta;
	struct section_cache *sections;
	struct map pcs;
};

const struct trace_meta *trace_meta(const struct trace *t)
{
	return &t->meta;
}

const char *trace_path(const struct trace *t)
{
	return t->path;
}

const struct format_entry *trace_entry(const struct trace *t, size_t i)
{
	return i < t->nentries ? &t->entries[i] : NULL;
}

const uint8_t *trace_stored(const struct trace *t, const struct format_entry *e)
{
	assert(e->offset <= t->len && e->stored <= t->len - e->offset); /* check_entry */
	return t->data + e->offset;
}

const uint8_t *trace_bytes(const struct trace *t, size_t *len)
{
	*len = t->len;
	return t->data;
}

uint32_t trace_thread_find(const struct trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->meta.nthreads; i++)
		if (strcmp(t->meta.threads[i].name, name) == 0)
			return i;
	return UINT32_MAX;
}

static struct err *damaged(const struct trace *t, const char *what)
{
	return err_new(ERR_ENV, "%s is damaged: %s", t->path, what);
}

static bool hash_is(const void *data, size_t len, uint64_t want)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)data, (void)len, (void)want;
	return true;
#else
	return XXH64(data, len, 0) == want;
#endif
}

struct err *trace_load(struct trace *t, const struct format_entry *e, struct strbuf *ret)
{
	const uint8_t *stored = t->data + e->offset;
	size_t n;

	if (!hash_is(stored, e->stored, e->hash))
		return damaged(t, "a block does not match its checksum");
	strbuf_clear(ret);
	if (e->coding == 0) {
		strbuf_add(ret, stored, e->stored);
		return NULL;
	}
	/* the size is believed only if the frame says the same */
	if (ZSTD_getFrameContentSize(stored, e->stored) != e->raw)
		return damaged(t, "a block has the wrong size");
	strbuf_pad(ret, 0, e->raw);
	n = ZSTD_decompress(ret->data, e->raw, stored, e->stored);
	if (ZSTD_isError(n) || n != e->raw)
		return damaged(t, "a block cannot be decompressed");
	return NULL;
}

static struct err *check_header(struct trace *t)
{
	struct format_header h;

	if (t->len < sizeof(h) || memcmp(t->data, PLAIT_MAGIC, 8) != 0)
		return err_new(ERR_ENV, "%s is not a plait", t->path);
	memcpy(&h, t->data, sizeof(h));
	if (h.endian == __builtin_bswap32(PLAIT_ENDIAN))
		return err_new(ERR_ENV, "%s was written on a machine with the other byte order",
			       t->path);
	if (h.endian != PLAIT_ENDIAN)
		return damaged(t, "bad byte order mark");
	if (h.version != PLAIT_FORMAT_VERSION)
		return err_new(ERR_ENV, "%s has format version %u; this unplait reads version %u",
			       t->path, h.version, PLAIT_FORMAT_VERSION);
	return NULL;
}

static struct err *check_entry(const struct trace *t, const struct format_entry *e, uint64_t limit)
{
	if (e->name[sizeof(e->name) - 1] != 0 || e->coding > 1 || e->raw > MAX_RAW ||
	    e->offset > limit || e->stored > limit - e->offset ||
	    (e->coding == 0 && e->stored != e->raw))
		return damaged(t, "the directory makes no sense");
	if (!format_size_is_fair(e->stored, e->raw))
		return damaged(t, "a block claims to be larger than any that unplait writes");
	return NULL;
}

static struct err *read_directory(struct trace *t)
{
	struct format_footer f;
	size_t len;
	struct err *err;

	if (t->len < sizeof(struct format_header) + sizeof(f))
		return damaged(t, "it is cut short");
	memcpy(&f, t->data + t->len - sizeof(f), sizeof(f));
	if (memcmp(f.magic, PLAIT_END_MAGIC, 8) != 0 || f.size != t->len)
		return damaged(t, "it is cut short or has something appended");
	if (f.directory > t->len - sizeof(f) ||
	    f.nentries != (t->len - sizeof(f) - f.directory) / sizeof(*t->entries))
		return damaged(t, "the directory makes no sense");
	len = f.nentries * sizeof(*t->entries);
	if (!hash_is(t->data + f.directory, len, f.hash))
		return damaged(t, "the directory does not match its checksum");
	t->entries = xmemdup(t->data + f.directory, len);
	t->nentries = f.nentries;
	for (size_t i = 0; i < t->nentries; i++)
		if ((err = check_entry(t, &t->entries[i], f.directory)))
			return err;
	return NULL;
}

static const struct format_entry *find_entry(const struct trace *t, const char *name)
{
	for (size_t i = 0; i < t->nentries; i++)
		if (strncmp(t->entries[i].name, name, sizeof(t->entries[i].name)) == 0)
			return &t->entries[i];
	return NULL;
}

static struct err *read_meta(struct trace *t)
{
	const struct format_entry *e = find_entry(t, "meta");
	struct strbuf text = { 0 };
	struct err *err;

	if (!e)
		return damaged(t, "it has no description");
	err = trace_load(t, e, &text);
	if (!err)
		err = err_wrap(meta_read(strbuf_str(&text), text.len, &t->meta), "%s", t->path);
	strbuf_deinit(&text);
	return err;
}

/* Blocks of a thread follow one another without gaps. */
static struct err *check_blocks(struct trace *t)
{
	uint64_t *next = xcalloc(t->meta.nthreads + 1, sizeof(*next));
	struct err *err = NULL;

	for (size_t i = 0; i < t->nentries && !err; i++) {
		const struct format_entry *e = &t->entries[i];

		if (strcmp(e->name, "events") != 0)
			continue;
		if (e->thread >= t->meta.nthreads || e->first_index != next[e->thread] ||
		    e->nevents > e->raw)
			err = damaged(t, "its blocks of events do not fit together");
		else
			next[e->thread] += e->nevents;
	}
	for (size_t i = 0; i < t->meta.nthreads && !err; i++)
		if (next[i] != t->meta.threads[i].nevents)
			err = damaged(t, "events are missing");
	free(next);
	return err;
}

static struct err *read_pcs(struct trace *t)
{
	const struct format_entry *e = find_entry(t, "pcs");
	struct strbuf raw = { 0 };
	struct err *err;

	if (!e)
		return NULL;
	err = trace_load(t, e, &raw);
	for (size_t i = 0; !err && i + 16 <= raw.len; i += 16) {
		uint64_t pair[2];

		memcpy(pair, raw.data + i, sizeof(pair));
		map_put(&t->pcs, pair[0], pair[1]);
	}
	strbuf_deinit(&raw);
	return err;
}

uint64_t trace_pc_of_site(const struct trace *t, uint32_t site)
{
	return map_get_or(&t->pcs, site, 0);
}

static struct err *load(struct trace *t)
{
	struct err *err = check_header(t);

	if (!err)
		err = read_directory(t);
	if (!err)
		err = read_meta(t);
	if (!err)
		err = check_blocks(t);
	if (!err)
		err = read_pcs(t);
	return err;
}

struct err *trace_open_memory(const char *name, const void *data, size_t len, struct trace **ret)
{
	struct trace *t = xcalloc(1, sizeof(*t));
	struct err *err;

	t->path = xstrdup(name);
	t->data = data;
	t->len = len;
	err = load(t);
	if (err) {
		trace_close(t);
		return err;
	}
	*ret = t;
	return NULL;
}

struct err *trace_open(const char *path, struct trace **ret)
{
	struct trace *t = xcalloc(1, sizeof(*t));
	struct stat st;
	struct err *err;

	t->path = xstrdup(path);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		err = trace_seal_memory(path, NULL, &t->sealed);
		t->data = (const uint8_t *)t->sealed.data;
		t->len = t->sealed.len;
	} else {
		err = file_map_open(path, &t->map);
		t->data = t->map.data;
		t->len = t->map.len;
	}
	if (!err)
		err = load(t);
	if (err) {
		trace_close(t);
		return err;
	}
	*ret = t;
	return NULL;
}

void trace_close(struct trace *t)
{
	struct section_cache *next;

	if (!t)
		return;
	for (struct section_cache *s = t->sections; s; s = next) {
		next = s->next;
		strbuf_deinit(&s->data);
		free(s);
	}
	if (t->map.data)
		file_map_close(&t->map);
	strbuf_deinit(&t->sealed);
	map_deinit(&t->pcs);
	meta_deinit(&t->meta);
	free(t->entries);
	free(t->path);
	free(t);
}

bool trace_has_section(const struct trace *t, const char *name)
{
	return find_entry(t, name) != NULL;
}

struct err *trace_section(struct trace *t, const char *name, const void **ret, size_t *len)
{
	const struct format_entry *e = find_entry(t, name);
	struct section_cache *s;
	struct err *err;

	*ret = NULL;
	*len = 0;
	if (!e)
		return NULL;
	for (s = t->sections; s; s = s->next)
		if (strcmp(s->name, name) == 0)
			break;
	if (!s) {
		s = xcalloc(1, sizeof(*s));
		memcpy(s->name, e->name, sizeof(s->name));
		err = trace_load(t, e, &s->data);
		if (err) {
			strbuf_deinit(&s->data);
			free(s);
			return err;
		}
		s->next = t->sections;
		t->sections = s;
	}
	*ret = strbuf_str(&s->data);
	*len = s->data.len;
	return NULL;
}
