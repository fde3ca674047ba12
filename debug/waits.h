/* debug/waits.h - which mutexes the threads of a core dump wait for, and who owns them.
 * Of any program that uses glibc's mutexes: nothing was recorded. A thread that waits sleeps in the
 * futex system call, and the futex is the mutex's first word; the owner's number is in its third. */
#ifndef DEBUG_WAITS_H
#define DEBUG_WAITS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct dump;

struct dump_wait {
	size_t thread;	/* index into the dump's threads */
	uint64_t futex; /* the word that it sleeps on */
	size_t owner; /* of the mutex there, as an index; SIZE_MAX = no mutex, or nobody of the dump */
};
struct dump_waits VEC_FIELDS(struct dump_wait);

/* Every thread that sleeps in futex. */
void dump_waits(const struct dump *d, struct dump_waits *ret);
/* The threads of a cycle of owners, in order of waiting for each other; false when there is none. */
struct dump_cycle VEC_FIELDS(size_t);
bool dump_cycle(const struct dump *d, struct dump_cycle *ret);

#endif
