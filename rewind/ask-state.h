/* rewind/ask-state.h - private to rewind/: what the files of ask share. */
#ifndef REWIND_ASK_STATE_H
#define REWIND_ASK_STATE_H

#include "rewind/ask.h"
#include "rewind/rewind.h"

enum { ASK_LEAVES = 64 };

/* A line's first instructions in the process; *why, owned by the caller: there are none. */
bool ask_line_begins(struct rewind *r, const struct ask_place *p, struct addresses *ret,
		     char **why);
/* Is an instruction of that line, also one in the middle of it? */
bool ask_is_at(struct rewind *r, uint64_t pc, const struct ask_place *p);

/* The memory that is asked about. */
struct ask_target {
	uint64_t address, size;
};
static inline bool ask_overlaps(const struct ask_target *t, uint64_t at, uint64_t len)
{
	return at < t->address + t->size && t->address < at + len;
}

/* ask-threads.c */
/* Did a thread write it, in the order that was found? */
bool ask_threads_wrote(const struct rewind *r, const struct ask_target *t);
/* Who of several threads wrote it last? Fills in the answer. */
struct err *ask_writer_of_threads(struct rewind *r, const struct ask_target *t, struct answer *ret);
struct err *ask_preempted(struct rewind *r, struct answer *ret);

#endif
