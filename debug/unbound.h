/* debug/unbound.h - library functions that a dumped program never called.
 *
 * A program that is linked for lazy binding calls a library function through a slot, which at first leads back to the
 * linker. The first call stores the function's address there. A slot of the dump that still holds what the file says
 * was never called through. That says nothing of programs whose slots are bound at the start (-z now, LD_BIND_NOW), of
 * functions whose address the program takes, and of calls that libraries make. */
#ifndef DEBUG_UNBOUND_H
#define DEBUG_UNBOUND_H

struct dump;
struct err;
struct names;

/* The program's file at `path` and a dump of it: add the names of such functions. */
struct err *unbound_functions(const char *path, const struct dump *d, struct names *ret);

#endif
