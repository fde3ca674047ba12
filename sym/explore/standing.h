/* sym/explore/standing.h - private to sym/: how a state stands with what must hold on the way to a goal
 * (sym/ir/needs.h). */
#ifndef SYM_EXPLORE_STANDING_H
#define SYM_EXPLORE_STANDING_H

#include "sym/ir/ahead.h"
#include "sym/ir/needs.h"
#include "sym/machine/machine.h"

enum { FRAMES_MOST = 256 };

/* The frames of a thread, the outermost first; its innermost one is taken to be at pc. Returns how many,
 * at the end of `frames`, which has room for FRAMES_MOST. */
uint32_t thread_frames(const struct thread *t, uint32_t pc, struct reach_frame *frames);

struct intermediate {
	struct needs needs;
	uint32_t stored;	     /* of the needs: what the dump's global variables hold */
	VEC(struct reach_ways) ways; /* per need: to its writers */
	VEC(struct ahead) ahead;     /* per need that is counted: its writers; else empty */
};
/* r: of the goal's first stack; if the program has no such stack, every need of the program counts. */
void intermediate_init(struct intermediate *x, struct ir *ir, const struct reach *r,
		       const struct sym_goal *goal);
void intermediate_deinit(struct intermediate *x);

struct sym_aim {
	struct reach reach;
	bool possible;			  /* the program has the goal's stack */
	const struct sym_event *events;	  /* borrowed */
	VEC(struct reach_ways) to_events; /* per event: to its calls */
	struct intermediate intermediate;
};

struct standing {
	uint32_t unmet; /* needs that are not local */
	uint32_t gap;	/* of the values of those, together */
	uint32_t late;	/* of those: that can no longer be met */
};
/* Which needs memory meets; a cell with an unknown value counts as met: a branch on it can go either way. The
 * running thread's innermost frame is taken to be at pc. toward[i], for each need: the way from there to its nearest
 * writer, or 0 if it is met. */
struct standing state_standing(const struct intermediate *x, const struct reach *r,
			       const struct state *s, uint32_t pc, uint32_t *toward);
/* Is there a need for a global variable, and memory does not meet it? */
bool state_lacks(const struct intermediate *x, const struct state *s);
/* The way to the nearest writer of need i alone. */
uint32_t state_toward(const struct intermediate *x, const struct reach *r, const struct state *s,
		      uint32_t pc, size_t i);

#endif
