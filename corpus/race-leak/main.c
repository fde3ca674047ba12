/* race-leak - lazy creation without a lock. The loser's object is leaked, its contents are the same.
 * usage: main */
#include "../race.h"

static char *volatile name;

static char *get_name(void)
{
	char *n;

	GUARD();
	n = name; /* BUG:a */
	if (!n) {
		n = malloc(8);
		assert(n);
		memcpy(n, "unplait", 8);
		name = n; /* BUG:a */
	}
	UNGUARD();
	return n;
}

static void *user(void *arg)
{
	assert(!strcmp(get_name(), "unplait"));
	return arg;
}

int main(void)
{
	int status = run(user, user);

	free(name);
	return status;
}
