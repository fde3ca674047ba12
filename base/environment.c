/* base/environment.c - see environment.h. */
#include "base/environment.h"

#include <unistd.h>

/* Keep the array usable by execve(): the terminator is there, and not counted. */
static void terminate(struct environment *e)
{
	vec_push(e, NULL);
	e->len--;
}

static char **lookup(const struct environment *e, const char *name, size_t len)
{
	for (size_t i = 0; i < e->len; i++)
		if (strncmp(e->data[i], name, len) == 0 && e->data[i][len] == '=')
			return &e->data[i];
	return NULL;
}

void environment_copy(struct environment *e)
{
	assert(e->len == 0);
	for (char **entry = environ; entry && *entry; entry++)
		vec_push(e, xstrdup(*entry));
	terminate(e);
}

static void remove_all(struct environment *e, const char *name)
{
	char **entry;

	while ((entry = lookup(e, name, strlen(name)))) {
		free(*entry);
		*entry = e->data[--e->len];
	}
}

void environment_set(struct environment *e, const char *name, const char *value)
{
	assert(*name && !strchr(name, '='));
	remove_all(e, name);
	if (value)
		vec_push(e, xasprintf("%s=%s", name, value));
	terminate(e);
}

void environment_put(struct environment *e, const char *entry)
{
	_cleanup_(xfreep) char *name = xstrndup(entry, strcspn(entry, "="));

	assert(entry[strlen(name)] == '=');
	environment_set(e, name, entry + strlen(name) + 1);
}

const char *environment_find(const struct environment *e, const char *name)
{
	char **entry = lookup(e, name, strlen(name));

	return entry ? *entry + strlen(name) + 1 : NULL;
}

void environment_prepend(struct environment *e, const char *name, const char *value)
{
	const char *old = environment_find(e, name);
	_cleanup_(xfreep) char *both =
		old && *old ? xasprintf("%s:%s", value, old) : xstrdup(value);

	environment_set(e, name, both);
}

void environment_deinit(struct environment *e)
{
	for (size_t i = 0; i < e->len; i++)
		free(e->data[i]);
	vec_deinit(e);
}
