/* base/words.h - a list of owned strings, as execve wants it. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/vec.h"

/* data ends with a NULL, which len does not count, whenever data is not NULL. */
struct words VEC_FIELDS(char *);
void words_push(struct words *w, const char *word); /* a copy */
void words_take(struct words *w, char *word);	    /* the word itself */
void words_copy(struct words *to, const struct words *from);
void words_deinit(struct words *w);

/* How many letters must be added, left out or changed to make one word of the other; `a` has `na`. SIZE_MAX: one of
 * them is no word. */
size_t word_distance(const char *a, size_t na, const char *b);

struct strbuf;
/* A few of many: "thread 0.1", "threads 0.1 and 0.2", "threads 0.1, 0.2 and 7 more". */
void words_add_crowd(const struct words *names, const char *noun, struct strbuf *out);

#endif
