/* rt/control/gate.h - handing the processor from one thread of the target to another.
 * Two ways with one interface: kernel threads that wait for a futex each (always works), and
 * fibers: one kernel thread that swaps stacks and thread pointers (much faster). */
#ifndef RT_CONTROL_GATE_H
#define RT_CONTROL_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct gate {
	uint32_t word; /* futex: 1 = go */
	uint32_t tid;
	bool main; /* the process's first thread: stays as a zombie after pthread_exit */
	/* fibers */
	void *stack_pointer;
	uint64_t thread_pointer;
	uint32_t park;
};

enum { GATE_BEST, GATE_FUTEX, GATE_FIBER };

/* In the main thread, when control begins. Returns the kind that is used. */
uint32_t gate_begin(struct gate *g, uint32_t wanted);
/* In a new thread: wait until somebody goes to it for the first time. */
void gate_first(struct gate *g);
/* Let `to` run; returns when somebody goes back to `from`. */
void gate_switch(struct gate *from, struct gate *to);
/* The calling thread is about to end: let `to` run, after it is really gone. */
void gate_leave(struct gate *from, struct gate *to);

#endif
