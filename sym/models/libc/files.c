/* Files, folders, pipes: the POSIX side. */
#include "files.h"
#include "model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <termios.h>
#include <unistd.h>

struct open_file sym_open_files[MAX_FILES] = {
	[0] = { .used = 2, .flags = O_RDONLY },
	[1] = { .used = 3, .flags = O_WRONLY },
	[2] = { .used = 4, .flags = O_WRONLY },
};
static struct node nodes[MAX_NODES];
static unsigned file_mask = 022;

/* What the run gives us as standard input. */
const char *sym_stdin_data;
size_t sym_stdin_len;

const char *sym_node_name(const char *path)
{
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	return path;
}

struct node *sym_node_find(const char *path)
{
	path = sym_node_name(path);
	for (int i = 0; i < MAX_NODES && nodes[i].name; i++)
		if (nodes[i].kind && !strcmp(nodes[i].name, path))
			return &nodes[i];
	return NULL;
}

static struct node *node_new(const char *path, int kind, unsigned mode)
{
	for (int i = 0; i < MAX_NODES; i++)
		if (!nodes[i].kind) {
			nodes[i].name = strdup(sym_node_name(path));
			nodes[i].kind = kind;
			nodes[i].mode = mode;
			nodes[i].data = NULL;
			nodes[i].len = nodes[i].cap = nodes[i].read_at = 0;
			return &nodes[i];
		}
	sym_refuse("more files than the model file system holds");
}

static struct node *from_host(const char *path)
{
	long size = sym_host_size(path);
	struct node *n;

	if (size < 0)
		return NULL;
	n = node_new(path, NODE_FILE, 0644);
	n->data = malloc((size_t)size + 1);
	n->len = n->cap = (size_t)size;
	sym_host_read(path, n->data, (size_t)size);
	return n;
}

static int fail(int e)
{
	errno = e;
	return -1;
}

static int new_fd(int used, struct node *n, int flags)
{
	for (int i = 0; i < MAX_FILES; i++)
		if (!sym_open_files[i].used) {
			sym_open_files[i].used = used;
			sym_open_files[i].node = n;
			sym_open_files[i].flags = flags;
			sym_open_files[i].pos = 0;
			return i;
		}
	return fail(EMFILE);
}

int open(const char *path, int flags, ...)
{
	struct node *n;
	unsigned mode = 0;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, unsigned);
		va_end(ap);
	}
	if (!*path)
		return fail(ENOENT);
	if (!strcmp(path, "/dev/null"))
		return new_fd(1, node_new(path, NODE_DEVICE, 0666), flags);
	n = sym_node_find(path);
	if (n && (flags & O_CREAT) && (flags & O_EXCL))
		return fail(EEXIST);
	if (!n)
		n = from_host(path);
	if (!n && !(flags & O_CREAT))
		return fail(ENOENT);
	if (!n)
		n = node_new(path, NODE_FILE, mode & ~file_mask);
	if (n->kind == NODE_DIR && (flags & 3) != O_RDONLY)
		return fail(EISDIR);
	if (flags & O_TRUNC)
		n->len = 0;
	return new_fd(1, n, flags);
}
int open64(const char *path, int flags, ...)
{
	unsigned mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, unsigned);
	va_end(ap);
	return open(path, flags, mode);
}
int openat(int dir, const char *path, int flags, ...)
{
	unsigned mode = 0;
	va_list ap;

	(void)dir;
	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, unsigned);
	va_end(ap);
	return open(path, flags, mode);
}
int creat(const char *path, mode_t mode)
{
	return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

static struct open_file *file_of(int fd)
{
	return fd >= 0 && fd < MAX_FILES && sym_open_files[fd].used ? &sym_open_files[fd] : NULL;
}

int close(int fd)
{
	struct open_file *f = file_of(fd);

	if (!f)
		return fail(EBADF);
	f->used = 0;
	return 0;
}

long sym_fd_read(int fd, void *buf, size_t n)
{
	struct open_file *f = file_of(fd);
	const char *data;
	size_t len;

	if (!f)
		return fail(EBADF);
	if (f->used == 5) { /* a pipe: what is there; empty is the end */
		size_t have = f->node->len - f->node->read_at;

		n = n < have ? n : have;
		memcpy(buf, f->node->data + f->node->read_at, n);
		f->node->read_at += n;
		return (long)n;
	}
	if (f->used > 2)
		return fail(EBADF);
	if (f->used == 1 && f->node->kind == NODE_DIR)
		return fail(EISDIR);
	data = f->used == 2 ? sym_stdin_data : f->node->data;
	len = f->used == 2 ? sym_stdin_len : f->node->len;
	if (f->used == 1 && f->node->kind != NODE_FILE)
		len = 0;
	if (f->pos >= len)
		return 0;
	n = n < len - f->pos ? n : len - f->pos;
	memcpy(buf, data + f->pos, n);
	f->pos += n;
	return (long)n;
}

static long node_write(struct node *n, size_t at, const void *buf, size_t len)
{
	if (n->kind == NODE_DEVICE)
		return (long)len;
	if (at + len > n->cap) {
		size_t cap = (at + len) * 2;
		char *data = realloc(n->data, cap);

		if (!data)
			return fail(ENOSPC);
		memset(data + n->cap, 0, cap - n->cap);
		n->data = data;
		n->cap = cap;
	}
	memcpy(n->data + at, buf, len);
	if (at + len > n->len)
		n->len = at + len;
	return (long)len;
}

long sym_fd_write(int fd, const void *buf, size_t n)
{
	struct open_file *f = file_of(fd);
	long r;

	if (!f || f->used == 2 || (f->used == 1 && (f->flags & 3) == O_RDONLY))
		return fail(EBADF);
	if (f->used == 3 || f->used == 4) {
		sym_output(f->used - 2, buf, n);
		return (long)n;
	}
	if (f->used == 5 || (f->flags & O_APPEND))
		f->pos = f->node->len;
	r = node_write(f->node, f->pos, buf, n);
	if (r > 0)
		f->pos += (size_t)r;
	return r;
}

ssize_t read(int fd, void *buf, size_t n)
{
	return sym_fd_read(fd, buf, n);
}
ssize_t write(int fd, const void *buf, size_t n)
{
	return sym_fd_write(fd, buf, n);
}

off_t lseek(int fd, off_t at, int whence)
{
	struct open_file *f = file_of(fd);

	if (!f)
		return fail(EBADF);
	if (f->used != 1)
		return fail(ESPIPE);
	if (whence == SEEK_CUR)
		at += (off_t)f->pos;
	else if (whence == SEEK_END)
		at += (off_t)f->node->len;
	if (at < 0)
		return fail(EINVAL);
	f->pos = (size_t)at;
	return at;
}
off_t lseek64(int fd, off_t at, int whence)
{
	return lseek(fd, at, whence);
}

ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
	struct open_file *f = file_of(fd);
	size_t saved;
	ssize_t r;

	if (!f || f->used != 1)
		return fail(EBADF);
	saved = f->pos;
	f->pos = (size_t)at;
	r = sym_fd_read(fd, buf, n);
	f->pos = saved;
	return r;
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	struct open_file *f = file_of(fd);

	if (!f || f->used != 1)
		return fail(EBADF);
	return node_write(f->node, (size_t)at, buf, n);
}

static void fill_stat(struct stat *st, int kind, unsigned mode, size_t len)
{
	memset(st, 0, sizeof(*st));
	st->st_mode = mode | (kind == NODE_DIR	    ? S_IFDIR
			      : kind == NODE_FIFO   ? S_IFIFO
			      : kind == NODE_DEVICE ? S_IFCHR
						    : S_IFREG);
	st->st_size = (off_t)len;
	st->st_nlink = 1;
	st->st_blksize = 4096;
	st->st_uid = st->st_gid = 1000;
}

int stat(const char *path, struct stat *st)
{
	struct node *n;

	path = sym_node_name(path);
	if (!*path)
		return fail(ENOENT);
	if (!strcmp(path, ".") || !strcmp(path, "/") || !strcmp(path, "..")) {
		fill_stat(st, NODE_DIR, 0755, 4096);
		return 0;
	}
	n = sym_node_find(path);
	if (!n)
		n = from_host(path);
	if (!n)
		return fail(ENOENT);
	fill_stat(st, n->kind, n->mode, n->len);
	return 0;
}
int lstat(const char *path, struct stat *st)
{
	return stat(path, st);
}
int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}
int lstat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

int fstat(int fd, struct stat *st)
{
	struct open_file *f = file_of(fd);

	if (!f)
		return fail(EBADF);
	if (f->used == 1)
		fill_stat(st, f->node->kind, f->node->mode, f->node->len);
	else
		fill_stat(st, NODE_FIFO, 0600, 0);
	return 0;
}
int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

static int make(const char *path, int kind, unsigned mode)
{
	struct stat st;

	if (!*path)
		return fail(ENOENT);
	if (!stat(path, &st))
		return fail(EEXIST);
	node_new(path, kind, mode & ~file_mask & 07777);
	return 0;
}
int mkdir(const char *path, mode_t mode)
{
	return make(path, NODE_DIR, mode);
}
int mkfifo(const char *path, mode_t mode)
{
	return make(path, NODE_FIFO, mode);
}
int mknod(const char *path, mode_t mode, dev_t dev)
{
	(void)dev;
	if ((mode & S_IFMT) == S_IFCHR || (mode & S_IFMT) == S_IFBLK)
		return fail(EPERM); /* as for everybody but root */
	return make(path, (mode & S_IFMT) == S_IFIFO ? NODE_FIFO : NODE_FILE, mode);
}

int unlink(const char *path)
{
	struct node *n = sym_node_find(path);

	if (!n)
		return fail(ENOENT);
	if (n->kind == NODE_DIR)
		return fail(EISDIR);
	n->kind = NODE_FREE;
	return 0;
}
int rmdir(const char *path)
{
	struct node *n = sym_node_find(path);

	if (!n || n->kind != NODE_DIR)
		return fail(n ? ENOTDIR : ENOENT);
	n->kind = NODE_FREE;
	return 0;
}
int remove(const char *path)
{
	struct node *n = sym_node_find(path);

	return n && n->kind == NODE_DIR ? rmdir(path) : unlink(path);
}
int rename(const char *from, const char *to)
{
	struct node *n = sym_node_find(from), *old = sym_node_find(to);

	if (!n)
		return fail(ENOENT);
	if (old)
		old->kind = NODE_FREE;
	n->name = strdup(sym_node_name(to));
	return 0;
}
int access(const char *path, int mode)
{
	struct stat st;

	(void)mode;
	return stat(path, &st);
}
int chmod(const char *path, mode_t mode)
{
	struct node *n = sym_node_find(path);

	if (!n)
		return fail(ENOENT);
	n->mode = mode & 07777;
	return 0;
}
int fchmod(int fd, mode_t mode)
{
	(void)fd;
	(void)mode;
	return 0;
}
int chown(const char *path, uid_t u, gid_t g)
{
	(void)u;
	(void)g;
	return sym_node_find(path) ? 0 : fail(ENOENT);
}
mode_t umask(mode_t mask)
{
	unsigned old = file_mask;

	file_mask = mask & 0777;
	return old;
}
int ftruncate(int fd, off_t len)
{
	struct open_file *f = file_of(fd);

	if (!f || f->used != 1)
		return fail(EBADF);
	if ((size_t)len > f->node->len)
		node_write(f->node, (size_t)len - 1, "", 1);
	f->node->len = (size_t)len;
	return 0;
}
int ftruncate64(int fd, off_t len)
{
	return ftruncate(fd, len);
}
int fsync(int fd)
{
	return file_of(fd) ? 0 : fail(EBADF);
}
int fdatasync(int fd)
{
	return fsync(fd);
}
int isatty(int fd)
{
	(void)fd;
	return fail(ENOTTY);
}
/* There is no terminal. */
int tcgetattr(int fd, struct termios *ret)
{
	(void)fd;
	(void)ret;
	return fail(ENOTTY);
}
int tcsetattr(int fd, int when, const struct termios *to)
{
	(void)fd;
	(void)when;
	(void)to;
	return fail(ENOTTY);
}
int dup(int fd)
{
	struct open_file *f = file_of(fd);
	int n;

	if (!f)
		return fail(EBADF);
	n = new_fd(f->used, f->node, f->flags);
	if (n >= 0)
		sym_open_files[n] = *f;
	return n;
}
int dup2(int fd, int to)
{
	if (!file_of(fd) || to < 0 || to >= MAX_FILES)
		return fail(EBADF);
	sym_open_files[to] = sym_open_files[fd];
	return to;
}
int pipe(int fds[2])
{
	struct node *n = node_new("(pipe)", NODE_FIFO, 0600);

	fds[0] = new_fd(5, n, O_RDONLY);
	fds[1] = new_fd(5, n, O_WRONLY);
	return fds[1] < 0 ? -1 : 0;
}
/* Locks on files keep other processes out. The machine has one process, so they always succeed. */
static int control(int fd, int cmd, void *arg)
{
	struct open_file *f = file_of(fd);

	if (!f)
		return fail(EBADF);
	if (cmd == F_GETLK)
		((struct flock *)arg)->l_type = F_UNLCK;
	return cmd == F_GETFL ? f->flags : 0;
}
int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = cmd == F_GETLK ? va_arg(ap, void *) : NULL;
	va_end(ap);
	return control(fd, cmd, arg);
}
int fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = cmd == F_GETLK ? va_arg(ap, void *) : NULL;
	va_end(ap);
	return control(fd, cmd, arg);
}
int chdir(const char *path)
{
	(void)path;
	sym_refuse("chdir in the model file system");
}
char *getcwd(char *buf, size_t n)
{
	if (!buf)
		buf = malloc(n ? n : 8);
	if (buf)
		strcpy(buf, "/");
	return buf;
}

/* --- folders: one level, in order of creation --- */

struct folder {
	int next;
	size_t prefix;
	char *name;
	struct dirent entry;
};

DIR *opendir(const char *path)
{
	struct stat st;
	struct folder *d;

	if (stat(path, &st))
		return NULL;
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return NULL;
	}
	d = calloc(1, sizeof(*d));
	path = sym_node_name(path);
	d->name = strdup(!strcmp(path, ".") ? "" : path);
	d->prefix = strlen(d->name);
	d->next = -2;
	return (DIR *)d;
}

struct dirent *readdir(DIR *dir)
{
	struct folder *d = (struct folder *)dir;

	memset(&d->entry, 0, sizeof(d->entry));
	if (d->next < 0) {
		strcpy(d->entry.d_name, d->next == -2 ? "." : "..");
		d->next++;
		d->entry.d_type = DT_DIR;
		return &d->entry;
	}
	while (d->next < MAX_NODES) {
		struct node *n = &nodes[d->next++];
		const char *name = n->name;

		if (!n->kind)
			continue;
		if (d->prefix) {
			if (strncmp(name, d->name, d->prefix) || name[d->prefix] != '/')
				continue;
			name += d->prefix + 1;
		}
		if (strchr(name, '/'))
			continue;
		strncpy(d->entry.d_name, name, sizeof(d->entry.d_name) - 1);
		d->entry.d_type = n->kind == NODE_DIR	 ? DT_DIR
				  : n->kind == NODE_FIFO ? DT_FIFO
							 : DT_REG;
		return &d->entry;
	}
	return NULL;
}
struct dirent64 *readdir64(DIR *dir)
{
	return (struct dirent64 *)readdir(dir);
}
int closedir(DIR *dir)
{
	free(((struct folder *)dir)->name);
	free(dir);
	return 0;
}

/* --- who we are: always the same --- */
pid_t getpid(void)
{
	return 1000;
}
pid_t getppid(void)
{
	return 1;
}
uid_t getuid(void)
{
	return 1000;
}
uid_t geteuid(void)
{
	return 1000;
}
gid_t getgid(void)
{
	return 1000;
}
gid_t getegid(void)
{
	return 1000;
}
pid_t gettid(void)
{
	return 1000;
}
long sysconf(int name)
{
	return name == _SC_PAGESIZE					      ? 4096
	       : name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 2
									      : -1;
}
int getpagesize(void)
{
	return 4096;
}
pid_t fork(void)
{
	sym_refuse("fork: the machine runs one process");
}
int execve(const char *p, char *const a[], char *const e[])
{
	(void)p;
	(void)a;
	(void)e;
	sym_refuse("exec: the machine runs one program");
}
