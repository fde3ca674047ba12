/* binlog.c - the log of changes, in numbered files. */
#include <assert.h>

#include "server.h"

static void log_open(struct binlog *log)
{
	log->is_open = 1; /* BUG:c */
}

static void log_close(struct binlog *log)
{
	log->is_open = 0; /* BUG:a */
}

static __attribute__((noinline)) int log_is_open(struct binlog *log)
{
	return log->is_open; /* BUG:b */
}

void binlog_init(struct binlog *log)
{
	pthread_mutex_init(&log->lock, NULL);
	log->is_open = 1;
}

static void append(struct binlog *log, const struct statement *st)
{
	struct log_file *f = &log->file[log->current];

	assert(f->events < EVENTS);
	f->event[f->events++] = *st;
	log->written++;
}

void binlog_write(struct binlog *log, const struct statement *st)
{
#ifndef FIXED
	if (!log_is_open(log))
		return; /* logging is off */
#endif
	pthread_mutex_lock(&log->lock);
	if (log_is_open(log))
		append(log, st);
	pthread_mutex_unlock(&log->lock);
}

void binlog_rotate(struct binlog *log)
{
	pthread_mutex_lock(&log->lock);
	log_close(log);
	log->current++;
	assert(log->current < FILES);
	log->file[log->current].events = 0;
	log_open(log);
	pthread_mutex_unlock(&log->lock);
}
