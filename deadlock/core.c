/* deadlock/core.c - the area inside a core dump.
 *
 * A memfd area is dumped with the default filter (the kernel counts it as shared anonymous memory),
 * so some segment of the core begins with our magic. A file area is not dumped, but the file is
 * still there: the list of mapped files has its path. The core also has the locks themselves, and
 * the registers of each thread, which say what futex it slept on. */
#include "deadlock/deadlock.h"

#include "base/err.h"
#include "base/file.h"
#include "debug/dump.h"

#include <string.h>
#include <sys/syscall.h>

static bool read_memory(void *context, uint64_t address, void *buf, size_t len)
{
	return dump_read(context, address, buf, len);
}

static uint64_t futex_of(void *context, uint32_t tid)
{
	const struct dump *d = context;

	for (size_t i = 0; i < d->threads.len; i++)
		if (d->threads.data[i].tid == tid &&
		    d->threads.data[i].registers.orig_rax == SYS_futex)
			return d->threads.data[i].registers.rdi;
	return 0;
}

static const uint8_t *find_area(const struct dump *d, size_t *len)
{
	for (size_t i = 0; i < d->segments.len; i++) {
		const uint8_t *p = dump_bytes(d, d->segments.data[i].address, len);
		uint64_t magic;

		if (!p || *len < WATCH_PAGE)
			continue;
		memcpy(&magic, p, sizeof(magic));
		if (magic == WATCH_MAGIC)
			return p;
	}
	return NULL;
}

static const char *area_path(const struct dump *d)
{
	for (size_t i = 0; i < d->files.len; i++) {
		const char *path = d->files.data[i].path;
		size_t n = strlen(path);

		if (n > 5 && strcmp(path + n - 5, ".area") == 0)
			return path;
	}
	return NULL;
}

static struct err *parse(struct dump *d, const char *path, struct snapshot *ret, bool *has)
{
	struct memory mem = { d, read_memory };
	struct file_map file = { 0 };
	size_t len = 0;
	const uint8_t *area = find_area(d, &len);
	struct err *err = NULL;

	if (!area && area_path(d)) {
		err = file_map_open(area_path(d), &file);
		area = file.data;
		len = file.len;
	}
	if (err)
		return err_wrap(err, "%s: its area was a file of its own", path);
	*has = area != NULL;
	if (!area)
		return NULL;
	err = snapshot_parse(area, len, &mem, ret);
	if (file.data)
		file_map_close(&file);
	return err_wrap(err, "%s", path);
}

struct err *snapshot_from_core(const char *path, struct snapshot *ret, bool *has)
{
	struct dump d;
	struct err *err = dump_open(path, &d);

	*ret = (struct snapshot){ 0 };
	*has = false;
	if (!err)
		err = parse(&d, path, ret, has);
	if (!err && *has) {
		snapshot_refine(ret, futex_of, &d);
		snapshot_name_program(ret);
	}
	dump_close(&d);
	return err;
}
