/* weblech: whether a page is queued, and taking it, are two steps.
 *
 * Spiders mirror a web site: each takes an address from the queue, downloads the page, and queues the links it has not seen
 * yet. A spider goes home when the queue is empty and nobody is downloading. Every use of the queue is locked, but
 * between the size check and the removal another spider may take the last address; the removal then returns nothing, and
 * the spider follows a null pointer.
 *
 * The site is a tree made up of numbers: page n links to 2n+1, 2n+2, and back to page 0.
 *
 * usage: weblech [SPIDERS [PAGES]] */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_SPIDERS 16
#define MAX_PAGES 256

struct page {
	int number;
	int depth;
	struct page *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *queue_first, *queue_last;
static int queue_size;
static int downloads_in_progress;
static int seen[MAX_PAGES]; /* queued at some time */
static int downloaded, deepest;
static int pages = 3;

/* The caller holds the lock, or is alone. */
static void queue_page(int number, int depth)
{
	struct page *p;

	if (number >= pages || seen[number])
		return;
	seen[number] = 1;
	p = malloc(sizeof(*p));
	assert(p);
	p->number = number;
	p->depth = depth;
	p->next = NULL;
	if (queue_last)
		queue_last->next = p;
	else
		queue_first = p;
	queue_last = p;
	queue_size++;
}

/* NULL when the queue is empty. The caller holds the lock. */
static struct page *next_in_queue(void)
{
	struct page *p = queue_first; /* BUG:c */

	if (!p)
		return NULL;
	queue_first = p->next; /* BUG:b */
	if (!queue_first)
		queue_last = NULL;
	queue_size--;
	return p;
}

static int get_queue_size(void)
{
	int n;

	pthread_mutex_lock(&lock);
	n = queue_size; /* BUG:a */
	pthread_mutex_unlock(&lock);
	return n;
}

static int get_downloads(void)
{
	int n;

	pthread_mutex_lock(&lock);
	n = downloads_in_progress;
	pthread_mutex_unlock(&lock);
	return n;
}

/* The next page to download in *ret, or false to go home. */
static int take_page(struct page **ret)
{
	while (get_downloads() > 0 || get_queue_size() > 0) {
		if (get_queue_size() == 0) { /* a download may yet bring links */
			sched_yield();
			continue;
		}
		pthread_mutex_lock(&lock);
		*ret = next_in_queue();
#ifdef FIXED
		if (!*ret) {
			pthread_mutex_unlock(&lock);
			continue;
		}
#endif
		downloads_in_progress++;
		pthread_mutex_unlock(&lock);
		return 1;
	}
	return 0;
}

static void download(const struct page *p)
{
	int number = p->number, depth = p->depth;

	pthread_mutex_lock(&lock);
	queue_page(2 * number + 1, depth + 1);
	queue_page(2 * number + 2, depth + 1);
	queue_page(0, depth + 1);
	downloaded++;
	if (depth > deepest)
		deepest = depth;
	downloads_in_progress--;
	pthread_mutex_unlock(&lock);
}

static void *spider(void *arg)
{
	struct page *p;

	while (take_page(&p)) {
		download(p);
		free(p);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int spiders = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t thread[MAX_SPIDERS];

	pages = argc > 2 ? atoi(argv[2]) : pages;
	if (spiders < 1 || spiders > MAX_SPIDERS || pages < 1 || pages > MAX_PAGES) {
		fprintf(stderr, "usage: weblech [SPIDERS(1-%d) [PAGES(1-%d)]]\n", MAX_SPIDERS, MAX_PAGES);
		return 2;
	}
	queue_page(0, 0);
	for (int i = 0; i < spiders; i++)
		pthread_create(&thread[i], NULL, spider, NULL);
	for (int i = 0; i < spiders; i++)
		pthread_join(thread[i], NULL);
	assert(downloaded == pages);
	printf("%d pages, %d deep\n", downloaded, deepest);
	return 0;
}
