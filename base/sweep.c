/* base/sweep.c - see sweep.h.
 *
 * A signal handler may not walk a tree, but it may fork and exec. So the handler starts
 * rm(1) with the paths that are registered at that moment, waits for it, and dies of the signal.
 * The table is the one piece of state that a handler can reach, hence global. */
#include "base/sweep.h"

#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PATHS = 32, MAX_LENGTH = 512, MAX_TRIES = 10 };
#define LOCK ".lock"

/* A lock is made first and locked a moment later: a young one may belong to somebody. */
enum { YOUNG_SECONDS = 10 };

struct folder {
	char path[MAX_LENGTH]; /* "" = free */
	char lock[MAX_LENGTH + sizeof(LOCK)];
	int fd; /* of the lock; -1 = none */
};

static struct folder folders[MAX_PATHS];
static pid_t owner; /* a child of ours inherits the handler, not the folders */

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

/* ---- when a signal comes ---- */

/* Start rm(1) once. Is everything gone? */
static bool remove_all(char **argv, int n)
{
	pid_t child = fork();
	int status;
	bool gone = true;

	if (child == 0) {
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO); /* we try again */
		execv("/bin/rm", argv);
		_exit(127);
	}
	waitpid(child, &status, 0);
	for (int i = 3; i < n; i++)
		gone &= access(argv[i], F_OK) != 0;
	return gone;
}

static void on_signal(int number)
{
	/* the target lives as long as we do: it may make a file while its folder is being emptied */
	static const struct timespec nap = { .tv_nsec = 10 * 1000 * 1000 };
	char *argv[2 * MAX_PATHS + 4] = { "rm", "-rf", "--" };
	int n = 3;

	for (int i = 0; i < MAX_PATHS; i++)
		if (folders[i].path[0]) {
			argv[n++] = folders[i].path;
			argv[n++] = folders[i].lock;
		}
	if (n > 3 && getpid() == owner)
		for (int tries = 0; tries < MAX_TRIES && !remove_all(argv, n); tries++)
			nanosleep(&nap, NULL);
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	struct sigaction mine = { .sa_handler = on_signal }, old;

	owner = getpid();
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(numbers[i], &mine, NULL);
}

/* ---- the table ---- */

static void lock(struct folder *f)
{
	snprintf(f->lock, sizeof(f->lock), "%s" LOCK, f->path);
	f->fd = open(f->lock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f->fd >= 0 && flock(f->fd, LOCK_EX | LOCK_NB) != 0) {
		unlink(f->lock); /* no locks here: then nobody may take it for free */
		close(f->fd);
		f->fd = -1;
	}
}

void sweep_add(const char *path)
{
	if (strlen(path) >= MAX_LENGTH)
		return;
	for (int i = 0; i < MAX_PATHS; i++)
		if (!folders[i].path[0]) {
			/* its first byte last: a handler must never see half of a path */
			memcpy(folders[i].path + 1, path + 1, strlen(path));
			__atomic_store_n(folders[i].path, path[0], __ATOMIC_SEQ_CST);
			lock(&folders[i]);
			catch_signals();
			return;
		}
}

void sweep_forget(const char *path)
{
	for (int i = 0; i < MAX_PATHS; i++) {
		struct folder *f = &folders[i];

		if (strcmp(f->path, path) != 0)
			continue;
		if (f->fd >= 0) {
			unlink(f->lock);
			close(f->fd);
		}
		f->fd = -1;
		f->path[0] = '\0';
	}
}

int sweep_make(char *path)
{
	sigset_t block, old;
	bool made;
	int saved;

	sigemptyset(&block);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(&block, numbers[i]);
	sigprocmask(SIG_BLOCK, &block, &old);
	made = mkdtemp(path) != NULL;
	saved = errno;
	if (made)
		sweep_add(path);
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return made ? 0 : -1;
}

/* ---- what others have left ---- */

/* Is this the lock of a folder of ours whose owner is gone? */
static bool is_free(const char *path)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool ret = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		   st.st_uid == geteuid() && st.st_mtime + YOUNG_SECONDS < time(NULL) &&
		   flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

void sweep_stale(const char *base, const char *prefix)
{
	DIR *dir = opendir(base);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		size_t len = strlen(d->d_name);
		_cleanup_(xfreep) char *path = NULL;

		if (strncmp(d->d_name, prefix, strlen(prefix)) != 0 || len <= strlen(LOCK) ||
		    strcmp(d->d_name + len - strlen(LOCK), LOCK) != 0)
			continue;
		path = xasprintf("%s/%s", base, d->d_name);
		if (!is_free(path))
			continue;
		path[strlen(path) - strlen(LOCK)] = '\0';
		file_remove_tree(path);
		path[strlen(path)] = LOCK[0];
		unlink(path);
	}
	if (dir)
		closedir(dir);
}
