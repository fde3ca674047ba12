#include "base/file.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOM (1ull << 30) /* a recording of a hundred million events */

static void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static struct err *read_all(int fd, const char *path, struct strbuf *ret)
{
	char buf[65536];

	for (;;) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(errno, "cannot read %s", path);
		if (n == 0)
			return NULL;
		strbuf_add(ret, buf, (size_t)n);
	}
}

struct err *file_read(const char *path, struct strbuf *ret)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(errno, "cannot open %s", path);
	return read_all(fd, path, ret);
}

struct err *file_map_open(const char *path, struct file_map *ret)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct strbuf sb = { 0 };
	struct err *err;
	struct stat st;
	void *p;

	memset(ret, 0, sizeof(*ret));
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(errno, "cannot open %s", path);
	if (S_ISDIR(st.st_mode))
		return err_new(ERR_ENV, "cannot open %s: it is a folder", path);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) /* /dev/zero has no end */
		return err_new(ERR_ENV, "cannot open %s: it is a device", path);
	if (S_ISREG(st.st_mode) && st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED) {
			*ret = (struct file_map){ p, (size_t)st.st_size, true };
			return NULL;
		}
	}
	err = read_all(fd, path, &sb);
	if (err) {
		strbuf_deinit(&sb);
		return err;
	}
	ret->len = sb.len;
	ret->data = (uint8_t *)strbuf_detach(&sb);
	return NULL;
}

void file_map_close(struct file_map *m)
{
	if (m->mapped)
		munmap((void *)m->data, m->len);
	else
		free((void *)m->data);
	memset(m, 0, sizeof(*m));
}

bool file_is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* A new file beside `path`. Somebody else may own the folder: what is there already is never opened,
 * and no link is followed. */
static int open_beside(const char *path, char **ret)
{
	int fd = -1;

	for (unsigned i = 0; i < 100 && fd < 0; i++) {
		char *name = xasprintf("%s.%d-%u.tmp", path, (int)getpid(), i);

		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0) {
			*ret = name;
			return fd;
		}
		free(name);
		if (errno != EEXIST)
			break;
	}
	return fd;
}

struct err *file_out_open(const char *path, struct file_out *ret)
{
	int fd;

	*ret = (struct file_out){ .path = xstrdup(path) };
	if (file_is_special(path))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		fd = open_beside(path, &ret->temporary);
	ret->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (ret->stream)
		return NULL;
	file_out_deinit(ret);
	return err_errno(errno, "cannot write %s", path);
}

struct err *file_out_commit(struct file_out *o)
{
	bool bad = fflush(o->stream) != 0 || ferror(o->stream);
	int why = bad ? errno : 0;

	if (fclose(o->stream) != 0 && !bad) {
		bad = true;
		why = errno;
	}
	o->stream = NULL;
	if (!bad && o->temporary && rename(o->temporary, o->path) != 0) {
		bad = true;
		why = errno;
	}
	if (bad)
		return err_errno(why ? why : EIO, "cannot write %s", o->path);
	free(o->temporary);
	o->temporary = NULL;
	return NULL;
}

void file_out_deinit(struct file_out *o)
{
	int saved = errno;

	if (o->stream)
		fclose(o->stream);
	if (o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	free(o->path);
	*o = (struct file_out){ 0 };
	errno = saved;
}

struct err *file_write(const char *path, const void *data, size_t len)
{
	_cleanup_(file_out_deinit) struct file_out out = { 0 };
	struct err *err = file_out_open(path, &out);

	if (err)
		return err;
	fwrite(data, 1, len, out.stream);
	return file_out_commit(&out);
}

#define TEMP_PREFIX "unplait-"

/* *swept: did we look for what others have left there? Once per process is enough. */
static struct err *temp_dir_in(const char *base, bool *swept, char **ret)
{
	char *path = xasprintf("%s/" TEMP_PREFIX "XXXXXX", base);
	struct err *err;

	if (!*swept)
		sweep_stale(base, TEMP_PREFIX);
	*swept = true;
	if (sweep_make(path) != 0) {
		err = err_errno(errno, "cannot make a temporary folder like %s", path);
		free(path);
		return err;
	}
	*ret = path;
	return NULL;
}

struct err *file_temp_dir(char **ret)
{
	const char *base = getenv("TMPDIR");
	static bool swept;

	return temp_dir_in(base && *base ? base : "/tmp", &swept, ret);
}

struct err *file_temp_dir_fast(char **ret)
{
	const char *base = getenv("TMPDIR"), *memory = "/dev/shm";
	static bool swept;
	struct statvfs st;

	if ((base && *base) || access(memory, W_OK) || statvfs(memory, &st) ||
	    (uint64_t)st.f_bavail * st.f_frsize < ROOM)
		return file_temp_dir(ret);
	return temp_dir_in(memory, &swept, ret);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void file_remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	sweep_forget(path);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct err *file_make_dirs(const char *path)
{
	_cleanup_(xfreep) char *copy = xstrdup(path);

	for (char *p = copy + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) < 0 && (errno != EEXIST || !is_folder(copy)))
			return err_errno(errno == EEXIST ? ENOTDIR : errno,
					 "cannot make the folder %s", copy);
		*p = c;
		if (c == '\0')
			return NULL;
	}
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

char *file_self(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	return n > 0 && n < (ssize_t)sizeof(path) ? xstrndup(path, (size_t)n) : xstrdup("unplait");
}

char *file_find_part(const char *what)
{
	static const char *const places[] = { "", "../lib/unplait/", "../share/unplait/" };
	_cleanup_(xfreep) char *self = file_self();
	char *slash = strrchr(self, '/');

	if (!slash)
		return NULL;
	slash[1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *path = xasprintf("%s%s%s", self, places[i], what);

		if (file_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

char *file_find_program(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? xstrdup(name) : NULL;
	while (path && *path) {
		size_t len = strcspn(path, ":");
		char *full = xasprintf("%.*s/%s", (int)len, path, name);

		if (len && access(full, X_OK) == 0)
			return full;
		free(full);
		path += len;
		path += *path == ':';
	}
	return NULL;
}
