/* rewind/cause.h - why it failed: the chain from the faulting value back to where it was made. */
#ifndef REWIND_CAUSE_H
#define REWIND_CAUSE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct node;
struct rewind;
struct strbuf;

/* Kinds of causes, with the name that JSON has. */
#define CAUSE_KINDS(X)                                                                             \
	X(NONE, "none")                                                                            \
	X(FREED, "freed memory")                                                                   \
	X(PAST_END, "past the end")                                                                \
	X(NOT_WRITTEN, "never written")                                                            \
	X(BAD_WRITE, "bad value written")                                                          \
	X(BAD_VALUE, "bad value computed")                                                         \
	X(RESULT, "result not checked")                                                            \
	X(STACK, "stack exhausted")                                                                \
	X(WILD_JUMP, "wild jump")                                                                  \
	X(READ_ONLY, "write to read-only memory")                                                  \
	X(LOST_UPDATE, "lost update")                                                              \
	X(CHANGED_BETWEEN, "changed in between")                                                   \
	X(OVERWRITTEN, "overwritten in between")                                                   \
	X(WRONG_ORDER, "wrong order")                                                              \
	X(HALF_UPDATE, "half an update seen")

enum cause_kind {
#define X(id, name) CAUSE_##id,
	CAUSE_KINDS(X)
#undef X
};
const char *cause_kind_name(enum cause_kind kind);

enum link_kind {
	LINK_USED,     /* the failing instruction used it */
	LINK_READ,     /* it was read from memory */
	LINK_WRITTEN,  /* it was written there */
	LINK_COMPUTED, /* it was computed */
	LINK_CONSTANT, /* the code has it as a number */
	LINK_RESULT,   /* a call that was skipped returned it */
	LINK_BEFORE,   /* it is older than the suffix */
	LINK_CHECKED,  /* a check failed */
	LINK_KNOWN,    /* this told the compiler; nothing else can have (known.h) */
};

struct link {
	uint8_t kind;
	bool certain;
	bool has_value, has_address;
	bool searched;		 /* its address is the only one where memory holds the value */
	const struct node *node; /* the step in which it happened */
	uint64_t insn;		 /* 0 for LINK_BEFORE */
	uint64_t address;	 /* of memory */
	uint8_t w;
	uint64_t value;
	const char *function; /* the call that was skipped, or failed; NULL = none */
	uint64_t from;	      /* where the call began to write; 0 = no call */
	uint64_t length;      /* and how many bytes */
};

struct cause {
	uint8_t kind; /* enum cause_kind */
	bool certain; /* in every suffix */
	bool passed_over; /* parts of the program were not walked through: one of them may have written it, too */
	bool inferred;	   /* the chain has a LINK_KNOWN */
	uint64_t insn;	   /* where it happened; 0 = not known */
	uint64_t address;  /* of the memory concerned; 0 = none */
	uint64_t freed_at; /* the call that freed it; 0 = not known */
	char *text;
	VEC(struct link) chain; /* from the failure back */
	bool complete;		/* the chain: walking further back cannot make it longer */
};

/* Fill in the chain of r->cause along r->best, and forget what was there. */
void cause_trace(struct rewind *r);
/* Fill in r->cause: the chain, and what it means. */
void cause_find(struct rewind *r);
/* Fill in r->other_causes: what other suffixes say that lead to the dump as well, where they differ. */
void cause_find_others(struct rewind *r);
/* Make this text, adopted, the cause's. */
void cause_say(struct cause *c, struct strbuf *text);
void cause_deinit(struct cause *c);

#endif
