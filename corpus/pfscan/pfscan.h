/* pfscan.h - a parallel file scanner, shaped like pfscan: main puts file names into a queue, workers take them out, search
 * the files for a string and print where it is. The files are made up, so that no input is needed. */
#ifndef PFSCAN_H
#define PFSCAN_H

#include <pthread.h>

#define PQUEUE_MAX 64

struct pqueue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int item[PQUEUE_MAX]; /* file numbers */
	int in, out;
	int filled;     /* items in the queue */
	int closed;     /* there will be no more */
	int high_water; /* most items there ever were */
};

void pqueue_init(struct pqueue *q);
void pqueue_deinit(struct pqueue *q);
void pqueue_put(struct pqueue *q, int item);
void pqueue_close(struct pqueue *q);
/* An item in *ret. Returns 1, 0 when there is none at the moment, -1 when there will never be one again. */
int pqueue_get(struct pqueue *q, int *ret);
/* Wait until pqueue_get() may be worth another try. */
void pqueue_wait(struct pqueue *q);

/* What file `number` contains, `size` bytes of it. */
void file_read(int number, char *text, int size);
/* How often `what` occurs in the text. */
int text_search(const char *text, int size, const char *what);

#endif
