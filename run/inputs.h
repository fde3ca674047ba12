/* run/inputs.h - files that a run reads, carried in its plait.
 *
 * Section "inputs" of a plait: a line with the number of files, then for each a line with its kind, its
 * size, the XXH64 of its bytes and the lengths of two texts; then the texts (the name that the program
 * gives, the absolute path) and, for kind `file', the bytes. doc/format/plait.md shows it. */
#ifndef RUN_INPUTS_H
#define RUN_INPUTS_H

#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct plait_inputs;

enum input_kind {
	INPUT_FILE,   /* its bytes are here */
	INPUT_LARGE,  /* too large: it must be at its path, with these bytes */
	INPUT_ABSENT, /* the program looked for it, and it was not there */
	INPUT_FOLDER, /* it was there; what is in it is not known */
};

struct input {
	enum input_kind kind;
	char *name, *path; /* as the program says it; absolute */
	uint64_t size, hash;
	char *data; /* INPUT_FILE */
};
struct inputs VEC_FIELDS(struct input);

/* A file of more bytes is INPUT_LARGE; so is what comes after that many bytes of all together. */
enum { INPUT_MAX = 4 << 20, INPUTS_MAX = 32 << 20, INPUTS_COUNT = 4096 };

void inputs_deinit(struct inputs *in);
const char *input_kind_name(enum input_kind kind);
/* Has a run noted something with this letter (struct plait_inputs)? */
bool inputs_has(const struct plait_inputs *from, char how);
/* What the runs of a session have named, as the files are now. Files that a run writes are left out. */
void inputs_collect(const struct plait_inputs *from, struct inputs *ret);
void inputs_write(const struct inputs *in, struct strbuf *out);
struct err *inputs_parse(const void *data, size_t len, struct inputs *ret);
/* Put them into a folder of ours, for the runs to read. */
struct err *inputs_place(const struct inputs *in, const char *folder, struct plait_inputs *ret);

#endif
