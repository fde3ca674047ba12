/* bufwriter: the writers of one kind take the wrong lock.
 *
 * Writers append records to a shared log; a checker reads along and verifies what is there. Text writers and the checker
 * lock the log. Number writers, added later, lock the statistics instead, which they need as well, and believe that
 * is enough: two records get the same place, and the log is shorter than the statistics say.
 *
 * The cure locks the log as well.
 *
 * usage: bufwriter [RECORDS [WRITERS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_RECORDS 4096
#define MAX_WRITERS 8

struct record {
	char kind; /* 't' or 'n' */
	int writer;
	int serial;
};

struct log {
	pthread_mutex_t lock;
	struct record record[MAX_RECORDS];
	int length;
};

struct statistics {
	pthread_mutex_t lock;
	int records, texts, numbers;
};

struct writer {
	pthread_t thread;
	int number;
	char kind;
	int written;
};

static struct log log_buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct statistics stats = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct writer writer[MAX_WRITERS];
static int records = 33; /* of each writer */

/* The caller holds the lock of the log. Or so it says. */
static void append(struct log *log, char kind, int number, int serial)
{
	int at = log->length; /* BUG:a */

	log->record[at].kind = kind;
	log->record[at].writer = number;
	log->record[at].serial = serial;
	log->length = at + 1; /* BUG:b */
}

static void write_text(struct writer *w)
{
	pthread_mutex_lock(&log_buffer.lock);
	append(&log_buffer, 't', w->number, w->written);
	pthread_mutex_unlock(&log_buffer.lock);

	pthread_mutex_lock(&stats.lock);
	stats.records++;
	stats.texts++;
	pthread_mutex_unlock(&stats.lock);
}

static void write_number(struct writer *w)
{
	pthread_mutex_lock(&stats.lock);
#ifdef FIXED
	pthread_mutex_lock(&log_buffer.lock);
#endif
	append(&log_buffer, 'n', w->number, w->written);
#ifdef FIXED
	pthread_mutex_unlock(&log_buffer.lock);
#endif
	stats.records++;
	stats.numbers++;
	pthread_mutex_unlock(&stats.lock);
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;

	for (int i = 0; i < records; i++) {
		if (w->kind == 't')
			write_text(w);
		else
			write_number(w);
		w->written++;
	}
	return NULL;
}

/* Count the records of each kind, a few times while the writers are at work. */
static void *checker(void *arg)
{
	int *known = arg;

	for (int round = 0; round < 3; round++) {
		int n = 0;

		pthread_mutex_lock(&log_buffer.lock);
		for (int i = 0; i < log_buffer.length; i++)
			n += log_buffer.record[i].kind == 't' || log_buffer.record[i].kind == 'n';
		pthread_mutex_unlock(&log_buffer.lock);
		*known = n;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int writers = argc > 2 ? atoi(argv[2]) : 3;
	int known = 0;
	pthread_t check;

	records = argc > 1 ? atoi(argv[1]) : records;
	if (writers < 1 || writers > MAX_WRITERS || records < 1 || writers * records > MAX_RECORDS) {
		fprintf(stderr, "usage: bufwriter [RECORDS [WRITERS(1-%d)]], %d records in all\n", MAX_WRITERS,
			MAX_RECORDS);
		return 2;
	}
	for (int i = 0; i < writers; i++) {
		writer[i].number = i;
		writer[i].kind = i % 3 == 2 ? 'n' : 't';
		pthread_create(&writer[i].thread, NULL, writer_main, &writer[i]);
	}
	pthread_create(&check, NULL, checker, &known);
	for (int i = 0; i < writers; i++)
		pthread_join(writer[i].thread, NULL);
	pthread_join(check, NULL);

	printf("%d texts, %d numbers, %d seen on the way\n", stats.texts, stats.numbers, known);
	assert(stats.records == writers * records);
	assert(log_buffer.length == stats.records);
	return 0;
}
