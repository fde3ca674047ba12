/* Two clerks who need both keys, and take them in different orders. They always meet. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER, safe = PTHREAD_MUTEX_INITIALIZER;

static void *open_shop(void *p)
{
	pthread_mutex_lock(&till);
	sleep(1);
	pthread_mutex_lock(&safe);
	pthread_mutex_unlock(&safe);
	pthread_mutex_unlock(&till);
	return p;
}

static void *close_shop(void *p)
{
	pthread_mutex_lock(&safe);
	sleep(1);
	pthread_mutex_lock(&till);
	pthread_mutex_unlock(&till);
	pthread_mutex_unlock(&safe);
	return p;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, open_shop, NULL);
	pthread_create(&b, NULL, close_shop, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
