/* debug/modules.h - from a module and an address in it to functions, lines and variables.
 *
 * Addresses are those of the ELF file itself (the run-time address minus the module's load bias),
 * so that the process need not exist any more. Debug info is looked for in the file, by build-id
 * and by debug link, as elfutils does it. Strings live as long as the symbols. */
#ifndef DEBUG_MODULES_H
#define DEBUG_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct symbols;

struct symbol_frame {
	const char *function; /* demangled; NULL when nothing is known */
	const char *file;     /* relative to the compilation directory; NULL without line info */
	unsigned line;
	bool inlined; /* into the next frame of the list */
};

/* The frames of one address: innermost inlined function first, the real function last. Empty when
 * nothing is known. Zero-initialised is empty. */
struct symbol_frames {
	struct symbol_frame *data;
	size_t len, cap;
};

struct symbols *symbols_new(void);
void symbols_free(struct symbols *s);

/* build_id: in hex, or NULL for "whatever is at path". An error means the module itself cannot be
 * read or is another build; that there are no symbols in it is no error. For a return address, ask
 * for the byte before it. */
struct err *symbols_lookup(struct symbols *s, const char *path, const char *build_id,
			   uint64_t offset, struct symbol_frames *ret);
/* The global variable at the address, down to array element and field where debug info has them:
 * "forks[2]", "pool.lock"; NULL when there is none. */
struct err *symbols_variable(struct symbols *s, const char *path, const char *build_id,
			     uint64_t offset, const char **ret);

/* How to get from a frame to its caller's: cfa = (bp or sp) + cfa_off, the return address is at
 * cfa - 8, the caller's bp at cfa + bp_at (0: unchanged). False when the tables do not say it, or
 * not so simply. */
struct frame_rule {
	bool from_bp;
	int64_t cfa_off, bp_at;
};
bool symbols_frame_rule(struct symbols *s, const char *path, const char *build_id, uint64_t offset,
			struct frame_rule *ret);

#endif
