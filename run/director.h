/* run/director.h - run a program as it is, watch it end, and keep a core dump of its failure.
 *
 * The program is not instrumented: any binary will do. It is traced (ptrace) by a process of its own,
 * so that the caller's other children are left alone. */
#ifndef RUN_DIRECTOR_H
#define RUN_DIRECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct turn;
struct turns_made;

struct director_options {
	char *const *argv;   /* NULL-terminated */
	const char *program; /* file to execute; NULL = argv[0] */
	char *const *env;    /* NULL = ours */
	const char *folder;  /* NULL = ours */
	const char *in;	     /* standard input; NULL = /dev/null */
	double timeout;	     /* seconds; then it hangs */
	const char *core;    /* where its dump goes when it fails or hangs */
	bool speaks;	     /* it prints where we do, not nowhere */
	bool at_end;	     /* ... also when it exits, and at a fault that it handles itself */
	/* With one of these, one thread at a time from the second thread on: */
	const struct turn *turns; /* in this order (run/script.h) */
	size_t nturns;
	uint64_t
		seed; /* not 0, and no turns: with random switches between the program's instructions */
	struct turns_made
		*made; /* with a seed: what was done, as turns; none if there were too many; NULL */
};

struct director_result {
	int exit_code; /* -1 = did not exit */
	int signal;    /* that would end it; 0 = none */
	bool hangs;    /* it had not ended when its time was over */
	bool dumped;   /* `core` was written */
	bool stuck; /* with turns or a seed: it hangs because everybody waits for somebody else */
	size_t missed; /* turns that did not end where they say */
};

/* The program, traced by this process, before its first instruction. */
struct process;
struct err *director_start(const struct director_options *o, struct process *ret);
struct err *director_run(const struct director_options *o, struct director_result *ret);

#endif
