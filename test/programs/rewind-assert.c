/* An account goes negative two transfers before somebody checks it. */
#include <assert.h>

static int balance[4], history[8], used;

static __attribute__((noinline)) void transfer(int from, int to, int amount)
{
	balance[from] -= amount; /* the write that breaks it */
	balance[to] += amount;
	history[used++ & 7] = amount;
}

int main(void)
{
	balance[0] = 100;
	transfer(0, 1, 30);
	transfer(1, 2, 50);
	transfer(0, 3, 10);
	assert(balance[1] >= 0);
	return 0;
}
