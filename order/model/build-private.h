/* order/model/build-private.h - private to order/model/build*.c: steps while they are collected, and the
 * model while it is made. */
#ifndef ORDER_MODEL_BUILD_PRIVATE_H
#define ORDER_MODEL_BUILD_PRIVATE_H

#include "base/map.h"
#include "order/model/build-cells.h"
#include "order/model/build.h"

struct err;

struct raw {
	struct order_step s;
	uint32_t step;	      /* of its thread */
	uint32_t placeholder; /* symbol of the builder, ORDER_NONE */
};

struct raw_thread {
	char *name;
	VEC(struct raw) steps;
	uint32_t nsteps;
	VEC(uint32_t) nevents; /* of the model, before each step; while finishing */
};

/* A decision, in the order in which they were told. */
struct raw_condition {
	term_id term;
	struct order_taken at;
	bool recorded;
};

/* What a placeholder stands for: pieces, the lowest first. */
struct part {
	bool local;
	term_id term; /* local: of the builder; else of the model */
	uint32_t low, bits;
};

struct placeholder {
	uint32_t bits;
	bool input;
	uint64_t hint;
	uint32_t first, count; /* in parts */
};

/* A write whose value is still one of the builder's terms. */
struct late_value {
	uint32_t event, low, bits;
	term_id term;
};

/* Memory that a thread gives back. No two overlap: no address is used twice. */
struct freed {
	uint64_t address, bytes;
	uint32_t thread;
	bool used;	/* by another thread */
	uint32_t event; /* of the model, ORDER_NONE: not yet */
};
struct freed_blocks VEC_FIELDS(struct freed);
struct build_use {
	struct freed *of;
	uint32_t event;
};

struct order_build {
	struct terms terms;
	VEC(struct raw_thread) threads;
	bool keep; /* conditions that are always true, too */
	VEC(struct placeholder) placeholders;
	VEC(struct raw_condition) conditions;
	VEC(struct byte_range) cut; /* written by steps that were cut off */
	uint32_t failing;
	term_id failure;
	bool fails;
	/* while finishing */
	const struct order_memory *memory;
	struct order_built *out;
	struct order_model *m;
	struct pieces pieces;
	struct map objects[ORDER_OBJECT_THREAD + 1]; /* by kind: address -> object */
	struct map onces;
	VEC(struct part) parts;
	VEC(uint32_t) steps; /* per event of the model */
	term_id *model_term; /* per term of the builder */
	VEC(struct late_value) late;
	struct freed_blocks freed[2]; /* memory, locks */
	VEC(struct build_use) uses;
	bool blocked; /* somebody still waits for a lock, or for somebody else */
};

/* build.c: an object at an address, an event of a step. */
uint32_t build_object(struct order_build *b, enum order_object_kind kind, uint64_t address,
		      unsigned bits, uint64_t initial);
uint32_t build_event(struct order_build *b, uint32_t thread, const struct raw *r,
		     enum order_kind kind, uint32_t object);

/* build-sync.c: events of steps that are no accesses. Counts of semaphores and barriers come first:
 * a thread that is looked at earlier than the one that made them may use them. */
void build_counts(struct order_build *b);
struct err *build_sync(struct order_build *b, uint32_t thread, const struct raw *r);

/* build-freed.c: what a thread gives back and another uses. Find them before the walk; note each step
 * behind its own events, which are those from `first` on; finish when all threads were walked. */
void build_find_freed(struct order_build *b);
void build_free(struct order_build *b, uint32_t thread, const struct raw *r);
void build_note_use(struct order_build *b, uint32_t thread, const struct raw *r, size_t first);
void build_finish_uses(struct order_build *b);

#endif
