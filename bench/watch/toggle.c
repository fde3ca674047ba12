/* bench/watch/toggle.c - preloaded before the watch library: sends mutex calls through it or straight to libc, as a byte
 * in a shared file ($TOGGLE) says. So one process can be measured with and without, and two processes that happen to
 * lie differently in memory and on cores need not be compared. A lock is released on the way it was taken: else every
 * switch would leave locks behind that the library takes for held. */
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

enum { MOST = 16 }; /* locks held by one thread; further ones are taken and released by libc */
static __thread struct {
	pthread_mutex_t *m;
	int way;
} held[MOST] __attribute__((tls_model("initial-exec")));
static __thread unsigned nheld __attribute__((tls_model("initial-exec")));

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

static int way_now(void)
{
	if (!flag)
		init();
	return nheld < MOST ? *flag : 0;
}

static void note(pthread_mutex_t *m, int way)
{
	if (nheld < MOST) {
		held[nheld].m = m;
		held[nheld++].way = way;
	}
}

/* A jump, not a call: the library is to see the program's stack, without a wrapper that the program does not have. */
int pthread_mutex_lock(pthread_mutex_t *m)
{
	int way = way_now();

	note(m, way);
	return lock_fn[way](m);
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	int way = way_now(), result = trylock_fn[way](m);

	if (result == 0)
		note(m, way);
	return result;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	int way = 0;

	if (!flag)
		init();
	for (unsigned i = nheld; i-- > 0;) {
		if (held[i].m != m)
			continue;
		way = held[i].way;
		for (nheld--; i < nheld; i++)
			held[i] = held[i + 1];
		break;
	}
	return unlock_fn[way](m);
}
