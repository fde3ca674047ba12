#!/usr/bin/env bash
# Who holds what: units of a semaphore that nobody holds alone, the assertion itself, advice that would hang, and what
# is said of memory that another thread gave back.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }
explained() { # NAME CC LEVEL [RUNS]
	run 0 unplait "$2" -g "$3" -pthread "$1".c* -o "$1"
	rm -f "$1.plait"
	run 1 unplait hunt -q --seed 1 -n 1000 -o "$1.plait" "./$1"
	unplait explain -q --runs "${4:-100}" "$1.plait" >out 2>err
	tr -s ' \n' ' ' <out >flat
}

# Two buffers in all; who copies needs two.
cat >units.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t buffers;
static void *copy(void *p)
{
	sem_wait(&buffers);
	sem_wait(&buffers);
	sem_post(&buffers);
	sem_post(&buffers);
	return p;
}
int main(void)
{
	pthread_t a, b;
	sem_init(&buffers, 0, 2);
	pthread_create(&a, 0, copy, 0);
	pthread_create(&b, 0, copy, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
# The opposite: a semaphore of one unit is a lock, and here a thread takes it again.
cat >again.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t one;
static int full;
static void *fill(void *p)
{
	sem_wait(&one);
	full = 1;
	sem_post(&one);
	return p;
}
int main(void)
{
	pthread_t t;
	sem_init(&one, 0, 1);
	pthread_create(&t, 0, fill, 0);
	sem_wait(&one);
	if (full)
		sem_wait(&one);
	sem_post(&one);
	pthread_join(t, 0);
	return 0;
}
C
for level in -O0 -O2; do
	explained units cc $level
	has flat "holds 1 unit of buffers (units.c:6) and waits for one more (units.c:7)" "$level: how much who holds"
	has flat "each waits for what the other holds" "$level: the unit that is missing is the other's"
	hasnt flat "holds itself" "$level: nobody holds all of it"
	explained again cc $level
	has flat "waits at again.c:19 for one, which it holds itself" "$level: one unit is a lock"
done
finish
