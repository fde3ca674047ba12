/* fsbench - threads create files in a toy file system: an inode and a data block each.
 *
 * Inodes and blocks have a lock each. The search for a free block looks at `busy` before it takes
 * the block's lock, and does not look again: two files can end up on one block.
 * Cure: look again under the lock.   usage: main [threads=13] */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { INODES = 32, BLOCKS = 26, MAX = 26 };

static pthread_mutex_t inode_lock[INODES], block_lock[BLOCKS];
static int inode[INODES]; /* block number + 1, 0: no block yet */
static volatile bool busy[BLOCKS];

static bool block_take(int b)
{
#ifdef FIXED
	bool ok;

	pthread_mutex_lock(&block_lock[b]);
	ok = !busy[b];
	busy[b] = true;
	pthread_mutex_unlock(&block_lock[b]);
	return ok;
#else
	if (busy[b]) /* BUG:a */
		return false;
	pthread_mutex_lock(&block_lock[b]);
	busy[b] = true; /* BUG:b */
	pthread_mutex_unlock(&block_lock[b]);
	return true;
#endif
}

static void *create_file(void *arg)
{
	int id = *(int *)arg, i = id % INODES, b = (i * 2) % BLOCKS / 4, tries;

	pthread_mutex_lock(&inode_lock[i]);
	for (tries = 0; inode[i] == 0 && tries < BLOCKS; tries++) {
		if (block_take(b))
			inode[i] = b + 1;
		else
			b = (b + 1) % BLOCKS;
	}
	pthread_mutex_unlock(&inode_lock[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 13, id[MAX], owners[BLOCKS + 1] = { 0 };
	pthread_t t[MAX];

	if (n < 1 || n > MAX)
		return 2;
	for (i = 0; i < INODES; i++)
		pthread_mutex_init(&inode_lock[i], NULL);
	for (i = 0; i < BLOCKS; i++)
		pthread_mutex_init(&block_lock[i], NULL);
	for (i = 0; i < n; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, create_file, &id[i]);
	}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < n; i++) {
		assert(inode[i] > 0);
		owners[inode[i]]++;
		assert(owners[inode[i]] == 1);
	}
	return 0;
}
