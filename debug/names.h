/* debug/names.h - names for numbers: sites, program counters, addresses of a trace.
 *
 * A binary built by unplait carries a table of its sites (struct sites); everything else comes from
 * its symbol table and debug information. A binary is believed only if its build-id is
 * the one the trace names. */
#ifndef DEBUG_NAMES_H
#define DEBUG_NAMES_H

#include "debug/binary.h"
#include "trace/trace.h"

struct err;
struct strbuf;

struct code_point {
	const char *file; /* relative to the compilation directory; "" = unknown */
	uint32_t line, column;
	const char *function;	       /* "" = unknown */
	const char *object;	       /* what the access is called in the source; "" = unknown */
	const struct plait_site *site; /* NULL: known by its program counter only */
	const struct sites *sites;     /* the table that `site` is in */
};

struct symbols;

/* Borrows the trace. An error when a binary with sites is missing or of another build. */
struct err *symbols_open(struct trace *t, struct symbols **ret);
void symbols_close(struct symbols *s);
/* False (and empty strings) when nothing is known. Strings live as long as s. */
bool symbols_site(struct symbols *s, uint32_t site, struct code_point *ret);
bool symbols_pc(struct symbols *s, uint64_t pc, struct code_point *ret);
/* All functions at a program counter, the innermost inlined one first; at most max. Returns how many.
 */
size_t symbols_frames(struct symbols *s, uint64_t pc, struct code_point *ret, size_t max);
/* Is this the program's own file, not a library? */
bool symbols_in_program(const struct symbols *s, uint64_t pc);
/* The table that a site number belongs to; NULL when there is none. */
const struct sites *symbols_sites(struct symbols *s, uint32_t site, uint32_t *ret_local);

/* What to call the object of an event: the source's words when the site has them, else the place.
 */
struct err *symbols_event_object(struct symbols *s, const struct event *ev, struct strbuf *out);

#endif
