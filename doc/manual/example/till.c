/* A till that looks customers up by number. Number 3 has no account. */
#include <stdio.h>
#include <stdlib.h>

struct account {
	const char *name;
	long balance;
};

static struct account accounts[] = { { "Ada", 10 }, { "Bob", 20 }, { "Cleo", 30 } };

static struct account *find(int number)
{
	if (number < 0 || number > 2)
		return NULL;
	return &accounts[number];
}

static void pay(int number, long amount)
{
	struct account *a = find(number);

	a->balance -= amount;
	printf("%s has %ld\n", a->name, a->balance);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		pay(atoi(argv[i]), 5);
	return 0;
}
