/* An update is lost between plain accesses, and main then follows a null pointer. With SLOW in the environment the
 * threads wait for each other, so that it fails at once; the instructions are the same without it. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int n, *end, last = 2;
static volatile int has_read, has_added;
static int slow;
static __attribute__((noinline)) void meet(volatile int *flag)
{
	while (slow && !*flag)
		usleep(1000);
}
static __attribute__((noinline)) void set(int to)
{
	n = to;
}
static void *first(void *arg)
{
	int old = n;
	has_read = 1;
	meet(&has_added);
	set(old + 1);
	return arg;
}
static void *second(void *arg)
{
	meet(&has_read);
	n++;
	has_added = 1;
	return arg;
}
static __attribute__((noinline)) int look(void)
{
	return *end;
}
int main(void)
{
	pthread_t a, b;
	slow = getenv("SLOW") != NULL;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (n == 2)
		end = &last;
	return look() != 2;
}
