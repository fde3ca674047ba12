/* run/sanitizer.h - a sanitizer's report, with names for its addresses.
 *
 * Sanitizers start llvm-symbolizer for every report, which reads the program's debug information
 * anew: about a second for a test program of 30 MB, in each failing run of a search. So runs of a
 * search are told not to (symbolize=0), and the tool, which keeps debug information open, puts the
 * names in. Whoever sets `symbolize` himself is obeyed. */
#ifndef RUN_SANITIZER_H
#define RUN_SANITIZER_H

#include <stdbool.h>

struct environment;
struct modules;

/* Tell the sanitizers of a program to leave addresses as they are. live: somebody reads along, so
 * that they name places themselves; the environment is as long either way. */
void sanitizer_leave_addresses(struct environment *e, bool live);

/* The text with each "#1 0x55e8 (/path/program+0x1234)" replaced by function, file, line and column,
 * one line for each inlined function, and the same in the line SUMMARY. *modules is opened when it
 * is first needed; the caller frees it. NULL: there is nothing to replace. */
char *sanitizer_name_places(const char *text, struct modules **modules);

struct places;
/* The first stack of a report with names: of the access, or of what else went wrong. Frames of the
 * program's own code, at most PLACES_MOST; the innermost one of all if there are none. */
void sanitizer_stack(const char *text, struct places *ret);

#endif
