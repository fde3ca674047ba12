/* stringbuf.h - a growable string whose every operation is protected by the buffer's own lock. */
#ifndef STRINGBUF_H
#define STRINGBUF_H

#include <pthread.h>

struct stringbuf {
	pthread_mutex_t lock; /* recursive */
	int count;            /* characters in use */
	int capacity;
	char *value;
};

struct stringbuf *stringbuf_new(const char *text);
void stringbuf_free(struct stringbuf *sb);
int stringbuf_length(struct stringbuf *sb);
/* Copy the characters [begin, end) to `to`; the range must lie inside the buffer. */
void stringbuf_get_chars(struct stringbuf *sb, int begin, int end, char *to);
void stringbuf_append_text(struct stringbuf *sb, const char *text);
void stringbuf_append(struct stringbuf *sb, struct stringbuf *other);
/* Remove the characters [begin, end). */
void stringbuf_erase(struct stringbuf *sb, int begin, int end);

#endif
