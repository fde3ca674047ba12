/* deadlock/foreign.h - what can be said about a process that runs, or ran, without the watch library. */
#ifndef DEADLOCK_FOREIGN_H
#define DEADLOCK_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct foreign_frame {
	char *function, *file; /* NULL = unknown */
	unsigned line;
	uint64_t pc;
};

struct foreign_thread {
	int tid;
	uint64_t futex; /* that it sleeps on, 0 = none */
	int owner;	/* tid stored in the mutex it waits for, 0 = not a mutex, or it moves */
	struct foreign_frame *frames;
	size_t nframes;
};

struct foreign {
	int pid;
	struct foreign_thread *threads;
	size_t nthreads;
	size_t *cycle; /* threads whose mutexes name each other as owners */
	size_t ncycle;
};

/* Looks at what the threads sleep on twice, then stops the process for the moment it takes to read
 * the stacks. */
struct err *foreign_read(int pid, struct foreign *ret);
/* The same of a core dump. */
struct err *foreign_from_core(const char *path, struct foreign *ret);
void foreign_deinit(struct foreign *f);

#endif
