/* Two threads take two locks in different orders (ORDERED: in the same), after asynchronous I/O: for a second a thread
 * of libc idles. For 1800 and 1803. */
#include <aio.h>
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

static void *two(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(b);
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
	return NULL;
}

static void *ab(void *arg)
{
	(void)arg;
	return two(&m, &n);
}

static void *ba(void *arg)
{
	return ORDERED ? ab(arg) : two(&n, &m);
}

int main(int argc, char **argv)
{
	char buf[16];
	struct aiocb cb;
	const struct aiocb *list[1] = { &cb };
	pthread_t t, u;

	memset(&cb, 0, sizeof(cb));
	cb.aio_fildes = open(argv[0], O_RDONLY);
	cb.aio_buf = buf;
	cb.aio_nbytes = sizeof(buf);
	assert(!aio_read(&cb));
	aio_suspend(list, 1, NULL);
	assert(aio_return(&cb) == sizeof(buf));
	pthread_create(&t, NULL, ab, NULL);
	pthread_create(&u, NULL, ba, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return argc - 1;
}
