/* rt/control/gate.h - handing the processor from one thread of the target to another.
 *
 * Two ways with one interface. *futex*: every thread is a kernel thread that waits for its turn;
 * always works, some microseconds a switch. *fiber*: one kernel thread, the carrier, runs them all
 * and swaps stack pointers and thread pointers; tens of nanoseconds. Each thread's own kernel
 * thread then only waits, so that libc has a real thread descriptor for it, and comes to life
 * again at the end to run TLS destructors and leave the way libc expects. */
#ifndef RT_CONTROL_GATE_H
#define RT_CONTROL_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct gate {
	uint32_t word; /* futex: 1 = go */
	uint32_t tid;
	bool main;   /* the process's first thread: its kernel thread is the carrier */
	bool native; /* runs on its own kernel thread now */
	/* fibers */
	uint32_t ready;
	void *stack_pointer;
	uint64_t thread_pointer;
	void (*body)(void *);
	void *arg;
};

enum { GATE_BEST, GATE_FUTEX, GATE_FIBER };

/* In the main thread, when control begins. Returns the kind that is used. */
uint32_t gate_begin(struct gate *g, uint32_t wanted);
/* In a new kernel thread: run body(arg) when its turn comes; returns when the thread is to end. */
void gate_thread(struct gate *g, void (*body)(void *), void *arg);
/* In its creator, after the kernel thread exists. */
void gate_created(struct gate *g);
/* Let `to` run; returns when somebody goes back to `from`. */
void gate_switch(struct gate *from, struct gate *to);
/* The calling thread is about to end: let `to` run, after it is really gone. */
void gate_leave(struct gate *from, struct gate *to);
/* Nobody is left but the calling thread, which is about to end; `main` ended before. */
void gate_last(struct gate *from, struct gate *main);

void gate_arrived(void);

/* gate-fiber.c */
bool fiber_possible(void);
void fiber_prepare(struct gate *g, void *stack_top);
void fiber_swap(struct gate *from, struct gate *to);
void fiber_finished(struct gate *g);

#endif
