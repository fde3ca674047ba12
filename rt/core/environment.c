/* rt/core/environment.c - the environment, and the options in it.
 *
 * rt_init may run before libc has set up `environ`. Then the environment is read from /proc. */
#include "rt/core/rt.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The UNPLAIT_ variables of /proc/self/environ, when environ is not there yet. */
static char environment[2 * PATH_MAX];
static char options[1024];

/* Keep a variable only while its name is a prefix of ours: the whole environment may be large. */
static void read_environment(void)
{
	static const char ours[] = "UNPLAIT_";
	long fd = rt_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/environ", O_RDONLY | O_CLOEXEC,
			     0, 0, 0);
	size_t len = 0, at = 0; /* kept; in this variable */
	bool kept = true;
	char buf[4096];
	long n;

	while (fd >= 0 && (n = rt_syscall(SYS_read, fd, (long)buf, sizeof(buf), 0, 0, 0)) > 0) {
		for (long i = 0; i < n; i++) {
			if (kept && at < sizeof(ours) - 1 && buf[i] != ours[at]) {
				kept = false;
				len -= at;
			}
			if (kept && len < sizeof(environment) - 2)
				environment[len++] = buf[i];
			at = buf[i] ? at + 1 : 0;
			kept = kept || !buf[i];
		}
	}
	environment[len] = environment[len + 1] = 0;
	if (fd >= 0)
		rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* A program with more rights than its user (setuid, file capabilities) must not take orders, least
 * of all the names of files to write, from the user's environment. */
const char *rt_getenv(const char *name)
{
	size_t len = strlen(name);

	if (getauxval(AT_SECURE))
		return NULL;
	if (environ)
		return getenv(name);
	if (!environment[0])
		read_environment();
	for (const char *e = environment; *e; e += strlen(e) + 1)
		if (strncmp(e, name, len) == 0 && e[len] == '=')
			return e + len + 1;
	return NULL;
}

void rt_options_read(void)
{
	const char *o = rt_getenv(PLAIT_ENV_OPTIONS);

	for (size_t i = 0; o && o[i] && i < sizeof(options) - 1; i++)
		options[i] = o[i];
}

/* The value is a copy that ends at the comma, in a buffer of this function's. */
const char *rt_option_value(const char *name)
{
	static char value[1024];
	size_t len = strlen(name);

	for (const char *o = options; *o;) {
		size_t word = strcspn(o, ",");

		if (word >= len && strncmp(o, name, len) == 0 && (word == len || o[len] == '=')) {
			size_t n = word == len ? 0 : word - len - 1;

			memcpy(value, o + word - n, n);
			value[n] = 0;
			return value;
		}
		o += word + (o[word] == ',');
	}
	return NULL;
}

bool rt_option(const char *name)
{
	return rt_option_value(name) != NULL;
}
