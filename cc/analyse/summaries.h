/* cc/analyse/summaries.h - what functions of libc and libpthread do with the pointers they get. */
#ifndef CC_ANALYSE_SUMMARIES_H
#define CC_ANALYSE_SUMMARIES_H

#include <stdbool.h>
#include <stdint.h>

enum summary_result {
	RESULT_NOTHING, /* no pointer, or one that is never looked into */
	RESULT_FRESH,	/* new memory */
	RESULT_OUTSIDE, /* memory we know nothing of */
	RESULT_LIBRARY, /* memory of the library, which points to nothing of the program's */
	RESULT_SPECIAL, /* enum summary_special says it */
	RESULT_INSIDE,	/* somewhere in the object that its first argument points into */
	RESULT_ARG0,	/* its first argument */
	RESULT_ARG1,
	RESULT_ARG2,
};

struct summary {
	const char *name;
	uint8_t result;	 /* enum summary_result */
	uint8_t writes;	 /* bit i: writes what argument i points to (bit 7: 7th and later too) */
	uint8_t escapes; /* bit i: keeps argument i, or does anything with it */
	uint8_t special; /* enum summary_special */
	bool input;	 /* nobody can compute again what it returns or writes */
};

enum summary_special {
	SPECIAL_NONE,
	SPECIAL_COPY,	  /* copies argument 1's contents to argument 0's */
	SPECIAL_CREATE,	  /* (thread, attributes, function, argument) */
	SPECIAL_THRD,	  /* (thread, function, argument) */
	SPECIAL_JOIN,	  /* (thread, where to store the result) */
	SPECIAL_ONCE,	  /* calls argument 1 */
	SPECIAL_ATEXIT,	  /* calls argument 0, with argument 1 if there is one */
	SPECIAL_SORT,	  /* calls its last argument with pointers into argument 0 */
	SPECIAL_END,	  /* stores a pointer into argument 0 where argument 1 points (strtol) */
	SPECIAL_FRESH0,	  /* stores fresh memory where argument 0 points (posix_memalign) */
	SPECIAL_SEARCH,	  /* (key, base, n, size, compare) */
	SPECIAL_TOKEN,	  /* strtok_r */
	SPECIAL_SPECIFIC, /* pthread_setspecific, pthread_getspecific */
	SPECIAL_BUFFER,	  /* setvbuf: what argument 0 points to will point to argument 1 */
	SPECIAL_ENVIRON, /* getenv returns what the environment has; putenv puts argument 0 there */
	SPECIAL_RETURNED, /* pthread_exit: threads that join get argument 0 */
	SPECIAL_KEY,	  /* pthread_key_create: calls argument 1 with what a thread has set */
	SPECIAL_SENDS,	  /* argument 1's contents leave: any pointer in it may come back (write) */
	SPECIAL_RECEIVES, /* ... and what it gets may have such pointers (read) */
	SPECIAL_SCANS,	  /* a format: pointers that it reads may be anybody's */
	SPECIAL_PRINTS,	  /* a format: a pointer that it prints as a number may be read again */
	SPECIAL_EVENT, /* will call its last argument but one, whose third parameter is the last */
	/* the C++ library: cxx.c */
	SPECIAL_START,	/* std::thread's own pthread_create */
	SPECIAL_TREE,	/* links nodes of a tree */
	SPECIAL_LIST,	/* links nodes of a list */
	SPECIAL_INPUT,	/* nothing, but nobody can compute its result again */
	SPECIAL_STRING, /* a member of std::string: argument 0, and its characters */
};

/* NULL: unknown, expect anything. */
const struct summary *summary_find(const char *name);

/* What the function leaves in memory, or returns, is not a function of what it is given that
 * re-execution could evaluate again. */
static inline int summary_is_input(const struct summary *s)
{
	return s->special >= SPECIAL_TREE;
}

#endif
