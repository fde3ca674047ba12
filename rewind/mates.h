/* rewind/mates.h - private to rewind/: the threads of a dump that a start routine began, also those that
 * have ended.
 *
 * glibc keeps a description of each thread at the top of its stack: where it begins and with which
 * argument. The description stays there when the thread has ended, until its stack is used again. */
#ifndef REWIND_MATES_H
#define REWIND_MATES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;
struct dump;
struct dump_module;
struct past;

enum { MATE_ENDED = 0xffff };

struct mate {
	uint64_t self; /* the description's address: pthread_t, and the base of FS */
	uint64_t entry, argument;
	uint64_t stack_low, stack_high;
	size_t thread; /* its number in the dump; MATE_ENDED: it has ended */
	/* the first thread, when it is run forwards, too: the moment it goes on from, before it began others; else NULL */
	const struct past *from;
};
struct mates VEC_FIELDS(struct mate);

/* By address. */
void mates_find(const struct dump *d, struct code *c, struct mates *ret);
bool mates_is_libc(const struct dump_module *m);

#endif
