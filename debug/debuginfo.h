/* debug/debuginfo.h - private: symbols and DWARF of the modules of a trace (libdwfl). */
#ifndef DEBUG_DEBUGINFO_H
#define DEBUG_DEBUGINFO_H

#include <stdbool.h>
#include <stdint.h>

struct debuginfo;
struct strbuf;
struct trace_meta;

struct debuginfo *debuginfo_open(const struct trace_meta *m);
void debuginfo_close(struct debuginfo *d);
/* Only what the table of a module cannot tell: strings belong to d. */
bool debuginfo_line(struct debuginfo *d, uint64_t pc, const char **file, uint32_t *line,
		    uint32_t *column, const char **function);
/* The global variable at an address: where it begins, how long it is. */
bool debuginfo_global(struct debuginfo *d, uint64_t address, uint64_t *base, uint64_t *size);
/* Append "queue.items[3].next" (debug information) or "queue+24" (symbol table). */
bool debuginfo_global_name(struct debuginfo *d, uint64_t address, struct strbuf *out);

#endif
