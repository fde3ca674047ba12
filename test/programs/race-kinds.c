/* race-kinds WHAT - two threads and one way of ordering them, or of failing to. The name of each case says what
 * a race detector must answer: those that begin with "race-" have a data race, the others have none. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int data, other;
static char text[4096], copy[4096];
static struct {
	char low, high;
} bytes;
static atomic_int flag, turn;
static int *volatile block;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static int ends[2];

#define LOAD(order) atomic_load_explicit(&flag, memory_order_##order)
#define STORE(v, order) atomic_store_explicit(&flag, v, memory_order_##order)
#define ADD(order) atomic_fetch_add_explicit(&flag, 1, memory_order_##order)
#define FENCE(order) atomic_thread_fence(memory_order_##order)

/* ---- memory orders ---- */

static void release_1(void) { data = 1; STORE(1, release); }
static void relaxed_1(void) { data = 1; STORE(1, relaxed); }
static void acquire_2(void) { if (LOAD(acquire)) data++; }
static void relaxed_2(void) { if (LOAD(relaxed)) data++; }
/* llvm issue 52942: ThreadSanitizer reports this one, which is right */
static void fence_1(void) { data = 1; FENCE(release); STORE(1, relaxed); }
static void fence_2(void) { if (LOAD(relaxed)) { FENCE(acquire); data++; } }
static void late_fence_1(void) { FENCE(release); data = 1; STORE(1, relaxed); }
static void early_fence_2(void) { FENCE(acquire); if (LOAD(relaxed)) data++; }
/* a reference count: the last one to let go has seen everything */
static void count(void) { (void)*(volatile int *)&data; if (ADD(acq_rel) == 1) data++; }
static void count_relaxed(void) { (void)*(volatile int *)&data; if (ADD(relaxed) == 1) data++; }
/* a release sequence: the read-modify-write in between is relaxed */
static void sequence_2(void) { if (ADD(relaxed) == 1) STORE(LOAD(relaxed), relaxed); if (LOAD(acquire) == 7) data++; }
static void chain_2(void) { int one = 1; atomic_compare_exchange_strong_explicit(&flag, &one, 2, memory_order_relaxed, memory_order_relaxed); }
static void chain_3(void) { if (LOAD(acquire) == 2) data++; }
static void broken_2(void) { if (LOAD(relaxed) == 1) STORE(2, relaxed); }
static void plain_1(void) { *(volatile int *)&flag = 1; }
static void failed_2(void) { int no = 5; if (!atomic_compare_exchange_strong_explicit(&flag, &no, 6, memory_order_release, memory_order_relaxed) && no == 1) data++; }
static void taken_2(void) { int one = 1; if (atomic_compare_exchange_strong_explicit(&flag, &one, 2, memory_order_acquire, memory_order_relaxed)) data++; }
static void spin_lock(void) { while (atomic_exchange_explicit(&flag, 1, memory_order_acquire))
		;
	 data++; STORE(0, release); }

/* ---- locks and messages ---- */

static void locked(void) { pthread_mutex_lock(&mutex); data++; pthread_mutex_unlock(&mutex); }
static void unlocked(void) { data++; }
static void tried(void) { if (pthread_mutex_trylock(&mutex) == 0) { data++; pthread_mutex_unlock(&mutex); } else data++; }
static void writer(void) { pthread_rwlock_wrlock(&rwlock); data++; pthread_rwlock_unlock(&rwlock); }
static void reader(void) { pthread_rwlock_rdlock(&rwlock); other += data; pthread_rwlock_unlock(&rwlock); }
static void only_reads(void) { pthread_rwlock_rdlock(&rwlock); (void)*(volatile int *)&data; pthread_rwlock_unlock(&rwlock); }
static void spinning(void) { pthread_spin_lock(&spin); data++; pthread_spin_unlock(&spin); }
static void post(void) { data = 1; sem_post(&sem); }
static void wait(void) { sem_wait(&sem); data++; }
static void no_wait(void) { if (sem_trywait(&sem)) data++; else data++; }
static void meet_1(void) { data = 1; pthread_barrier_wait(&barrier); }
static void meet_2(void) { pthread_barrier_wait(&barrier); data++; }
static void early_2(void) { data++; pthread_barrier_wait(&barrier); }
static void fill(void) { data = 1; }
static void first(void) { pthread_once(&once, fill); other++; }
static void by_once(void) { pthread_once(&once, fill); (void)*(volatile int *)&data; }
static void signal_1(void) { pthread_mutex_lock(&mutex); data = 1; pthread_cond_signal(&condition); pthread_mutex_unlock(&mutex); }
static void wait_2(void) { pthread_mutex_lock(&mutex); while (!data) pthread_cond_wait(&condition, &mutex); data++; pthread_mutex_unlock(&mutex); }
static void send(void) { data = 1; if (write(ends[1], "x", 1) != 1) abort(); }
static void receive(void) { char c; if (read(ends[0], &c, 1) == 1) data++; }

/* ---- signals ---- */

static void kill_1(void) { data = 1; kill(getpid(), SIGUSR1); }
static void await_2(void) { sigset_t set; int n; sigemptyset(&set); sigaddset(&set, SIGUSR1); sigwait(&set, &n); data++; }
static void on_signal(int n) { (void)n; data++; STORE(1, relaxed); }
static void handle_2(void) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); pthread_sigmask(SIG_UNBLOCK, &set, NULL); while (!LOAD(relaxed)) usleep(10); }
static void kill_early_1(void) { kill(getpid(), SIGUSR1); data = 1; }

/* ---- annotations ---- */

/* weak, as programs have it that also run without a detector */
#pragma clang attribute push(__attribute__((weak)), apply_to = function)
void __tsan_acquire(void *p);
void __tsan_release(void *p);
void __tsan_mutex_post_lock(void *p, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *p, unsigned flags);
void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *p, size_t size, const char *why);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#pragma clang attribute pop

static void said_1(void) { data = 1; __tsan_release(&flag); STORE(1, relaxed); }
static void said_2(void) { if (LOAD(relaxed)) { __tsan_acquire(&flag); data++; } }
static void hidden_lock(void) { while (atomic_exchange_explicit(&flag, 1, memory_order_relaxed)) { } __tsan_mutex_post_lock(&flag, 0, 0); data++; __tsan_mutex_pre_unlock(&flag, 0); STORE(0, relaxed); }
static void before_1(void) { data = 1; AnnotateHappensBefore(__FILE__, __LINE__, &flag); STORE(1, relaxed); }
static void after_2(void) { if (LOAD(relaxed)) { AnnotateHappensAfter(__FILE__, __LINE__, &flag); data++; } }
static void meant(void) { AnnotateBenignRaceSized(__FILE__, __LINE__, &data, sizeof(data), "a counter"); data++; }
static void meant_other(void) { AnnotateBenignRaceSized(__FILE__, __LINE__, &other, sizeof(other), "another"); data++; }
static void ignored(void) { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); data = 1; AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
static void ignored_once(void) { ignored(); data = 2; }

/* ---- memory ---- */

static void low(void) { bytes.low = 1; }
static void high(void) { bytes.high = 1; }
static void copy_all(void) { memcpy(copy, text, sizeof(copy)); }
static void write_one(void) { text[1000] = 'x'; }
static void write_other(void) { copy[3000] = 'x'; }
static void clear_first(void) { memset(copy, 1, 2048); }
static void clear_second(void) { memset(copy + 2048, 2, 2048); }
static void clear_middle(void) { memset(copy + 2040, 2, 1000); }
static void use(void) { (void)*(volatile int *)block; }
static void drop(void) { STORE(1, relaxed); free(block); }
static void wait_use(void) { if (!LOAD(relaxed)) use(); }
static void own(void) { int *p = malloc(64); block = p; *p = 1; block = NULL; free(p); }
static void own_quietly(void) { pthread_mutex_lock(&mutex); int *p = malloc(64); pthread_mutex_unlock(&mutex); for (int i = 0; i < 16; i++) p[i] = i; pthread_mutex_lock(&mutex); block = p; free(p); pthread_mutex_unlock(&mutex); }

/* blocks of one thread lie where another's were, in other sizes */
static char *slots[8];
static void reuse(void)
{
	int me = 2 * atomic_fetch_add(&turn, 1);

	for (int i = 0; i < 6; i++) {
		slots[me] = malloc(3000);
		slots[me + 1] = malloc(1100 + 40 * i);
		memset(slots[me], 1, 3000);
		slots[me + 1][i] = 1;
		free(slots[me]);
		free(slots[me + 1]);
	}
}

static const struct {
	const char *name;
	void (*one)(void), (*two)(void), (*three)(void);
} cases[] = {
	{ "release-acquire", release_1, acquire_2, NULL },
	{ "race-relaxed-store", relaxed_1, acquire_2, NULL },
	{ "race-relaxed-load", release_1, relaxed_2, NULL },
	{ "fences", fence_1, fence_2, NULL },
	{ "fence-and-acquire", fence_1, acquire_2, NULL },
	{ "release-and-fence", release_1, fence_2, NULL },
	{ "race-late-fence", late_fence_1, fence_2, NULL },
	{ "race-early-fence", fence_1, early_fence_2, NULL },
	{ "count", count, count, NULL },
	{ "race-count", count_relaxed, count_relaxed, NULL },
	{ "sequence", release_1, chain_2, chain_3 },
	{ "race-sequence", release_1, broken_2, chain_3 },
	{ "race-plain-atomic", plain_1, relaxed_2, NULL },
	{ "race-failed-exchange", release_1, failed_2, NULL },
	{ "exchange", release_1, taken_2, NULL },
	{ "spin-lock", spin_lock, spin_lock, spin_lock },
	{ "mutex", locked, locked, locked },
	{ "race-mutex", locked, unlocked, NULL },
	{ "race-trylock", locked, tried, NULL },
	{ "rwlock", writer, only_reads, only_reads },
	{ "race-rwlock", reader, reader, NULL },
	{ "spinlock", spinning, spinning, NULL },
	{ "semaphore", post, wait, NULL },
	{ "race-semaphore", post, no_wait, NULL },
	{ "barrier", meet_1, meet_2, NULL },
	{ "race-barrier", meet_1, early_2, NULL },
	{ "once", by_once, by_once, by_once },
	{ "race-once", first, first, NULL },
	{ "condition", signal_1, wait_2, NULL },
	{ "pipe", send, receive, NULL },
	{ "sigwait", kill_1, await_2, NULL },
	{ "race-sigwait", kill_early_1, await_2, NULL },
	{ "handler", kill_1, handle_2, NULL },
	{ "race-handler", kill_early_1, handle_2, NULL },
	{ "annotated", said_1, said_2, NULL },
	{ "annotated-lock", hidden_lock, hidden_lock, hidden_lock },
	{ "annotated-order", before_1, after_2, NULL },
	{ "benign", meant, meant, NULL },
	{ "race-benign", meant_other, meant_other, NULL },
	{ "ignored", ignored, ignored, NULL },
	{ "race-ignored", ignored_once, ignored_once, NULL },
	{ "bytes", low, high, NULL },
	{ "race-copy", copy_all, write_one, NULL },
	{ "race-copy-to", copy_all, write_other, NULL },
	{ "halves", clear_first, clear_second, NULL },
	{ "race-halves", clear_first, clear_middle, NULL },
	{ "race-free", wait_use, drop, NULL },
	{ "heap", own_quietly, own_quietly, own_quietly },
	{ "race-heap", own, own, NULL },
	{ "heap-reuse", reuse, reuse, reuse },
	{ "sequence-both", release_1, sequence_2, NULL },
};

static void *start(void *arg)
{
	(*(void (**)(void))arg)();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR1, on_signal);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_spin_init(&spin, 0);
	sem_init(&sem, 0, 0);
	block = malloc(64);
	*block = 1;
	if (argc < 2 || pipe(ends))
		return 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		void (*f[3])(void) = { cases[i].one, cases[i].two, cases[i].three };

		if (strcmp(argv[1], "list") == 0)
			puts(cases[i].name);
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		for (int k = 0; k < 3 && f[k]; k++)
			pthread_create(&threads[k], NULL, start, &f[k]);
		for (int k = 0; k < 3 && f[k]; k++)
			pthread_join(threads[k], NULL);
	}
	return text[1000] + copy[0] + copy[2044] + copy[3000] == 123; /* so that nothing is optimised away */
}
