/* pfscan: two workers take the last file from the queue (see pqueue.c).
 *
 * usage: pfscan [WORKERS [FILES]] */
#include "pfscan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORKERS 16
#define FILE_SIZE 400

static struct pqueue queue;

/* Results, under print_lock. */
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;
static int files_scanned, files_matched, matches;

/* Workers that are still at it, under worker_lock; main waits for the last one. */
static pthread_mutex_t worker_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t worker_gone = PTHREAD_COND_INITIALIZER;
static int active_workers;

static void scan_file(int number)
{
	char text[FILE_SIZE];
	int found;

	file_read(number, text, FILE_SIZE);
	found = text_search(text, FILE_SIZE, "plait");
	pthread_mutex_lock(&print_lock);
	files_scanned++;
	if (found) {
		files_matched++;
		matches += found;
		printf("file%d: %d\n", number, found);
	}
	pthread_mutex_unlock(&print_lock);
}

static void *worker(void *arg)
{
	int file, got;

	while ((got = pqueue_get(&queue, &file)) >= 0) {
		if (got)
			scan_file(file);
		else
			pqueue_wait(&queue);
	}
	pthread_mutex_lock(&worker_lock);
	active_workers--;
	pthread_cond_signal(&worker_gone);
	pthread_mutex_unlock(&worker_lock);
	return arg;
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 4;
	int files = argc > 2 ? atoi(argv[2]) : 3;
	pthread_t thread[MAX_WORKERS];

	if (workers < 1 || workers > MAX_WORKERS || files < 0 || files > PQUEUE_MAX) {
		fprintf(stderr, "usage: pfscan [WORKERS(1-%d) [FILES(0-%d)]]\n", MAX_WORKERS, PQUEUE_MAX);
		return 2;
	}
	pqueue_init(&queue);
	active_workers = workers;
	for (int i = 0; i < workers; i++)
		pthread_create(&thread[i], NULL, worker, NULL);
	for (int i = 0; i < files; i++)
		pqueue_put(&queue, i);
	pqueue_close(&queue);

	pthread_mutex_lock(&worker_lock);
	while (active_workers > 0)
		pthread_cond_wait(&worker_gone, &worker_lock);
	pthread_mutex_unlock(&worker_lock);
	for (int i = 0; i < workers; i++)
		pthread_join(thread[i], NULL);

	assert(files_scanned == files);
	printf("%d files, %d with matches, %d matches, queue up to %d long\n", files_scanned, files_matched,
	       matches, queue.high_water);
	pqueue_deinit(&queue);
	return 0;
}
