/* A pointer is broken twenty lines before it is used; test/e2e/1340-rewind-first.sh names the write. */
#include <stdio.h>
#include <stdlib.h>

struct item {
	int kind, weight;
	struct item *next;
};

static struct item pool[8];
static int table[4];
static struct item *current;
static int total;

static __attribute__((noinline)) void fill(int n)
{
	for (int i = 0; i < n; i++)
		table[i] = i * 3 + 1;
}

static __attribute__((noinline)) int sum(const struct item *p, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += table[i] ^ p->weight;
	return s;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;

	for (int i = 0; i < 8; i++) {
		pool[i].kind = i;
		pool[i].weight = i * 7;
		pool[i].next = &pool[(i + 1) % 8];
	}
	current = &pool[2];
	current->next = (struct item *)(long)(n > 3 ? 0x1234 : 0); /* the write that breaks it */
	fill(4);
	total = sum(&pool[1], 4);
	if (total & 1)
		total += 5;
	total = total * 3 - 4;
	pool[3].weight = total;
	for (int i = 0; i < 4; i++)
		total += table[i];
	if (total > 1000)
		total -= 7;
	pool[4].weight = total ^ 3;
	pool[5].kind = pool[4].kind + 1;
	total += pool[5].kind;
	if (total == 12345)
		puts("unlikely");
	current = current->next;
	total += current->weight; /* crash */
	printf("%d\n", total);
	return 0;
}
