/* logandsweep - several threads append to a shared log, a sweeper flushes it now and then.
 *
 * A writer notes the end of the log, formats its record there and moves the end. A flush in between
 * resets the end; the writer then moves it to a stale place and the records around
 * are garbage or lost.
 * Cure: keep the log locked from note to move.   usage: main [writers=3] [records=8] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { SLOTS = 4096, MAX = 32 };

struct record {
	int writer, serial, check;
};

static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER; /* one writer at a time */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record *log_buf;
static int log_end, writers, records, sweeps = 6;
static int seen[MAX]; /* per writer: good records that reached the disk */
static int garbage;   /* what else did */

static __attribute__((noinline)) int end_read(void)
{
	return log_end; /* BUG:a */
}

static __attribute__((noinline)) void end_write(int end)
{
	log_end = end; /* BUG:c */
}

/* The buggy writer lets go of the log between its steps. */
static void step(void)
{
#ifndef FIXED
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
}

static void log_write(int writer, int serial)
{
	int at;

	pthread_mutex_lock(&write_lock);
	pthread_mutex_lock(&lock);
	at = end_read();
	step();
	log_buf[at].writer = writer;
	log_buf[at].serial = serial;
	log_buf[at].check = writer * 1000 + serial;
	step();
	end_write(at + 1);
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&write_lock);
}

static void sweep(void)
{
	int i, end;

	pthread_mutex_lock(&lock);
	end = log_end;
	for (i = 0; i < end; i++) {
		struct record *r = &log_buf[i];

		if (r->check != 0 && r->check == r->writer * 1000 + r->serial)
			seen[r->writer]++;
		else
			garbage++;
		r->check = 0;
	}
	log_end = 0; /* BUG:b */
	pthread_mutex_unlock(&lock);
}

static void *writer(void *arg)
{
	int i, id = *(int *)arg;

	for (i = 1; i <= records; i++)
		log_write(id, i);
	return NULL;
}

static void *sweeper(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < sweeps; i++)
		sweep();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[MAX + 1];
	int i, id[MAX];

	writers = argc > 1 ? atoi(argv[1]) : 3;
	records = argc > 2 ? atoi(argv[2]) : 8;
	if (writers < 1 || writers > MAX || records < 1 || writers * records >= SLOTS)
		return 2;
	log_buf = calloc(SLOTS, sizeof(*log_buf));
	assert(log_buf);
	for (i = 0; i < writers; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, writer, &id[i]);
	}
	pthread_create(&t[writers], NULL, sweeper, NULL);
	for (i = 0; i <= writers; i++)
		pthread_join(t[i], NULL);
	sweep();
	for (i = 0; i < writers; i++)
		assert(seen[i] == records);
	assert(garbage == 0);
	free(log_buf);
	return 0;
}
