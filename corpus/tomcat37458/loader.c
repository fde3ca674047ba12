/* loader.c - find, read and define classes.
 *
 * The published bug is in find_class_internal(): two requests for a class nobody has used yet both find no
 * loaded class in its entry. The first to get the lock defines the class and drops the bytes. The second one gets the lock
 * later, and defines the class again, from bytes that are gone.
 *
 * The cure looks for the loaded class once more, with the lock held. */
#include "loader.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void loader_init(struct loader *l)
{
	memset(l, 0, sizeof(*l));
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->entries_lock, NULL);
	pthread_mutex_init(&l->packages_lock, NULL);
	l->started = 1;
}

void loader_deinit(struct loader *l)
{
	for (int i = 0; i < l->entries; i++) {
		free(l->entry[i]->binary_content);
		free(l->entry[i]->loaded_class);
		free(l->entry[i]);
	}
	pthread_mutex_destroy(&l->packages_lock);
	pthread_mutex_destroy(&l->entries_lock);
	pthread_mutex_destroy(&l->lock);
}

/* Read a resource from the repository, which is made up: bytes that depend on the name. */
static struct entry *read_resource(const char *name)
{
	struct entry *e = calloc(1, sizeof(*e));
	int length = (int)strlen(name);

	assert(e && length > 0);
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->binary_size = 16;
	e->binary_content = malloc((size_t)e->binary_size);
	assert(e->binary_content);
	for (int i = 0; i < e->binary_size; i++)
		e->binary_content[i] = (unsigned char)(name[i % length] + i);
	e->last_modified = 1;
	return e;
}

/* The entry of a resource, reading the resource if we have not yet. */
static struct entry *find_resource(struct loader *l, const char *name)
{
	struct entry *e = NULL;

	pthread_mutex_lock(&l->entries_lock);
	l->lookups++;
	for (int i = 0; i < l->entries && !e; i++)
		if (strcmp(l->entry[i]->name, name) == 0)
			e = l->entry[i];
	if (!e) {
		assert(l->entries < ENTRIES_MAX);
		e = read_resource(name);
		l->entry[l->entries++] = e;
	}
	pthread_mutex_unlock(&l->entries_lock);
	return e;
}

/* Every class belongs to a package, which is made when its first class is. */
static void define_package(struct loader *l, const char *class_name)
{
	const char *dot = strrchr(class_name, '.');
	int length = dot ? (int)(dot - class_name) : 0;
	int known = 0;

	pthread_mutex_lock(&l->packages_lock);
	for (int i = 0; i < l->packages; i++)
		known |= (int)strlen(l->package[i]) == length &&
			 strncmp(l->package[i], class_name, (size_t)length) == 0;
	if (!known) {
		assert(l->packages < PACKAGES_MAX);
		snprintf(l->package[l->packages++], NAME_MAX_LEN, "%.*s", length, class_name);
	}
	pthread_mutex_unlock(&l->packages_lock);
}

static struct class *define_class(const char *name, const unsigned char *bytes, int size)
{
	struct class *c = calloc(1, sizeof(*c));

	assert(c);
	snprintf(c->name, sizeof(c->name), "%s", name);
	for (int i = 0; i < size; i++)
		c->checksum = c->checksum * 31 + bytes[i];
	return c;
}

static __attribute__((noinline)) struct class *loaded_class_of(const struct entry *e)
{
	return e->loaded_class; /* BUG:a */
}

static struct class *find_class_internal(struct loader *l, const char *name)
{
	struct entry *e = find_resource(l, name);
	struct class *c;

#ifdef FIXED
	define_package(l, name);
	pthread_mutex_lock(&l->lock);
	c = loaded_class_of(e);
	if (c) {
		pthread_mutex_unlock(&l->lock);
		return c;
	}
#else
	c = loaded_class_of(e);
	if (c)
		return c;
	define_package(l, name);
	pthread_mutex_lock(&l->lock);
#endif
	c = define_class(name, e->binary_content, e->binary_size); /* BUG:c */
	e->loaded_class = c;
	free(e->binary_content);
	e->binary_content = NULL; /* BUG:b */
	l->defined++;
	pthread_mutex_unlock(&l->lock);
	return c;
}

struct class *loader_load_class(struct loader *l, const char *name)
{
	if (!l->started)
		return NULL;
	return find_class_internal(l, name);
}

int loader_is_modified(struct loader *l)
{
	int modified = 0;

	pthread_mutex_lock(&l->entries_lock);
	for (int i = 0; i < l->entries; i++)
		modified |= l->entry[i]->last_modified != 1;
	pthread_mutex_unlock(&l->entries_lock);
	return modified;
}
