/* A spinlock written as inline assembly, and a counter that is read and written under it, but not in
 * one piece. With -DODD the lock is a bit, in instructions that stay assembly. */
#include <assert.h>
#include <pthread.h>

static volatile int word;
static int count;

static int taken(void)
{
#ifdef ODD
	unsigned char was;
	__asm__ __volatile__("lock; btsl $0, %0; setc %1" : "+m"(word), "=q"(was)::"memory", "cc");
	return was;
#else
	int v = 1;
	__asm__ __volatile__("xchgl %0, %1" : "+r"(v), "+m"(word)::"memory");
	return v;
#endif
}

static void lock(void)
{
	while (taken())
		__asm__ __volatile__("pause");
}

static void unlock(void)
{
#ifdef ODD
	__asm__ __volatile__("lock; btrl $0, %0" : "+m"(word)::"memory", "cc");
#else
	__asm__ __volatile__("movl $0, %0" : "=m"(word)::"memory");
#endif
}

static void *work(void *arg)
{
	int seen;

	lock();
	seen = count;
#ifndef FIXED
	unlock();
	lock();
#endif
	count = seen + 1;
	unlock();
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(count == 2);
	return 0;
}
