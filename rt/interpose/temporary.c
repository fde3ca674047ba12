/* rt/interpose/temporary.c - names of temporary files, the same in every run.
 *
 * libc draws the six letters inside, where nobody can take the drawing over, so the functions are
 * taken over as a whole. A name that exists is passed over, as libc does it: a program that leaves its
 * temporary files behind gets other names in the next run. The letters for the n-th attempt of the
 * n-th name do not come from random.c's streams, so such an attempt changes no other number. */
#include "rt/interpose/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LETTERS = 6, ATTEMPTS = 10000 };

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

static void write_letters(char *at, uint64_t seed, uint64_t attempt)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	uint64_t word = mixed(seed + mixed(attempt + 1));

	for (int i = 0; i < LETTERS; i++, word /= 62)
		at[i] = letters[word % 62];
}

/* Where the six X are; NULL: they are not there. */
static char *place(char *template, int suffix)
{
	size_t n = strlen(template);

	if (suffix < 0 || n < LETTERS + (size_t)suffix ||
	    memcmp(template + n - (size_t)suffix - LETTERS, "XXXXXX", LETTERS) != 0) {
		errno = EINVAL;
		return NULL;
	}
	return template + n - (size_t)suffix - LETTERS;
}

static int make_file(const char *name, int flags)
{
	return hook_open(name, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
}

static int make_folder(const char *name, int flags)
{
	(void)flags;
	return hook_mkdir(name, 0700);
}

/* Only a name: free as long as nobody takes it. */
static int make_nothing(const char *name, int flags)
{
	struct stat s;

	(void)flags;
	if (lstat(name, &s) == 0)
		errno = EEXIST;
	else if (errno == ENOENT)
		return 0;
	return -1;
}

static int find_name(char *template, int suffix, int flags, int (*make)(const char *, int))
{
	char *at = place(template, suffix);
	uint64_t seed = random_word();
	int r;

	for (uint64_t i = 0; at && i < ATTEMPTS; i++) {
		write_letters(at, seed, i);
		r = make(template, flags);
		if (r >= 0 || errno != EEXIST)
			return r;
	}
	return -1;
}

/* clang-format off: a table. */
#define TEMPORARY(name, params, args, suffix, flags)                                               \
	int hook_##name params                                                                     \
	{                                                                                          \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		return world_is_virtual() ? find_name(template, suffix, flags, make_file)          \
					  : real.name args;                                        \
	}
TEMPORARY(mkstemp, (char *template), (template), 0, 0)
TEMPORARY(mkstemp64, (char *template), (template), 0, 0)
TEMPORARY(mkostemp, (char *template, int flags), (template, flags), 0, flags)
TEMPORARY(mkostemp64, (char *template, int flags), (template, flags), 0, flags)
TEMPORARY(mkstemps, (char *template, int suffix), (template, suffix), suffix, 0)
TEMPORARY(mkstemps64, (char *template, int suffix), (template, suffix), suffix, 0)
TEMPORARY(mkostemps, (char *template, int suffix, int flags), (template, suffix, flags), suffix,
	  flags)
TEMPORARY(mkostemps64, (char *template, int suffix, int flags), (template, suffix, flags), suffix,
	  flags)
/* clang-format on */

char *hook_mkdtemp(char *template)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!world_is_virtual())
		return real.mkdtemp(template);
	return find_name(template, 0, 0, make_folder) < 0 ? NULL : template;
}

char *hook_mktemp(char *template)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!world_is_virtual())
		return real.mktemp(template);
	if (find_name(template, 0, 0, make_nothing) < 0)
		template[0] = 0;
	return template;
}

/* libc finds the folder; the last six letters are ours. */
static char *renamed(char *name)
{
	char *end = name ? name + strlen(name) : NULL;

	if (!world_is_virtual() || !name || end - name < LETTERS)
		return name;
	memcpy(end - LETTERS, "XXXXXX", LETTERS);
	return find_name(name, 0, 0, make_nothing) < 0 ? NULL : name;
}

char *hook_tmpnam(char *name)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return renamed(real.tmpnam(name));
}

char *hook_tmpnam_r(char *name)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return renamed(real.tmpnam_r(name));
}

char *hook_tempnam(const char *folder, const char *prefix)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return renamed(real.tempnam(folder, prefix));
}
