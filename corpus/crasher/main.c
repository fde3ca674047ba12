/* crasher: a pointer is checked in one critical section and used in the next.
 *
 * Four users look at a shared record if there is one; a renewer throws the record away and makes a new one, over and over.
 * Every access holds the lock, but a user gives it up between the check and the use.
 *
 * usage: crasher [USERS [ROUNDS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_USERS 32

struct record {
	int serial;
	int uses;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record *record;
static int total_uses;
static int rounds = 5;

static void drop_record(void)
{
	pthread_mutex_lock(&lock);
	free(record);
	record = NULL; /* BUG:b */
	pthread_mutex_unlock(&lock);
}

static void make_record(int serial)
{
	struct record *r = malloc(sizeof(*r));

	assert(r);
	r->serial = serial;
	r->uses = 0;
	pthread_mutex_lock(&lock);
	record = r;
	pthread_mutex_unlock(&lock);
}

static void *renewer(void *arg)
{
	(void)arg;
	for (int i = 1; i <= rounds; i++) {
		drop_record();
		make_record(i);
	}
	return NULL;
}

static void use_record(void)
{
	pthread_mutex_lock(&lock);
	if (record != NULL) { /* BUG:a */
#ifndef FIXED
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
#endif
		record->uses++; /* BUG:c */
		total_uses++;
	}
	pthread_mutex_unlock(&lock);
}

static void *user(void *arg)
{
	(void)arg;
	for (int i = 0; i < rounds; i++)
		use_record();
	return NULL;
}

int main(int argc, char **argv)
{
	int users = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t thread[MAX_USERS + 1];

	rounds = argc > 2 ? atoi(argv[2]) : rounds;
	if (users < 0 || users > MAX_USERS) {
		fprintf(stderr, "usage: crasher [USERS(0-%d) [ROUNDS]]\n", MAX_USERS);
		return 2;
	}
	make_record(0);
	for (int i = 0; i < users; i++)
		pthread_create(&thread[i], NULL, user, NULL);
	pthread_create(&thread[users], NULL, renewer, NULL);
	for (int i = 0; i <= users; i++)
		pthread_join(thread[i], NULL);
	assert(total_uses <= users * rounds);
	free(record);
	return 0;
}
