/* One thread keeps a clock in a plain variable, as servers do. Two others look at it without a lock, and which lock they
 * take depends on what they saw. That goes to a file that is mapped, a digit for each lock, so no recording and no replay
 * has it; the program always ends the same way. sync-clock FILE */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TICKS = 10, ROUNDS = 1000, WORK = 4000 };

static pthread_mutex_t locks[2][2] = { { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER },
				       { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER } };
static volatile unsigned now;
static char *said;

static void *clock_ticks(void *arg)
{
	for (int i = 0; i < TICKS; i++) {
		usleep(1000);
		now++;
	}
	return arg;
}

static void *work(void *arg)
{
	int me = arg != NULL;

	for (int i = 0; i < ROUNDS; i++) {
		unsigned seen = now;

		pthread_mutex_lock(&locks[me][seen % 2]);
		said[me * (ROUNDS + 1) + i] = '0' + seen % 2;
		pthread_mutex_unlock(&locks[me][seen % 2]);
		for (volatile int k = 0; k < WORK;)
			k++;
	}
	said[me * (ROUNDS + 1) + ROUNDS] = '\n';
	return arg;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	pthread_t t[3];

	if (fd < 0 || ftruncate(fd, 2 * (ROUNDS + 1)) != 0)
		return 1;
	said = mmap(NULL, 2 * (ROUNDS + 1), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_create(&t[0], NULL, clock_ticks, NULL);
	pthread_create(&t[1], NULL, work, NULL);
	pthread_create(&t[2], NULL, work, argv);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
