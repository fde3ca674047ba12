/* Four threads that record writes and say, in a shared file, how many they have made: a test that kills
 * this program can tell what its trace must hold. The events are made through the hooks directly. */
#include "unplait/hooks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t *progress;
static uint32_t target[4][16];

static void *work(void *arg)
{
	long me = (long)arg;

	for (uint64_t i = 1;; i++) {
		plait_write4(&target[me][i & 15], (uint32_t)i, (uint32_t)(i % 1000));
		__atomic_store_n(&progress[me * 8], i, __ATOMIC_RELEASE);
		if (i % 4096 == 0) /* usleep would be an event */
			syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = 100000 }, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0644);
	pthread_t t;

	if (argc < 2 || fd < 0 || ftruncate(fd, 4096) != 0)
		return 2;
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (long i = 1; i < 4; i++)
		pthread_create(&t, NULL, work, (void *)i);
	pause();
}
