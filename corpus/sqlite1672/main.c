/* sqlite1672 - a recursive global lock made of two mutexes and a counter.
 *
 * enter_mutex takes the auxiliary mutex, and the main one too if the counter says that nobody is
 * in, and then counts itself in, but after it has let go of the auxiliary mutex. A second thread
 * that comes just then still reads 0 and blocks on the main mutex while it holds the auxiliary
 * one, which the owner needs for its next, nested entry.
 * Around it: a tiny pager whose operations nest.
 * Cure: the recursive mutex of the system.
 * usage: main [transactions=2] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { PAGES = 8 };

struct pager {
	int page[PAGES];
	int dirty[PAGES];
	int journal, commits;
};

static pthread_mutex_t aux = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t main_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int in_mutex;
static pthread_t owner;
static struct pager *pager;
static int transactions;

#ifdef FIXED
static pthread_mutex_t global;

static void enter_mutex(void)
{
	pthread_mutex_lock(&global);
}

static void leave_mutex(void)
{
	pthread_mutex_unlock(&global);
}

static void mutex_init(void)
{
	pthread_mutexattr_t attr;

	(void)aux;
	(void)main_mutex;
	(void)in_mutex;
	(void)owner;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&global, &attr);
}
#else
static void enter_mutex(void)
{
	pthread_mutex_lock(&aux); /* BUG:c */
	if (in_mutex == 0) { /* nobody is in: this will not block */
		pthread_mutex_lock(&main_mutex); /* BUG:b */
		owner = pthread_self();
	} else if (!pthread_equal(owner, pthread_self())) {
		pthread_mutex_unlock(&aux);
		pthread_mutex_lock(&main_mutex);
		pthread_mutex_lock(&aux);
		owner = pthread_self();
	}
	pthread_mutex_unlock(&aux); /* BUG:a */
	in_mutex++;
}

static void leave_mutex(void)
{
	in_mutex--;
	if (in_mutex == 0)
		pthread_mutex_unlock(&main_mutex);
}

static void mutex_init(void)
{
}
#endif

static void page_write(int n, int value)
{
	enter_mutex();
	pager->page[n] = value;
	pager->dirty[n] = 1;
	leave_mutex();
}

static void commit(void)
{
	int i;

	enter_mutex();
	for (i = 0; i < PAGES; i++)
		if (pager->dirty[i]) {
			pager->journal++;
			pager->dirty[i] = 0;
		}
	pager->commits++;
	leave_mutex();
}

static void transaction(int id, int n)
{
	enter_mutex();
	page_write(n % PAGES, id);
	page_write((n + 1) % PAGES, id);
	commit();
	leave_mutex();
}

static void *connection(void *arg)
{
	int i, id = *(int *)arg;

	for (i = 0; i < transactions; i++)
		transaction(id, i * 2);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, id[2] = { 1, 2 };
	pthread_t t[2];

	transactions = argc > 1 ? atoi(argv[1]) : 2;
	pager = calloc(1, sizeof(*pager));
	if (!pager || transactions < 1)
		return 2;
	mutex_init();
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, connection, &id[i]);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(pager->commits == 2 * transactions);
	free(pager);
	return 0;
}
