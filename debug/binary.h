/* debug/binary.h - what an ELF file says: sections, build-id, and the tables of `unplait cc`.
 * Only regular files are read: a pipe or device in place of a binary is an error, not a wait. */
#ifndef DEBUG_BINARY_H
#define DEBUG_BINARY_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "unplait/sites.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* Room for a build-id in hexadecimal (SHA-1, 20 bytes) and its end. */
enum { BUILD_ID_CHARS = 41 };

/* Open a regular file for reading; the caller closes *ret_fd. */
struct err *binary_open_file(const char *path, int *ret_fd);
/* A section's bytes; *found says whether there is one (an empty answer is no error). */
struct err *binary_section(const char *path, const char *name, struct strbuf *ret, bool *found);
/* Bitcode in one piece or several, one behind the other. */
struct bitcode {
	struct strbuf bytes;
	VEC(size_t) ends; /* of each piece */
};
/* What a section of it has, unpacked; no pieces when the file has none. */
struct err *binary_bitcode(const char *path, const char *section, struct bitcode *ret);
void bitcode_deinit(struct bitcode *b);
/* "lock" or "queue+24": the variable or function at an address in the file; NULL when unknown.
 * Owned. */
char *binary_symbol_at(const char *path, uint64_t address);
/* Hexadecimal; "" when it has none. */
struct err *binary_build_id(const char *path, char ret[BUILD_ID_CHARS]);
/* Do site numbers mean the same in two builds: one program, linked with other variants (PROG and
 * PROG.graph)? False also when a file is not of that build any more. */
bool binary_same_sites(const char *a, const char *a_id, const char *b, const char *b_id);
/* What is longer than a SHA-1 is cut. */
void build_id_hex(const uint8_t *bytes, size_t len, char ret[BUILD_ID_CHARS]);

/* The tables of one binary (unplait/sites.h); strings by sites_string. */
struct sites {
	char *path;
	char build_id[BUILD_ID_CHARS];
	struct plait_sites_header header;
	const struct plait_site *sites; /* site number minus one */
	const struct plait_element *elements;
	char *data;
	size_t len;
};

/* An error when the binary cannot be read, or was not built by unplait. */
struct err *sites_open(const char *path, struct sites **ret);
void sites_close(struct sites *s);
/* "" for an offset outside. */
const char *sites_string(const struct sites *s, uint32_t offset);

#endif
