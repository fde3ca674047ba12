#include "base/secret.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nobody else can read it, and nobody else has written it. */
static bool is_private(const struct stat *st)
{
	return st->st_uid == geteuid() && (st->st_mode & 077) == 0;
}

static bool read_key(const char *path, uint8_t *ret, size_t len)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	bool good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_private(&st) &&
		    read(fd, ret, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Complete before it has its name; if somebody was quicker, theirs stays. */
static void make_key(const char *path, size_t len)
{
	_cleanup_(xfreep) char *temporary = xasprintf("%s.%d", path, (int)getpid());
	uint8_t key[64];
	int fd;

	if (len > sizeof(key) || getrandom(key, len, 0) != (ssize_t)len)
		return;
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, key, len) == (ssize_t)len && link(temporary, path) != 0 &&
	    access(path, F_OK) != 0)
		rename(temporary, path); /* a file system without links */
	close(fd);
	unlink(temporary);
}

static bool key_in(const char *dir, uint8_t *ret, size_t len)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/key", dir);

	if (read_key(path, ret, len))
		return true;
	make_key(path, len);
	return read_key(path, ret, len);
}

/* As the desktops agreed: $XDG_STATE_HOME, or ~/.local/state. Owned; NULL when there is no home. */
static char *state_dir(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const struct passwd *user;

	if (state && state[0] == '/')
		return xasprintf("%s/unplait", state);
	if (!home || home[0] != '/') {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : NULL;
	}
	return home ? xasprintf("%s/.local/state/unplait", home) : NULL;
}

/* Everybody may write in /tmp: a folder of that name counts only if it is ours alone. */
static bool key_in_tmp(uint8_t *ret, size_t len)
{
	_cleanup_(xfreep) char *dir = xasprintf("/tmp/unplait-%u", (unsigned)geteuid());
	struct stat st;

	mkdir(dir, 0700);
	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && is_private(&st) &&
	       key_in(dir, ret, len);
}

bool secret_get(uint8_t *ret, size_t len)
{
	_cleanup_(xfreep) char *dir = state_dir();
	struct err *err = dir ? file_make_dirs(dir) : NULL;
	bool found = dir && !err && key_in(dir, ret, len);

	err_free(err);
	return found || key_in_tmp(ret, len);
}
