/* cc/driver/objects.h - which objects a link used, and the bitcode they carry. */
#ifndef CC_DRIVER_OBJECTS_H
#define CC_DRIVER_OBJECTS_H

#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct blob {
	uint8_t *data; /* owned */
	size_t len;
};

/* One object that took part in the link. */
struct object {
	char *path;	   /* the object or archive, as the linker names it */
	char *member;	   /* in an archive; NULL for a plain object */
	uint64_t lto_size; /* of its bitcode, as the map says; tells members of one name apart */
	int64_t offset;	   /* of the member in its archive, once it is loaded */
	VEC(struct blob) blobs;
	bool has_bitcode;
	struct strbuf source;  /* .plait.bc0, as it is */
	VEC(char *) undefined; /* of an object without bitcode */
};

struct object_list VEC_FIELDS(struct object);

/* Read the linker's map file (GNU ld, gold or lld) and fill the list in link order. Names that the
 * linker made up ("<internal>") and start-up files are included when they exist as files. */
struct err *objects_from_map(const char *map_path, struct object_list *ret);
/* Take the bitcode out of each object. */
struct err *objects_load(struct object_list *list);
void objects_deinit(struct object_list *list);

/* The symbols that objects without bitcode need from elsewhere. */
struct names;
void objects_external_refs(const struct object_list *list, struct names *ret);

/* Write to `out` a copy of archive `path` without the members that have bitcode in the list.
 * *empty says that nothing is left (then no file is written). */
struct err *objects_filter_archive(const struct object_list *list, const char *path,
				   const char *out, bool *empty);

#endif
