/* rewind/ask.h - questions about what happened before a dump.
 *
 *	state at FILE:LINE                                 did control pass there, and what did the variables hold?
 *	who wrote EXPRESSION                               which instruction wrote what this is in the dump?
 *	was THREAD preempted between FILE:LINE and FILE:LINE
 *
 * Every suffix that is left is asked. The answer holds in all of them, in some, or in none; what cannot be decided is
 * unknown, with the reason. A suffix has a beginning: "none" says nothing about the time before it. */
#ifndef REWIND_ASK_H
#define REWIND_ASK_H

#include "base/vec.h"
#include "debug/locals.h"

struct err;
struct rewind;

enum ask_kind { ASK_STATE, ASK_WRITER, ASK_PREEMPTED };

struct ask_place {
	char file[256];
	unsigned line;
};

struct question {
	const char *text; /* borrowed */
	uint8_t kind;	  /* enum ask_kind */
	struct ask_place from, to;
	char expression[512];
	char thread[32];
};

/* An error names the forms. Borrows the text. */
struct err *question_parse(const char *text, struct question *ret);

enum ask_verdict { ASK_UNKNOWN, ASK_NONE, ASK_SOME, ASK_ALL };
const char *ask_verdict_name(enum ask_verdict v); /* "all" ... */

/* One of the answers that suffixes give. */
struct ask_found {
	uint32_t suffixes; /* that say so */
	uint32_t
		visits; /* ASK_STATE: how often control came there; what follows is the last time */
	uint64_t insn;	/* the place; the instruction that wrote; 0 = none */
	char *text;	/* a sentence */
	char *call;	/* the call that wrote; NULL = none */
	char *thread;	/* that wrote, as the report numbers it; NULL = the one that was rewound */
	struct locals values;
};

struct answer {
	struct question question;
	uint8_t verdict;     /* enum ask_verdict */
	uint32_t yes, total; /* suffixes, or orders that were found */
	char *text;	     /* one sentence */
	char *why;	     /* what is not known, or what limits the answer; NULL = nothing */
	VEC(struct ask_found) found;
};
struct answers VEC_FIELDS(struct answer);

/* Behind rewind_work(). */
struct err *ask(struct rewind *r, const struct question *q, struct answer *ret);
void answers_deinit(struct answers *a);

/* While the suffixes grow: does the best one go back far enough for this question? */
bool ask_is_reached(struct rewind *r, const struct question *q);

#endif
