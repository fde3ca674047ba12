/* rewind/objects.h - private to rewind/: the objects of the program: variables, blocks of the heap, locals of frames. */
#ifndef REWIND_OBJECTS_H
#define REWIND_OBJECTS_H

#include "rewind/rewind.h"

struct object {
	uint64_t base, size;
};

/* The moment at which the link's instruction ran; NULL when it is not known. In the history's arena. */
const struct past *link_moment(struct rewind *r, const struct link *l);

/* The object around an address. when: the moment whose frames have the locals; NULL = only globals and the heap. */
bool object_at(struct rewind *r, const struct past *when, uint64_t address, struct object *ret);
/* Its name is appended: "line[3] of main", else as dump_names_add_object() says. */
void object_add_name(struct rewind *r, const struct past *when, uint64_t address,
		     struct strbuf *out);

/* Did the write of this link leave its object? It is one of a row of writes, or a call, that began inside an object and
 * came behind its end. *from: an address in that object. */
bool object_left(struct rewind *r, const struct link *l, uint64_t *from);

/* The call that freed the block at `start` before the link happened: the address of its instruction; 0 = the suffix
 * has none. */
uint64_t object_freed_at(struct rewind *r, uint64_t start, const struct link *l);

#endif
