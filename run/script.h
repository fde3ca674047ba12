/* run/script.h - an order of the threads of a program that nobody instrumented.
 *
 * A script is a list of turns. In its turn a thread runs alone, up to an instruction of the program that it comes to
 * for the n-th time, or until it waits or ends. Turns begin, and instructions are counted, when there is a second
 * thread: until then there is no order. After the last turn every thread runs as far as it can, the first one first.
 *
 * Section "script" of a plait (doc/format/plait.md) has one, with how its run ends, for `unplait replay`. */
#ifndef RUN_SCRIPT_H
#define RUN_SCRIPT_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "run/stage.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct turn {
	char thread[ACTOR_NAME];
	uint64_t at;  /* an instruction, as the program's file counts; 0: until it waits or ends */
	uint32_t hit; /* the how many-th time it comes there, from 1 */
	uint32_t steps; /* so many instructions further */
};

/* How a run ends, to compare it with others. */
struct script_end {
	int signal; /* 0 = nobody can go on */
	/* per thread that takes part, the failing one first: its frames in the program, innermost first; 0 ends a
	 * thread */
	VEC(uint64_t) frames;
};

struct script {
	char *program;	   /* path of its file */
	char build_id[41]; /* "" = none */
	char *loader;	   /* "LD_LIBRARY_PATH=..."; NULL = as it is */
	VEC(struct turn) turns;
	struct script_end end;
};

void script_deinit(struct script *s);
void script_write(const struct script *s, struct strbuf *out);
struct err *script_parse(const void *data, size_t len, struct script *ret);

#define SCRIPT_SECTION "script"

#endif
