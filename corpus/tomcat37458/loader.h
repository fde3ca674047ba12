/* loader.h - the class loader of a web application, shaped like Tomcat's: it finds a class among the resources of
 * its repositories, defines it once, keeps it, and throws the bytes away that it was defined from. */
#ifndef LOADER_H
#define LOADER_H

#include <pthread.h>

#define NAME_MAX_LEN 32
#define ENTRIES_MAX 32
#define PACKAGES_MAX 8

/* A defined class. */
struct class {
	char name[NAME_MAX_LEN];
	unsigned checksum; /* of its bytes: what a method call returns */
	int instances;
};

/* What the loader knows about a resource. */
struct entry {
	char name[NAME_MAX_LEN];
	unsigned char *binary_content; /* NULL once the class is defined */
	int binary_size;
	int last_modified;
	struct class *loaded_class; /* NULL until it is defined */
};

struct loader {
	pthread_mutex_t lock; /* defining a class */
	pthread_mutex_t entries_lock;
	struct entry *entry[ENTRIES_MAX];
	int entries;
	pthread_mutex_t packages_lock;
	char package[PACKAGES_MAX][NAME_MAX_LEN];
	int packages;
	int started;
	int lookups, defined;
};

void loader_init(struct loader *l);
void loader_deinit(struct loader *l);
/* The class of that name; the same one for all callers. */
struct class *loader_load_class(struct loader *l, const char *name);
/* Has a resource changed since it was read? */
int loader_is_modified(struct loader *l);

#endif
