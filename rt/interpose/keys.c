/* rt/interpose/keys.c - thread-specific data and thread-local objects at the end of a controlled thread.
 *
 * libc runs the destructors of a thread in code that ends with the kernel thread. A fiber
 * has none, so a controlled thread does the same here, in libc's order: first C++ thread_local
 * objects, then up to four rounds over the keys. For that the destructors must be known. */
#include "rt/interpose/controlled.h"

#include <dlfcn.h>
#include <limits.h>

static void (*destructors[PTHREAD_KEYS_MAX])(void *);
static pthread_key_t highest;

static void note(pthread_key_t key, void (*destructor)(void *))
{
	if (key >= PTHREAD_KEYS_MAX)
		return;
	destructors[key] = destructor;
	if (key > highest)
		highest = key;
}

int hook_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	int r;

	HOOK_ENTER;
	r = real.pthread_key_create(key, destructor);
	if (r == 0)
		note(*key, destructor);
	return r;
}

int hook___pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	return hook_pthread_key_create(key, destructor);
}

int hook_tss_create(tss_t *key, tss_dtor_t destructor)
{
	int r;

	HOOK_ENTER;
	r = real.tss_create(key, destructor);
	if (r == thrd_success)
		note(*key, destructor);
	return r;
}

int hook_pthread_key_delete(pthread_key_t key)
{
	HOOK_ENTER;
	if (key < PTHREAD_KEYS_MAX)
		destructors[key] = NULL;
	return real.pthread_key_delete(key);
}

void hook_tss_delete(tss_t key)
{
	hook_pthread_key_delete(key);
}

static bool destroy_values(void)
{
	bool any = false;
	pthread_key_t key;

	for (key = 0; key <= highest; key++) {
		void (*destructor)(void *) = destructors[key];
		void *value = destructor ? pthread_getspecific(key) : NULL;

		if (!value)
			continue;
		pthread_setspecific(key, NULL);
		destructor(value);
		any = true;
	}
	return any;
}

static void (*thread_locals)(void);

void keys_init(void)
{
	thread_locals = (void (*)(void))dlsym(RTLD_NEXT, "__call_tls_dtors");
}

void keys_thread_end(void)
{
	int round = 0;

	if (thread_locals)
		thread_locals();
	while (round < PTHREAD_DESTRUCTOR_ITERATIONS && destroy_values())
		round++;
}
