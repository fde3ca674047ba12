/* radbench3 - objects with an owning context; using another's object means asking for it.
 *
 * A context asks for an object by marking itself as waiting and sleeps until the owner gives the
 * object up, which an owner does only at the end of its request. Two contexts that ask for each
 * other's object wait for ever.
 * Cure: who is about to sleep gives up what others wait for.   usage: main */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct object {
	int owner;  /* 0: nobody */
	int wanted;
	int uses;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_up = PTHREAD_COND_INITIALIZER;
static struct object *object[2];

static void claim(struct object *o, int me)
{
	o->wanted++;
	while (o->owner != 0 && o->owner != me)
		pthread_cond_wait(&given_up, &lock); /* BUG:b */
	o->wanted--;
	o->owner = me; /* BUG:a */
}

static void give_up(struct object *o, int me)
{
	if (o->owner == me) {
		o->owner = 0;
		pthread_cond_broadcast(&given_up);
	}
}

static void *context(void *arg)
{
	int me = *(int *)arg;
	struct object *own = object[me - 1], *other = object[2 - me];

	pthread_mutex_lock(&lock);
	claim(own, me);
	own->uses++;
	pthread_mutex_unlock(&lock);

	pthread_mutex_lock(&lock);
#ifdef FIXED
	give_up(own, me);
#endif
	claim(other, me);
	other->uses++;
	give_up(other, me);
	give_up(own, me);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	int i, id[2] = { 1, 2 };
	pthread_t t[2];

	for (i = 0; i < 2; i++) {
		object[i] = calloc(1, sizeof(*object[i]));
		assert(object[i]);
	}
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, context, &id[i]);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < 2; i++) {
		assert(object[i]->uses == 2);
		free(object[i]);
	}
	return 0;
}
