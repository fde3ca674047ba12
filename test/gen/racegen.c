/* test/gen/racegen.c - random small programs that may race, and a way to ask a search over all states.
 *
 *	racegen SEED > file.c
 *
 * Two or three threads read and write the variables a, b and c, in part under one of two mutexes, in
 * part ordered by a semaphore. No value decides which way a thread goes. Built with -DMARK, a
 * thread says what it is about to access, and calls raced_a(), raced_b() or raced_c(), which abort,
 * if another is about to make a conflicting access: such a call can be reached by some schedule if
 * and only if the variable has a data race. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long long state;

static unsigned rnd(unsigned n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % n;
}

static const char head[] =
	"#include <pthread.h>\n"
	"#include <semaphore.h>\n"
	"#include <stdlib.h>\n"
	"static pthread_mutex_t m[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };\n"
	"static sem_t ready;\n"
	"static int a, b, c;\n"
	"#ifdef MARK\n"
	"static volatile int about[4];\n"
	"static void raced_a(void) { abort(); }\n"
	"static void raced_b(void) { abort(); }\n"
	"static void raced_c(void) { abort(); }\n"
	"static void mark(int me, int what, int writes)\n"
	"{\n"
	"\tabout[me] = what << 1 | writes;\n"
	"\tfor (int i = 0; i < 4; i++) {\n"
	"\t\tint other = about[i];\n"
	"\t\tif (i == me || other >> 1 != what || !(writes | (other & 1)))\n"
	"\t\t\tcontinue;\n"
	"\t\tif (what == 'a')\n\t\t\traced_a();\n"
	"\t\telse if (what == 'b')\n\t\t\traced_b();\n"
	"\t\telse\n\t\t\traced_c();\n"
	"\t}\n"
	"}\n"
	"#define ABOUT(t, v, w) mark(t, (#v)[0], w)\n"
	"#define DONE(t) (about[t] = 0)\n"
	"#else\n"
	"#define ABOUT(t, v, w)\n"
	"#define DONE(t)\n"
	"#endif\n";

static void access_one(unsigned thread)
{
	char v = "abc"[rnd(3)];
	unsigned writes = rnd(2);

	printf("\tABOUT(%u, %c, %u);\n", thread, v, writes);
	if (writes)
		printf("\t%c = x + %u;\n", v, rnd(3));
	else
		printf("\tx += %c;\n", v);
	printf("\tDONE(%u);\n", thread);
}

static void thread(unsigned number, unsigned posts)
{
	unsigned n = 1 + rnd(2);

	printf("static void *thread%u(void *arg)\n{\n\tint x = 1;\n", number);
	if (number && posts && rnd(2))
		printf("\tsem_wait(&ready);\n");
	for (unsigned i = 0; i < n; i++) {
		unsigned lock = rnd(3);

		if (lock < 2)
			printf("\tpthread_mutex_lock(&m[%u]);\n", lock);
		access_one(number);
		if (lock < 2)
			printf("\tpthread_mutex_unlock(&m[%u]);\n", lock);
	}
	for (unsigned i = 0; !number && i < posts; i++)
		printf("\tsem_post(&ready);\n");
	if (!number)
		access_one(number);
	printf("\treturn x == 12345 ? arg : NULL;\n}\n");
}

int main(int argc, char **argv)
{
	unsigned threads, posts;

	if (argc < 2)
		return 2;
	state = strtoull(argv[1], NULL, 0) * 2 + 1;
	rnd(2);
	threads = 2 + rnd(2);
	posts = rnd(2) ? threads : 0;
	fputs(head, stdout);
	for (unsigned i = 0; i < threads; i++)
		thread(i, posts);
	printf("int main(void)\n{\n\tpthread_t t[%u];\n\tsem_init(&ready, 0, 0);\n", threads);
	for (unsigned i = 0; i < threads; i++)
		printf("\tpthread_create(&t[%u], NULL, thread%u, NULL);\n", i, i);
	for (unsigned i = 0; i < threads; i++)
		printf("\tpthread_join(t[%u], NULL);\n", i);
	printf("\treturn 0;\n}\n");
	return 0;
}
