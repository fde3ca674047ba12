/* test/gen/threadgen.c - random small programs with threads, to compare two searches of schedules.
 *
 *	threadgen SEED [locks] > file.c
 *
 * Two or three threads do a few things with two or three shared variables, mutexes, a semaphore and
 * a condition variable. main makes a number of the final values and asserts, in one line for each,
 * that it is not that number: each outcome is a failure with a name of its own. Some programs can
 * deadlock. With `locks` there are variables and mutexes only. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long long state;
static unsigned nvars;
static int only_locks;

static unsigned rnd(unsigned n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % n;
}

static char var(void)
{
	return (char)('a' + rnd(nvars));
}

static void statement(void)
{
	char g = var(), h = var();

	switch (only_locks ? (unsigned[]){ 0, 1, 2, 3, 3, 4, 6 }[rnd(7)] : rnd(9)) {
	case 0:
		printf("\t%c = x;\n", g);
		break;
	case 1:
		printf("\tx = %c;\n", g);
		break;
	case 2:
		printf("\t%c = %c + %u;\n", g, h, rnd(3));
		break;
	case 3:
		printf("\tif (%c > %u)\n\t\t%c = %u;\n", g, rnd(3), h, rnd(4));
		break;
	case 4:
		printf("\tpthread_mutex_lock(&l);\n\t%c += x;\n\tpthread_mutex_unlock(&l);\n", g);
		break;
	case 5:
		printf("\tif (!pthread_mutex_trylock(&k)) {\n\t\t%c++;\n"
		       "\t\tpthread_mutex_unlock(&k);\n\t}\n",
		       g);
		break;
	case 6: {
		int order = rnd(3) > 0;

		printf("\tpthread_mutex_lock(&%c);\n\tpthread_mutex_lock(&%c);\n\t%c ^= %u;\n"
		       "\tpthread_mutex_unlock(&l);\n\tpthread_mutex_unlock(&k);\n",
		       order ? 'k' : 'l', order ? 'l' : 'k', g, 1 + rnd(3));
		break;
	}
	case 7:
		printf("\tsem_%s(&s);\n", rnd(2) ? "post" : "wait");
		break;
	default:
		if (rnd(2))
			printf("\tpthread_mutex_lock(&l);\n\tready = 1;\n"
			       "\tpthread_cond_%s(&cv);\n\tpthread_mutex_unlock(&l);\n",
			       rnd(3) ? "signal" : "broadcast");
		else
			printf("\tpthread_mutex_lock(&l);\n\t%s (!ready)\n"
			       "\t\tpthread_cond_wait(&cv, &l);\n\tready = 0;\n\t%c++;\n"
			       "\tpthread_mutex_unlock(&l);\n",
			       rnd(2) ? "while" : "if", g);
	}
}

int main(int argc, char **argv)
{
	static const char *const types[] = { "int", "volatile int", "atomic_int" };
	unsigned threads, i, k, weight = 1;

	state = argc > 1 ? strtoull(argv[1], NULL, 10) * 2654435761u + 12345 : 1;
	only_locks = argc > 2;
	for (i = 0; i < 8; i++)
		rnd(2);
	threads = 2 + (rnd(3) == 0);
	nvars = 2 + rnd(2);
	printf("#include <assert.h>\n#include <pthread.h>\n#include <semaphore.h>\n"
	       "#include <stdatomic.h>\nstatic sem_t s;\nstatic int ready;\n"
	       "static pthread_cond_t cv = PTHREAD_COND_INITIALIZER;\n"
	       "static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER, k = "
	       "PTHREAD_MUTEX_INITIALIZER;\n");
	for (i = 0; i < nvars; i++)
		printf("static %s %c;\n", types[rnd(3)], 'a' + i);
	for (i = 0; i < threads; i++) {
		printf("static void *t%u(void *p)\n{\n\tint x = %u;\n", i, i + 1);
		for (k = threads == 3 ? 2 : 2 + rnd(3); k > 0; k--)
			statement();
		printf("\treturn p;\n}\n");
	}
	printf("int main(void)\n{\n\tpthread_t t[3];\n\tint v;\n\tsem_init(&s, 0, %u);\n", rnd(2));
	for (i = 0; i < threads; i++)
		printf("\tpthread_create(&t[%u], NULL, t%u, NULL);\n", i, i);
	for (i = 0; i < threads; i++)
		printf("\tpthread_join(t[%u], NULL);\n", i);
	printf("\tv = (0");
	for (i = 0; i < nvars; i++, weight *= 5)
		printf(" + %c * %u", 'a' + i, weight);
	printf(") & 127;\n");
	for (i = 0; i < 128; i++)
		printf("\tassert(v != %u);\n", i);
	printf("\treturn 0;\n}\n");
	return 0;
}
