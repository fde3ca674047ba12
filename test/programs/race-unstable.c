/* How many lines it prints comes from the kernel, and differs from run to run. The race changes
 * nothing. */
#include <pthread.h>
#include <stdio.h>

static int mark;

static void *set(void *arg)
{
	mark = arg ? 1 : 2;
	return NULL;
}

int main(void)
{
	FILE *f = fopen("/proc/sys/kernel/random/uuid", "r");
	unsigned lines = 0;
	pthread_t t;

	pthread_create(&t, NULL, set, NULL);
	set(&t);
	pthread_join(t, NULL);
	if (!f || fscanf(f, "%2x", &lines) != 1)
		return 2;
	fclose(f);
	for (unsigned i = 0; i <= lines; i++)
		printf("%u\n", i);
	return mark ? 0 : 1;
}
