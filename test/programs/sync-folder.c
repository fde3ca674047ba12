/* Two threads list a folder in turn, and print the names in the order in which they got them. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static DIR *folder;

static void *work(void *arg)
{
	int me = (int)(long)arg;

	for (;;) {
		struct dirent *e;

		pthread_mutex_lock(&lock);
		e = readdir(folder);
		if (e && e->d_name[0] != '.')
			printf("%c %s\n", 'a' + me, e->d_name);
		pthread_mutex_unlock(&lock);
		if (!e)
			return NULL;
		usleep(100);
	}
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	if (argc < 2 || opendir("no such folder") || !(folder = opendir(argv[1])))
		return 3;
	printf("descriptor %d\n", dirfd(folder));
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return closedir(folder);
}
