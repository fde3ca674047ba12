#!/usr/bin/env bash
# explain: a program that hopes to be late enough by sleeping. In virtual time the sleep of main always ends before
# the worker's last one: the schedule that passes is the one in which main waits for the sleeper, too.
# level: check
. "$(dirname "$0")/lib.sh"

cat >queue.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct queue { pthread_mutex_t *mut; int length; };
struct queue fifo;
static void *worker(void *arg)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(fifo.mut); /* BUG:b */
		fifo.length++;
		pthread_mutex_unlock(fifo.mut);
		usleep(2000);
	}
	return arg;
}
int main(void)
{
	pthread_t t;
	fifo.mut = malloc(sizeof(*fifo.mut));
	pthread_mutex_init(fifo.mut, NULL);
	pthread_create(&t, NULL, worker, NULL);
	usleep(3000);
	fifo.mut = NULL; /* BUG:a */
	pthread_join(t, NULL);
	return 0;
}
C
run 0 unplait cc -g -O1 -pthread -o queue queue.c
run 1 unplait hunt -q -n 100 -o fail.plait -- ./queue
run 1 unplait explain -n 100 fail.plait
has out "kind     order"
has out "BUG:a" "the report shows where main takes the queue away"
has out "BUG:b" "... and where the worker uses it"
has out "0 of 100 with it enforced"
tr -s ' \n' ' ' <out >text
has text "must wait until the other threads are done"
has text "Segmentation fault, at queue.c:9 in worker()" "it says where it failed"
finish
