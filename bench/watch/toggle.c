/* bench/watch/toggle.c - preloaded before the watch library: sends mutex calls through it or straight to libc, as a byte
 * in a shared file ($TOGGLE) says. So one process can be measured with and without, and two processes that happen to
 * lie differently in memory and on cores need not be compared. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int mutex_fn(pthread_mutex_t *);
static mutex_fn *lock_fn[2], *trylock_fn[2], *unlock_fn[2];
static const volatile unsigned char *flag;

static void find(mutex_fn **f, void *libc, const char *name)
{
	f[0] = (mutex_fn *)dlsym(libc, name);
	f[1] = (mutex_fn *)dlsym(RTLD_NEXT, name);
}

static void init(void)
{
	static const unsigned char on = 1;
	const char *path = getenv("TOGGLE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *libc = dlopen("libc.so.6", RTLD_NOW), *p = MAP_FAILED;

	find(trylock_fn, libc, "pthread_mutex_trylock");
	find(unlock_fn, libc, "pthread_mutex_unlock");
	find(lock_fn, libc, "pthread_mutex_lock");
	if (fd >= 0)
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	flag = p == MAP_FAILED ? &on : p;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	if (!flag)
		init();
	return lock_fn[*flag](m);
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	if (!flag)
		init();
	return trylock_fn[*flag](m);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (!flag)
		init();
	return unlock_fn[*flag](m);
}
