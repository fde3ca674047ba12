/* debug/text.h - the code of a module: its bytes, and where its functions begin and end.
 *
 * Functions come from the unwind tables (.eh_frame_hdr), which stripped binaries have, too. All
 * addresses are the file's own; add the module's bias for those of a process. The file is mapped and
 * never believed. */
#ifndef DEBUG_TEXT_H
#define DEBUG_TEXT_H

#include "base/file.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct dump;
struct dump_module;
struct err;

struct text_range {
	uint64_t low, high;
};

/* A loadable segment of the file. */
struct text_segment {
	uint64_t address, size; /* in memory */
	uint64_t at, there;	/* in the file */
	uint32_t flags;		/* PF_R, PF_W, PF_X */
};

struct text {
	struct file_map map;
	uint8_t *own; /* the bytes of `map`, when they are not a file's; NULL */
	VEC(struct text_segment) segments;
	VEC(struct text_range) functions; /* by low */
	uint64_t entry;
	uint64_t dynamic; /* address of the dynamic section; 0 = none */
};

struct err *text_open(const char *path, struct text *ret);
/* The file is missing: what the dump has of it (image.c). False when that is no function at all. */
bool text_of_dump(const struct dump *d, const struct dump_module *m, struct text *ret);
void text_close(struct text *t); /* also after an error of text_open */
/* Read the table of functions (.eh_frame_hdr) at an address. For readers. */
void text_read_functions(struct text *t, uint64_t header);

/* The bytes of the file from an address on, *len of them; NULL when there are none. */
const uint8_t *text_bytes(const struct text *t, uint64_t address, size_t *len);
/* The segment that an address lies in; NULL when there is none. */
const struct text_segment *text_segment_at(const struct text *t, uint64_t address);
/* The function around an address; NULL when the tables have none. */
const struct text_range *text_function(const struct text *t, uint64_t address);
/* The name of the function whose address the loader puts at `slot` ("free"); NULL when it puts none
 * there. Borrowed. */
const char *text_import(const struct text *t, uint64_t slot);
/* The name of the first import for whose slot `is_it` says yes; NULL when there is none. Borrowed. */
const char *text_import_where(const struct text *t, bool (*is_it)(uint64_t slot, void *arg),
			      void *arg);

/* What the loader writes into the module's own data, by slot. */
struct text_relocation {
	uint64_t slot;
	uint64_t addend;
	bool relative; /* the module's bias plus the addend; else it depends on other modules */
};
struct text_relocations VEC_FIELDS(struct text_relocation);
/* Without the slots of imported functions (text_import). */
void text_relocations(const struct text *t, struct text_relocations *ret);
/* How many functions of the module's own run before main(). */
size_t text_constructors(const struct text *t);

#endif
