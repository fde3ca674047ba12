/* test/fuzz/files.c - files beside the plait: profile, store, area, the sites of a binary, and a run
 * folder that nobody sealed. */
#include "test/fuzz/fuzz.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "coop/program.h"
#include "coop/store.h"
#include "deadlock/deadlock.h"
#include "debug/binary.h"
#include "predict/paths.h"
#include "trace/trace.h"
#include "unplait/sites.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void fuzz_profile(const uint8_t *data, size_t len)
{
	static struct coop_program *program;
	static const char *good;
	size_t n;
	bool *chosen = NULL;

	if (!program)
		err_free(coop_program_open(good = fuzz_base("prog"), PLAIT_MODE_ORDER, &program));
	assert(program);
	n = program->elements.len;
	err_free(profile_read(fuzz_file("fuzzed.profile", data, len), program, &chosen));
	free(chosen);
	while (program->elements.len > n) /* synchronisation objects that it named */
		free(vec_pop(&program->elements).name);
}

void fuzz_store(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file("fuzzed.db", data, len);
	struct coop_store *s = NULL;
	struct coop c = { 0 };
	struct map tried = { 0 };
	struct err *err = coop_store_open(path, &s);

	if (!err)
		err = coop_store_load(s, &c);
	if (!err)
		err = coop_store_tried(s, &tried);
	err_free(err);
	map_deinit(&tried);
	coop_deinit(&c);
	coop_store_close(s);
}

/* The index of a path store whose plaits are gone. */
void fuzz_paths(const uint8_t *data, size_t len)
{
	static const char *folder;
	struct paths_texts texts = { 0 };
	struct paths_runs runs = { 0 };
	struct paths *s = NULL;
	char *key = NULL;
	struct err *err;

	if (!folder)
		err_free(file_make_dirs(folder = fuzz_base("path-store")));
	fuzz_file("path-store/paths.db", data, len);
	err = paths_open(folder, &s);
	if (!err)
		err = paths_key(s, &key);
	if (!err)
		err = paths_runs(s, key ? key : "", &runs);
	if (!err)
		err = paths_find(s, key ? key : "", "0.1", "0", 4, &texts);
	err_free(err);
	free(key);
	paths_runs_deinit(&runs);
	paths_texts_deinit(&texts);
	paths_close(s);
}

static bool no_memory(void *context, uint64_t address, void *buf, size_t len)
{
	(void)context, (void)address;
	memset(buf, 0, len);
	return true;
}

void fuzz_area(const uint8_t *data, size_t len)
{
	const struct memory memory = { NULL, no_memory };
	struct snapshot s = { 0 };
	void *aligned = malloc(len + 1);

	memcpy(aligned, data, len);
	err_free(snapshot_parse(aligned, len, len % 2 ? &memory : NULL, &s));
	snapshot_deinit(&s);
	free(aligned);
}

/* The bytes replace the table of sites in a good program. */
void fuzz_sites(const uint8_t *data, size_t len)
{
	static struct file_map program;
	static uint8_t *copy;
	static size_t at, room;
	struct coop_program *p = NULL;
	struct sites *s = NULL;
	const char *path;
	struct err *err;

	if (!copy) {
		static const char *good;
		struct strbuf table = { 0 };
		bool found;

		good = fuzz_base("prog");
		err_free(file_map_open(good, &program));
		err_free(binary_section(good, PLAIT_SECTION_SITES, &table, &found));
		assert(program.len && found);
		copy = xmemdup(program.data, program.len);
		room = table.len;
		at = (size_t)((uint8_t *)memmem(copy, program.len, table.data, room) - copy);
		strbuf_deinit(&table);
	}
	memcpy(copy + at, program.data + at, room);
	memcpy(copy + at, data, MIN(len, room));
	path = fuzz_file("fuzzed", copy, program.len);
	err = sites_open(path, &s);
	for (uint32_t i = 0; !err && i < s->header.nsites; i++) {
		const char *strings[] = { sites_string(s, s->sites[i].file),
					  sites_string(s, s->sites[i].function),
					  sites_string(s, s->sites[i].object) };

		for (size_t k = 0; k < ARRAY_SIZE(strings); k++)
			assert(strlen(strings[k]) < room);
	}
	err_free(err);
	sites_close(s);
	err_free(coop_program_open(path, len % 2 ? PLAIT_MODE_BLOCK : PLAIT_MODE_ORDER, &p));
	coop_program_close(p);
}

/* The bytes, again and again, or some of them. */
static void write_of_size(const char *path, const uint8_t *data, size_t len, size_t size)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	while (len && out.len < size)
		strbuf_add(&out, data, MIN(len, size - out.len));
	err_free(file_write(path, out.data, out.len));
}

/* The first byte says which file of a good run folder the others replace. Cells count only if they have their size. */
void fuzz_folder(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "run", "launch", "w00000", "t00000", "w00001",
					     "pcs", "graph",  "g00001", "c00000" };
	enum { CELLS = ARRAY_SIZE(names) - 1 };
	_cleanup_(strbuf_deinit) struct strbuf sealed = { 0 }, old = { 0 };
	_cleanup_(xfreep) char *path = NULL;
	static const char *folder;
	bool there;

	if (!len)
		return;
	if (!folder)
		folder = fuzz_base("folder");
	path = xasprintf("%s/%s", folder, names[data[0] % ARRAY_SIZE(names)]);
	there = file_exists(path);
	if (there)
		err_free(file_read(path, &old));
	write_of_size(path, data + 1, len - 1,
		      data[0] % ARRAY_SIZE(names) == CELLS && data[0] < 128
			      ? sizeof(struct plait_cells)
			      : len - 1);
	err_free(trace_seal_memory(folder, NULL, &sealed));
	if (sealed.len)
		fuzz_plait((const uint8_t *)sealed.data, sealed.len);
	if (there)
		err_free(file_write(path, old.data, old.len));
	else
		remove(path);
}
