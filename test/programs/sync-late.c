/* sync-late again|never - a reader loads a word often enough to need no lock, then once more when the writer has let it;
 * the writer writes meanwhile. Prints what that load saw. `again`: the reader comes to the word once more afterwards.
 * Only a debugger can have the write come between the reader's load and its note (test/e2e/2161-record-sync-late.sh). */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic long word;
static sem_t ready, go;
static int comes_again;
static long saw, later;

__attribute__((noinline)) void reader_loads(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void writer_posts(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void writer_writes(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void writer_wrote(void) { __asm__ volatile("" ::: "memory"); }

static void *reads(void *arg)
{
	for (int i = 0; i < 6000; i++)
		saw += atomic_load(&word);
	sem_post(&ready);
	sem_wait(&go);
	reader_loads();
	saw += atomic_load(&word);
	if (comes_again)
		later = atomic_load(&word);
	return arg;
}

static void *writes(void *arg)
{
	sem_wait(&ready);
	writer_posts();
	sem_post(&go);
	writer_writes();
	atomic_store(&word, 1);
	writer_wrote();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	comes_again = argc > 1 && !strcmp(argv[1], "again");
	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	pthread_create(&t[0], NULL, reads, NULL);
	pthread_create(&t[1], NULL, writes, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	printf("saw %ld, later %ld\n", saw, later);
	return 0;
}
