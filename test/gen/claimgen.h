/* test/gen/claimgen.h - a small random program, as claimgen.c makes it and outcomes.c executes it. */
#ifndef TEST_GEN_CLAIMGEN_H
#define TEST_GEN_CLAIMGEN_H

#include <stdbool.h>
#include <stdint.h>

enum { THREADS = 3, OPS = 40, VARS = 2, REGS = 4, LOCKS = 2, WORDS = 2 };

/* The operations. `r` is a register of the thread, `x` a variable, `m` a lock and so on. */
enum kind {
	LOAD,  /* r = x */
	STORE, /* x = r + imm */
	ADD,   /* r = atomic_fetch_add(x, imm) */
	CAS,   /* r = atomic_compare_exchange(x, imm -> imm + 1) */
	LOCK,  /* mutex m */
	UNLOCK,
	TRYLOCK, /* r = taken? */
	TIMEDLOCK,
	RDLOCK, /* the one rwlock */
	WRLOCK,
	RWUNLOCK,
	TRYRD,
	TRYWR,
	SPINLOCK,
	SPINTRY,
	SPINUNLOCK,
	SEMWAIT,
	SEMTRY,
	SEMTIMED,
	SEMPOST,
	WAIT,	   /* pthread_cond_wait(&cond, &m[0]) */
	TIMEDWAIT, /* r = pthread_cond_timedwait(...) == 0 */
	WOKEN,	   /* second half of a wait: take the mutex again */
	SIGNAL,
	BROADCAST,
	YIELD,
	COPYWORD, /* one word of memcpy(&dst, &src): dst[imm] = src[imm] through `r` */
	COPYSTORE,
	GETWORD,  /* r = dst[imm] */
	PUTWORD,  /* src[imm] = r + 1 */
	TEXTWORD, /* one word of strcpy(text, ...): imm = word, r's place holds the letter */
	TEXTCHAR, /* r = text[8 * imm] */
	USE,	  /* r = box[imm]: fails if the box is gone */
	FREE,	  /* the box; fails if it is gone */
	JUMPZ,	  /* if (!r) go to imm; local */
	JUMPNZ,
	JUMP,
	CREATE, /* thread imm */
	JOIN,
	END,
};

struct op {
	uint8_t kind, r, object;
	int8_t imm;
	const char *text; /* the C of a whole statement stands at its first operation */
};

struct thread {
	struct op ops[OPS];
	unsigned n;
	bool freed; /* it has given the box back */
};

extern struct thread threads[THREADS];
extern unsigned nthreads;
extern bool boxes; /* memory is freed */
extern bool joins; /* main joins the others; else an exit handler prints */

/* outcomes.c: print every outcome that the program has, one per line, sorted. */
void enumerate(void);

#endif
