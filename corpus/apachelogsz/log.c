/* log.c - the access log: lines are collected in a buffer that is written out when it is full. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "httpd.h"

void log_init(struct access_log *log, int room)
{
	pthread_mutex_init(&log->lock, NULL);
	log->file = calloc(1, room + LOG_BUFFER);
	assert(log->file);
	log->file_room = room;
}

void log_deinit(struct access_log *log)
{
	free(log->file);
}

void log_flush(struct access_log *log)
{
	int n = log->end;

	assert(log->file_length + n <= log->file_room);
	memcpy(log->file + log->file_length, log->buffer, n);
	log->file_length += n;
	log->end = 0;
}

static __attribute__((noinline)) char *log_place(struct access_log *log)
{
	return log->buffer + log->end; /* BUG:a */
}

static __attribute__((noinline)) void log_advance(struct access_log *log, int length)
{
	log->end += length; /* BUG:b */
}

void log_write(struct access_log *log, const char *line, int length)
{
#ifdef FIXED
	pthread_mutex_lock(&log->lock);
#endif
	if (log->end + length > LOG_BUFFER)
		log_flush(log);
	memcpy(log_place(log), line, length);
	log_advance(log, length);
#ifdef FIXED
	pthread_mutex_unlock(&log->lock);
#endif
}
