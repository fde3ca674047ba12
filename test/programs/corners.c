/* The odd corners of a process's life, one per case name; each prints what a plain build prints. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

extern char **environ;
int shared, marker;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *self;

static void touch(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		shared++;
		pthread_mutex_unlock(&mutex);
	}
}

static void *worker(void *arg)
{
	touch((int)(long)arg);
	return arg;
}

static void threads(int n)
{
	pthread_t t[16];

	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, worker, (void *)10L);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static int status_of(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static void do_fork(void)
{
	threads(2);
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		touch(5);
		threads(2);
		marker = 1;
		exit(shared == 45 ? 3 : 4);
	}
	touch(1);
	printf("child %d, shared %d\n", status_of(pid), shared);
}

static void do_vfork(void)
{
	pid_t pid;

	touch(3);
	pid = vfork();
	if (pid == 0)
		_exit(7);
	printf("child %d\n", status_of(pid));
	pid = vfork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 8", NULL);
		_exit(1);
	}
	printf("child %d\n", status_of(pid));
	touch(3);
}

static void do_spawn(void)
{
	char *argv[] = { "sh", "-c", "exit 5", NULL };
	pid_t pid;

	touch(1);
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0)
		printf("child %d\n", status_of(pid));
	printf("system %d\n", WEXITSTATUS(system("exit 6")));
	touch(1);
}

static void do_exec(void)
{
	threads(1);
	execl("/no/such/program", "x", NULL);
	printf("exec failed: %d\n", errno == ENOENT);
	fflush(stdout);
	execlp("echo", "echo", "from", "echo", NULL);
}

static void do_exec_self(void)
{
	fflush(stdout);
	execl(self, self, "exit-code", NULL);
}

static void *until_cancelled(void *arg)
{
	(void)arg;
	for (;;) {
		touch(1);
		pthread_testcancel();
	}
	return NULL;
}

static void cleanup(void *arg)
{
	marker = (int)(long)arg;
}

static void *cancelled_in_wait(void *arg)
{
	pthread_cleanup_push(cleanup, (void *)42);
	pause();
	pthread_cleanup_pop(0);
	return arg;
}

static void do_cancel(void)
{
	pthread_t a, b;
	void *ra, *rb;

	pthread_create(&a, NULL, until_cancelled, NULL);
	pthread_create(&b, NULL, cancelled_in_wait, NULL);
	usleep(20000);
	pthread_cancel(a);
	pthread_cancel(b);
	pthread_join(a, &ra);
	pthread_join(b, &rb);
	printf("cancelled %d %d marker %d\n", ra == PTHREAD_CANCELED, rb == PTHREAD_CANCELED, marker);
}

static volatile int detached_done;
static void *detached(void *arg)
{
	pthread_detach(pthread_self());
	touch((int)(long)arg);
	__atomic_store_n(&detached_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void do_detach(void)
{
	pthread_t t;

	pthread_create(&t, NULL, detached, (void *)5L);
	while (!__atomic_load_n(&detached_done, __ATOMIC_ACQUIRE))
		usleep(1000);
	printf("shared %d\n", shared);
}

static pthread_key_t key;
static void destructor(void *value)
{
	touch(1);
	marker += (int)(long)value;
}

static void *with_key(void *arg)
{
	pthread_setspecific(key, arg);
	pthread_exit(arg);
}

static void do_tls(void)
{
	pthread_t t[3];

	pthread_key_create(&key, destructor);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, with_key, (void *)(long)(i + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("destructors %d, shared %d\n", marker, shared);
}

static void at_exit(void)
{
	touch(1);
	printf("atexit, shared %d\n", shared);
	fflush(stdout);
}

static void do_atexit(void)
{
	atexit(at_exit);
	threads(1);
	exit(9);
}

static void do_quick_exit(void)
{
	at_quick_exit(at_exit);
	threads(1);
	quick_exit(10);
}

__attribute__((constructor)) static void constructor(void)
{
	threads(1); /* threads before main */
}

static jmp_buf env;
static void deep(int n)
{
	shared++;
	if (n == 0)
		longjmp(env, 5);
	deep(n - 1);
}

static void do_longjmp(void)
{
	int r = setjmp(env);

	if (r == 0)
		deep(20);
	printf("jumped %d\n", r);
}

static sigjmp_buf sigenv;
static volatile sig_atomic_t nsignals;
static void on_signal(int s)
{
	nsignals++;
	shared++;
	(void)s;
}

static void on_fault(int s)
{
	siglongjmp(sigenv, s);
}

static void do_signals(void)
{
	struct sigaction a = { .sa_handler = on_signal }, old;

	signal(SIGUSR1, on_signal);
	sigaction(SIGSEGV, NULL, &old);
	printf("default %d\n", old.sa_handler == SIG_DFL);
	sigaction(SIGUSR2, &a, &old);
	sigaction(SIGUSR2, NULL, &old);
	printf("mine %d\n", old.sa_handler == on_signal);
	for (int i = 0; i < 100; i++) {
		raise(i % 2 ? SIGUSR1 : SIGUSR2);
		touch(1);
	}
	signal(SIGSEGV, on_fault);
	if (sigsetjmp(sigenv, 1) == 0)
		*(volatile int *)16 = 1;
	touch(1);
	printf("signals %d, recovered\n", (int)nsignals);
}

static void *tick(void *arg)
{
	pthread_t main_thread = *(pthread_t *)arg;

	for (int i = 0; i < 300; i++) {
		pthread_kill(main_thread, SIGUSR1);
		usleep(50);
	}
	__atomic_store_n(&detached_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void do_signal_storm(void)
{
	pthread_t t, me = pthread_self();

	signal(SIGUSR1, on_signal);
	pthread_create(&t, NULL, tick, &me);
	while (!__atomic_load_n(&detached_done, __ATOMIC_ACQUIRE))
		shared++;
	pthread_join(t, NULL);
	printf("storm over %d\n", nsignals > 0);
}

static void do_many_threads(void)
{
	enum { N = 2000 };
	static pthread_t t[N];
	pthread_attr_t attr;
	int created = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_mutex_lock(&mutex); /* so that all are alive at once */
	for (int i = 0; i < N; i++)
		created += pthread_create(&t[i], &attr, worker, (void *)1L) == 0;
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < created; i++)
		pthread_join(t[i], NULL);
	printf("threads %d, shared %d\n", created, shared);
}

static void do_close_all(void)
{
	int out = fcntl(1, F_DUPFD, 700);

	for (int i = 0; i < 1024; i++)
		if (i != out)
			close(i);
	threads(4);
	touch(100000);
	dprintf(out, "closed, first new %d\n", open("/dev/null", O_RDONLY));
	_exit(shared == 100050 ? 11 : 12);
}

static void *volatile sink; /* or the compiler leaves malloc out */

static void do_no_memory(void)
{
	static char buffer[4096];
	struct rlimit limit;
	size_t n = 0;
	volatile char stack[256 << 10]; /* so that it need not grow later */

	stack[0] = stack[sizeof(stack) - 1] = 0;
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = 200 << 20;
	setrlimit(RLIMIT_AS, &limit);
	while ((sink = malloc(1 << 20)))
		n++;
	while ((sink = malloc(1024)))
		;
	touch(200000); /* the trace must grow, without memory */
	printf("out of memory, shared %d\n", shared);
}

static void do_chdir(void)
{
	if (chdir("/") == 0)
		threads(3);
	touch(50000);
	printf("shared %d\n", shared);
}

static int c11_thread(void *arg)
{
	touch(2);
	return (int)(long)arg;
}

static void do_c11(void)
{
	thrd_t t;
	int r = 0;

	thrd_create(&t, c11_thread, (void *)13L);
	thrd_join(t, &r);
	printf("c11 %d\n", r);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "fork", do_fork },
	{ "vfork", do_vfork },
	{ "spawn", do_spawn },
	{ "exec", do_exec },
	{ "exec-self", do_exec_self },
	{ "cancel", do_cancel },
	{ "detach", do_detach },
	{ "tls", do_tls },
	{ "atexit", do_atexit },
	{ "quick-exit", do_quick_exit },
	{ "longjmp", do_longjmp },
	{ "signals", do_signals },
	{ "signal-storm", do_signal_storm },
	{ "many-threads", do_many_threads },
	{ "close-all", do_close_all },
	{ "no-memory", do_no_memory },
	{ "chdir", do_chdir },
	{ "c11", do_c11 },
};

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 1 && strcmp(argv[1], "exit-code") == 0)
		return 21;
	if (argc > 1 && strcmp(argv[1], "_exit") == 0) {
		threads(1);
		_exit(14);
	}
	if (argc > 1 && strcmp(argv[1], "overflow") == 0) {
		volatile char big[1 << 20];

		big[0] = 1;
		return main(argc, argv) + big[0];
	}
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	return 0;
}
