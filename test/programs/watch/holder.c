/* One thread takes a lock through a wrapper and then does something else for ever; the other one wants the lock. Nobody
 * but the reader can unwind the holder's stack: it never waits for a lock. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int taken;
#define CALL __attribute__((noinline))

static CALL void take(void)
{
	pthread_mutex_lock(&m); /* line 12 */
	__asm__ volatile("");
}

static CALL void begin(void)
{
	volatile char frame[16];

	frame[0] = 0;
	take(); /* line 21 */
	__asm__ volatile("");
}

static void *hold(void *p)
{
	begin(); /* line 27 */
	taken = 1;
	for (;;)
		pause();
	return p;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, hold, NULL);
	while (!taken)
		usleep(1000);
	pthread_mutex_lock(&m); /* line 41 */
	return 0;
}
