/* Two threads take one each: both may see ten. */
#include <assert.h>
#include <pthread.h>

static int balance = 10;

static void *take(void *p)
{
	int b = balance;

	balance = b - 1;
	return p;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, 0, take, 0);
	pthread_create(&b, 0, take, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(balance == 8);
	return 0;
}
