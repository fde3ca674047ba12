/* unplait/watch.h - the area that libplait-watch.so writes and `unplait watch` reads.
 *
 * One area per process: a mapping shared with a file (UNPLAIT_WATCH=dir=...) or with a memfd named
 * "unplait-watch"; either way /proc/PID/maps and the NT_FILE note of a core dump lead to it.
 *
 *	header (one page) | modules | slot 0 | slot 1 | ...
 *
 * A slot belongs to one thread and only that thread writes it after its birth. It is a stack of
 * uses: the locks the thread holds, outermost first, and on top what it is blocked on.
 * The writer keeps two promises, and the reader's "no false positives" rests on them:
 *
 *   1. WATCH_HELD is set after the lock was really acquired and taken back before it is really
 *      released. So whatever the area calls held was held at that instant.
 *   2. `seq` grows with every push and with every change of a use's state. A slot whose seq is the
 *      same in two samples was in that state the whole time between them.
 *
 * Change WATCH_VERSION whenever the meaning or place of a field changes; the reader refuses others.
 */
#ifndef UNPLAIT_WATCH_H
#define UNPLAIT_WATCH_H

#include <stdint.h>

#define WATCH_MAGIC	  0x31484354574c5055ull /* "UPLWTCH1", little endian */
#define WATCH_VERSION	  3
#define WATCH_ENV	  "UNPLAIT_WATCH" /* dir=PATH,history=N,depth=N,threads=N */
#define WATCH_NAME	  "unplait-watch" /* of the memfd; file areas are called PID.area */
#define WATCH_PAGE	  4096
#define WATCH_MODULES	  255 /* distinct modules that locking code may live in */
#define WATCH_USES	  88  /* nested uses per thread; deeper ones are counted in `lost` */
#define WATCH_DEPTH	  16  /* frames per stack ... */
#define WATCH_NARROW	  8   /* words of the stack that every acquisition copies ... */
#define WATCH_WIDE	  48  /* ... and when they have turned out to be too few */
#define WATCH_STACKS	  128 /* call stacks per thread with a history: ... */
#define WATCH_SURE	  8   /* ... every acquisition compares so many of their frames */
#define WATCH_HISTORY_MAX 256
#define WATCH_FOREIGN	  8
#define WATCH_GATES	  3
#define WATCH_IN_WINDOW	  0xffff
#define WATCH_SAMPLES	  8
#define WATCH_SAMPLE	  0x8000 /* among the counts of a use: its stack is tried at the release */

enum watch_kind {
	WATCH_MUTEX = 1,
	WATCH_READ, /* an rwlock, for reading */
	WATCH_WRITE,
	WATCH_SPIN,
	WATCH_COND, /* aux: the mutex */
	WATCH_JOIN, /* object: the pthread_t */
	WATCH_SEM,
	WATCH_BARRIER,
};

enum watch_state {
	WATCH_VOID,  /* being filled or emptied */
	WATCH_WANT,  /* inside the call that acquires or waits */
	WATCH_HELD,  /* acquired */
	WATCH_YIELD, /* a mutex given up inside pthread_cond_wait */
};

enum watch_flags {
	WATCH_TIMED = 1,	  /* the wait ends by itself */
	WATCH_BEHIND_WRITERS = 2, /* a reader that queues behind waiting writers */
	WATCH_CUT = 4,		  /* of a settled use: there are more frames */
	WATCH_WIDENED = 8,	  /* its window has WATCH_WIDE words */
	WATCH_SHARED = 16,	  /* of a wait: another process may end it */
};

struct watch_use {
	uint64_t object; /* address of the lock, condition, semaphore; the pthread_t of a join */
	union {
		uint64_t frame; /* address of what the window begins with */
		uint64_t aux;	/* of a settled condition: its mutex */
	};
	uint32_t window; /* offset in the slot; stays with the place when the use goes */
	uint32_t pad;
	union {
		struct {
			uint16_t stack; /* with a history: its number; else WATCH_IN_WINDOW */
			uint8_t frames; /* so many are certain; 0: not settled yet */
			uint8_t flags;	/* enum watch_flags */
			union {
				struct {
					uint8_t kind;	/* enum watch_kind */
					uint8_t state;	/* enum watch_state; written last */
					uint16_t count; /* further acquisitions of a recursive lock
							 */
				};
				uint32_t fact; /* these in one compare */
			};
		};
		uint64_t whole; /* all of these in one store */
	};
};

/* The end of the stack as it was at the acquisition: the caller's bp, the return address, and what
 * was above them. Once its use is settled: return addresses, innermost first. */
struct watch_window {
	uint64_t words[WATCH_WIDE];
};

/* One release, kept with history=N: what was held around it. */
struct watch_release {
	uint64_t object;
	uint64_t outer; /* the next lock outwards that was still held, 0 = none */
	uint64_t seq;	/* 0 = unused */
	uint32_t generation,
		outer_generation; /* of the stacks, which may have been replaced since */
	uint16_t stack, outer_stack;
	uint8_t kind, outer_kind;
	uint16_t pad;
};

/* With history=N: `inner` was acquired, without a time limit, while `outer` was held. */
struct watch_order {
	uint64_t inner, outer;	     /* 0 = unused */
	uint64_t gates[WATCH_GATES]; /* locks held around both, the outermost first */
	uint32_t inner_generation, outer_generation; /* of the stacks */
	uint16_t inner_stack, outer_stack;
	uint8_t inner_kind, outer_kind;
	uint8_t ngates;
	uint8_t pad;
};

/* With a history: a call stack, and what it takes to see that it is the same again. Places are
 * counted in words from the frame of the function the program called. */
struct watch_stack {
	uint64_t sp;
	uint16_t place[8]; /* these words of the stack, return addresses and saved bps, ... */
	uint32_t low[8];   /* ... still have these low halves; unused ones repeat the first */
	uint16_t place2[7];
	uint8_t n;	   /* frames */
	uint8_t truncated; /* there are more frames, or they could not be unwound */
	uint32_t low2[7];
	uint8_t more; /* place2 is used */
	uint8_t pad[3];
	uint32_t generation; /* counts replacements */
	uint32_t pad2;
	uint16_t outer[WATCH_DEPTH - WATCH_SURE]; /* places of the outer return addresses */
	uint64_t pc[WATCH_DEPTH];		  /* return addresses, innermost first */
};

enum watch_slot_state {
	WATCH_FREE,
	WATCH_STARTING, /* pthread_create has been called */
	WATCH_LIVE,
	WATCH_EXITED, /* ended, but its locks are still held */
	WATCH_GHOST,  /* held locks in the parent when this process was forked */
};

/* What the fast path touches lies in one page, as long as few locks are held. */
struct watch_slot {
	uint32_t state; /* enum watch_slot_state */
	uint32_t tid;
	union {
		struct {
			uint32_t n; /* uses[0..n) */
			uint32_t seq;
		};
		uint64_t n_and_seq; /* so that both change at once */
	};
	int32_t plain_kind;  /* of the mutexes that are locked without asking libc; -1: none */
	uint32_t stack_span; /* frames in [stack_lo, + this) are copied without asking further */
	uint64_t stack_lo, stack_hi; /* of the frames that are unwound */
	uint32_t stack_mask;	     /* stacks, minus one */
	uint32_t try_first;	     /* a lock is tried before it is waited for */
	uint32_t history;	     /* releases that are kept, as in the header */
	uint32_t lost;
	uint64_t stack_safe; /* frames in [stack_lo, this) have WATCH_WIDE words above them */
	struct watch_use uses[WATCH_USES];
	struct watch_window windows[WATCH_USES];
	uint64_t pthread;
	uint64_t start, arg;
	uint32_t children;
	uint32_t rounds;   /* of thread-specific destructors */
	uint32_t releases; /* so far */
	uint32_t foreign;  /* locks released here that this thread had not acquired */
	uint64_t foreign_object[WATCH_FOREIGN];
	char name[40];	    /* birth order: "0", "0.1", "0.1.2" */
	uint32_t populated; /* memory is there: no fault, no SIGBUS on a full disk */
	uint32_t samples;   /* acquisitions to come whose stacks are tried at the release */
	uint32_t waits;
	uint32_t wide; /* every window has WATCH_WIDE words */
	uint32_t pad[8];
	uint32_t keys[WATCH_STACKS]; /* pc and sp of each stack, mixed; 0 = none */
	struct watch_stack stacks[]; /* header.stacks of them; then releases: history of them,
					then orders: history of them */
};

struct watch_module {
	uint64_t start, end; /* addresses it covers */
	uint64_t bias;	     /* address = bias + the address inside the ELF file */
	uint8_t build_id_len;
	uint8_t build_id[31];
	uint32_t gone; /* dlclose was called since */
	char path[196];
};

struct watch_header {
	uint64_t magic;
	uint32_t version;
	uint32_t slot_size;
	uint64_t slots_at; /* offset of slot 0 */
	uint64_t size;	   /* of the whole area */
	uint64_t address;  /* of the area in its process */
	uint32_t slots_max;
	uint32_t stacks;  /* per slot: none without a history */
	uint32_t history; /* per slot */
	uint32_t pid;
	uint32_t slots_used; /* high-water mark */
	uint32_t modules_used;
	uint32_t lost_threads; /* threads that found no free slot: not watched */
	uint32_t lost_modules;
	uint32_t hint;		       /* a slot that may be free */
	uint32_t ended;		       /* the process left through exit() */
	uint64_t self_start, self_end; /* the watch library's own code: not part of any stack */
};

_Static_assert(sizeof(struct watch_use) == 32, "a use is half a cache line");
_Static_assert(sizeof(struct watch_stack) == 256, "layout");
_Static_assert(sizeof(struct watch_slot) % 64 == 0, "layout");
_Static_assert(sizeof(struct watch_module) == 256, "layout");

#endif
