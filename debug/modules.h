/* debug/modules.h - from a module and an address in it to functions, lines and variables.
 *
 * A module is a program or a shared library. Addresses are those of the ELF file itself (the
 * run-time address minus the module's load bias), so the process need not exist any more. Debug
 * information is looked for in the file, by build-id and by debug link, as elfutils does it. */
#ifndef DEBUG_MODULES_H
#define DEBUG_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct module;
struct modules; /* owns every module that was opened through it, and all strings of answers */
struct strbuf;

struct modules *modules_new(void);
void modules_free(struct modules *ms);

/* build_id: in hex; NULL or "" for "whatever is at path". An error means that the module cannot be
 * read or is another build; a module without symbols is no error. The module stays open until
 * modules_free, and asking for it again is cheap. */
struct err *modules_get(struct modules *ms, const char *path, const char *build_id,
			struct module **ret);

struct source_frame {
	const char *function; /* demangled; NULL when nothing is known */
	const char *file;     /* relative to the compilation directory; NULL without line info */
	unsigned line, column;
	bool inlined;	/* into the next frame of the list */
	bool of_system; /* the file is of the system or of unplait's runtime, not of the program */
};

/* The frames of one address: innermost inlined function first, the real function last. Empty when
 * nothing is known. Zero-initialised is empty. */
struct source_frames {
	struct source_frame *data;
	size_t len, cap;
};

/* Append the frames of an address. For a return address, ask for the byte before it. */
void module_frames(struct module *m, uint64_t offset, struct source_frames *ret);
/* The innermost frame in the user's own code; the innermost frame when there is none; NULL when
 * the list is empty. */
const struct source_frame *source_frames_own(const struct source_frames *frames);

/* Instructions that one row of the line table is about, as the file counts. */
struct line_range {
	uint64_t low, high;
	unsigned column; /* 0 = not known */
	bool begins;	 /* a statement begins here */
};
struct line_ranges {
	struct line_range *data;
	size_t len, cap;
};
/* Append the ranges of a line, of all files of that name. */
void module_lines(struct module *m, const char *file, unsigned line, struct line_ranges *ret);

/* The global variable at an address: where it begins and how long it is. */
bool module_global(struct module *m, uint64_t offset, uint64_t *base, uint64_t *size);
/* Append its name, down to array element and field where debug information has them: "forks[2]",
 * "pool.lock", else "queue+24". False when there is no variable. */
bool module_global_name(struct module *m, uint64_t offset, struct strbuf *out);

/* How to get from a frame to its caller's: cfa = (bp or sp) + cfa_off, the return address is at
 * cfa - 8, the caller's bp at cfa + bp_at (0: unchanged). False when the tables do not say it, or
 * not so simply. */
struct frame_rule {
	bool from_bp;
	int64_t cfa_off, bp_at;
	int64_t saved_at
		[16]; /* by DWARF's numbers: where the caller's rbx (3), bp (6), r12 to r15 are, as bp_at */
};
bool module_frame_rule(struct module *m, uint64_t offset, struct frame_rule *ret);

#endif
