/* bench/random-runs SECONDS SEED PROGRAM - run PROGRAM with random arguments and a random standard input, again and
 * again, as one would without any tool. Prints how many runs there were, how many ended by a signal or by the limit of
 * two seconds, and when the first one did. Half of the words begin as options do; all bytes are printable. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 6, LETTERS = 12, INPUT = 64, RUN_LIMIT = 2 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char letter(void)
{
	return (char)(' ' + rand() % 95);
}

static void random_word(char *w)
{
	int n = 1 + rand() % (LETTERS - 1), dashes = rand() % 4;

	for (int i = 0; i < n; i++)
		w[i] = i < dashes - 1 ? '-' : letter();
	w[n] = 0;
}

static void run_child(const char *program, int input)
{
	static char words[WORDS][LETTERS + 1];
	char *argv[WORDS + 2] = { (char *)program };
	int n = rand() % (WORDS + 1), null = open("/dev/null", O_WRONLY);

	for (int i = 0; i < n; i++) {
		random_word(words[i]);
		argv[i + 1] = words[i];
	}
	dup2(input, 0);
	dup2(null, 1);
	dup2(null, 2);
	alarm(RUN_LIMIT);
	execv(program, argv);
	_exit(127);
}

static int random_input(void)
{
	int fd = memfd_create("input", 0), n = rand() % INPUT;
	char bytes[INPUT];

	for (int i = 0; i < n; i++)
		bytes[i] = rand() % 8 ? letter() : '\n';
	if (fd < 0 || write(fd, bytes, (size_t)n) != n)
		exit(3);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

int main(int argc, char **argv)
{
	long runs = 0, failed = 0, hung = 0;
	double begin = now(), first = 0;

	if (argc != 4)
		return 3;
	srand((unsigned)atoi(argv[2]));
	for (; now() - begin < atof(argv[1]); runs++) {
		int input = random_input(), status;
		pid_t child = fork();

		if (child == 0)
			run_child(argv[3], input);
		waitpid(child, &status, 0);
		close(input);
		for (int i = rand() % 8; i >= 0; i--) /* the child's words were of the same sequence */
			rand();
		if (!WIFSIGNALED(status))
			continue;
		*(WTERMSIG(status) == SIGALRM ? &hung : &failed) += 1;
		if (first == 0)
			first = now() - begin;
	}
	printf("%ld runs, %ld failed, %ld hung", runs, failed, hung);
	printf(first > 0 ? ", the first after %.1f s\n" : "\n", first);
}
