/* carter01 - two groups share a room; the first of a group locks it, the last unlocks it.
 *
 * The door mutex guards the head counts. A member of group B that finds the room taken blocks on
 * the room while it still holds the door; nobody of group A can count itself out any more.
 * Cure: the room first, then the door.   usage: main */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t room = PTHREAD_MUTEX_INITIALIZER;
static int in_a, in_b;

static void *group_a(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&room);
	pthread_mutex_lock(&door);
	in_a++;
#else
	pthread_mutex_lock(&door);
	if (++in_a == 1)
		pthread_mutex_lock(&room); /* BUG:a */
#endif
	pthread_mutex_unlock(&door);

	pthread_mutex_lock(&door); /* BUG:b */
	if (--in_a == 0)
		pthread_mutex_unlock(&room);
	pthread_mutex_unlock(&door);
	return NULL;
}

static void *group_b(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&room);
	pthread_mutex_lock(&door);
	in_b++;
#else
	pthread_mutex_lock(&door);
	if (++in_b == 1)
		pthread_mutex_lock(&room); /* BUG:a */
#endif
	pthread_mutex_unlock(&door);

	pthread_mutex_lock(&door); /* BUG:b */
	if (--in_b == 0)
		pthread_mutex_unlock(&room);
	pthread_mutex_unlock(&door);
	return NULL;
}

static void *bystander(void *arg)
{
	return arg;
}

int main(void)
{
	void *(*body[])(void *) = { group_a, group_b, bystander, bystander };
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, body[i], NULL);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
