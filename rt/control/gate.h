/* rt/control/gate.h - handing the processor from one thread of the target to another.
 *
 * Two ways with one interface. *futex*: every thread is a kernel thread that waits for its turn;
 * always works, some microseconds a switch. *fiber*: one kernel thread, the carrier, runs them all
 * and swaps stack pointers and thread pointers; tens of nanoseconds. A fiber has a descriptor that
 * libc made (thread-local variables, pthread_self() ...) but no kernel thread: see birth.c. */
#ifndef RT_CONTROL_GATE_H
#define RT_CONTROL_GATE_H

#include "unplait/control.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gate {
	uint32_t word; /* futex: 1 = go */
	uint32_t tid;  /* what gettid() says in it */
	bool main;     /* the process's first thread: its kernel thread is the carrier */
	bool native;   /* runs on its own kernel thread */
	void (*body)(void *);
	void (*end)(void *); /* after the body, however it was left */
	void *arg;
	uint64_t stack_low, stack_size; /* 0: ask libc */
	uint32_t slot;			/* birth.c's; 0: the stack is libc's */
	/* fibers */
	void *stack_pointer;
	uint64_t thread_pointer;
};

/* In the main thread, when control begins; wanted: enum plait_gate. Returns what is used. */
uint32_t gate_begin(struct gate *g, uint32_t wanted);
/* In a new kernel thread: run body and end when its turn comes, at the same stack addresses as a
 * fiber would. */
_Noreturn void gate_thread(struct gate *g, void *stack_top);
/* Let `to` run; returns when somebody goes back to `from`. */
void gate_switch(struct gate *from, struct gate *to);
/* The calling thread has ended: let `to` run, after it is really gone. Main with futex hand-over
 * comes back: libc ends it. */
void gate_leave(struct gate *from, struct gate *to);

void gate_arrived(void);
/* Wait until a kernel thread of this process is gone. */
/* After libc's fork, in the child: the threads that were made beforehand are gone. */
void birth_forked(void);
void gate_wait_gone(uint32_t tid);
void gate_wait_word(uint32_t *word);
void gate_set_word(uint32_t *word);

/* gate-fiber.c */
bool fiber_possible(void);
void fiber_prepare(struct gate *g, void *stack_top);
void fiber_swap(struct gate *from, struct gate *to);
/* Begin as if prepared, in the same kernel thread: works where fibers are not possible. */
_Noreturn void fiber_enter(struct gate *g, void *stack_top);

/* ---- birth.c: threads come and go ---- */

/* Create the thread behind a gate whose body, end and arg are set; index: its number, for gettid.
 * Returns what pthread_create would. */
int birth_thread(struct gate *g, uint32_t index, pthread_t *handle, const pthread_attr_t *attr);
/* It has ended and was joined (or is detached): its stack may be used again. */
void birth_reap(struct gate *g, pthread_t handle);
/* The fork server, between runs: have as many threads ready as the last run needed. True: new ones
 * were made. */
bool birth_warm(uint32_t n);
/* The memory of the process that made them has come into another one. */
void birth_renamed(void);
/* Futex hand-over: n kernel threads that wait for a gate. */
void birth_park(uint32_t n);
/* Is this one of them that still waits? */
bool birth_is_parked(uint32_t tid);
/* How many of the places that can be kept ready this run has used. */
uint32_t birth_used(void);
/* Fork without libc's handlers, so that threads that are ready stay so in the child. */
long birth_fork(void);
/* Main may use so much more of its stack, which we have taken from it. */
void birth_add_stack(uint64_t bytes);
/* calloc, realloc and free of libc's loader while a thread is made: see birth.c. */
void *birth_calloc(size_t n, size_t size); /* NULL: not for us */
bool birth_owns(const void *p);
/* May it be on the stack of a thread other than main? */
bool birth_may_be_stack(const void *p);
size_t birth_bytes(const void *p, size_t wanted); /* how many of them are there behind p */

#endif
