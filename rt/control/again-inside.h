/* rt/control/again-inside.h - private to again.c and again-calls.c. */
#ifndef RT_CONTROL_AGAIN_INSIDE_H
#define RT_CONTROL_AGAIN_INSIDE_H

#include "rt/control/again.h"

#include <signal.h>
#include <stddef.h>

enum {
	AGAIN_PAGE = 4096,
	AGAIN_RANGES = 256,	 /* mappings that are wound back */
	AGAIN_SAVED = 1 << 14,	 /* pages that are kept: 64 MB */
	AGAIN_WRITTEN = 1 << 12, /* pages that one process may come to write, over all its runs */
	AGAIN_SCAN = 512,
	AGAIN_MAPS = 64, /* mappings that one run may make */
	AGAIN_FDS = 1024,
	AGAIN_SIGNALS = 64,
};

struct again_context {
	uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
	uint32_t mxcsr, fpu;
};

struct again_range {
	uint64_t low, high;
};

/* As the kernel has it. */
struct again_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};
struct again_region {
	uint64_t start, end, categories;
};

/* Shared by the server and its children, never wound back itself. */
struct again {
	volatile uint8_t selector; /* of the system call filter: 1 = the target's are caught */
	bool kept;		   /* there is something to go back to */
	bool armed;		   /* the child can be wound back ... */
	bool watching;		   /* ... after this run, too, as far as we know */
	enum again_state state;
	uint32_t pid, in_vain;
	int socket, uffd, pagemap, wait_status;
	uint64_t rounds; /* of this child */
	uint64_t thread_pointer, brk, mask;
	struct again_context context;
	struct again_action old_action; /* for SIGSYS */
	struct again_range ranges[AGAIN_RANGES];
	uint32_t nranges, nsaved;
	struct again_range maps[AGAIN_MAPS]; /* made by this run */
	uint32_t nmaps;
	uint64_t fds[AGAIN_FDS / 64]; /* opened by this run, a bit each */
	uint64_t signals; /* whose action this run has changed, a bit each, and what it was */
	struct again_action actions[AGAIN_SIGNALS];
	struct again_region scan[AGAIN_SCAN];
	char text[1 << 16]; /* /proc/self/maps */
	char stack[1 << 15] __attribute__((aligned(64)));
	uint64_t addresses[AGAIN_SAVED]; /* ascending */
	char pages[AGAIN_SAVED][AGAIN_PAGE] __attribute__((aligned(AGAIN_PAGE)));
};
extern struct again *again;

/* again-calls.c: catch the target's system calls from now on, as the selector says. */
bool again_catch(void);
void again_release(void);

#endif
