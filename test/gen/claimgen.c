/* test/gen/claimgen.c - random small programs over the whole vocabulary of synchronisation, and every
 * outcome that they have.
 *
 *	claimgen SEED c                the program
 *	claimgen SEED outcomes         its outcomes, one per line, sorted
 *
 * A program is two or three threads (thread 0 is main) with a few operations each. It is made once,
 * as a list of operations per thread, and used twice: printed as C, and executed by the interpreter
 * of outcomes.c in every interleaving. The interpreter knows nothing of unplait: an operation is one step, a
 * copy is one step per word, a lock that is taken blocks. A search that claims to have explored every
 * schedule of the C program must have seen exactly these outcomes.
 *
 * The C program ends with an assertion failure whose text is its outcome, so `hunt --all` finds each
 * outcome as a failure of its own. With an argument it fails only if that is its outcome. If no
 * thread can go on, the outcome is "deadlock".
 *
 * How a program ends is part of it: either main joins the others, and all values count, or an exit
 * handler looks at the variables while the others may still run. */
#define _GNU_SOURCE
#include "claimgen.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread threads[THREADS];
unsigned nthreads;
bool boxes;
static bool waits; /* for conditions and semaphores, mostly */
bool joins;
static unsigned long long rng;

static unsigned rnd(unsigned n)
{
	rng = rng * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(rng >> 33) % n;
}

/* ---- making a program ---- */

static char *format(const char *f, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *f, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, f);
	if (vasprintf(&s, f, ap) < 0)
		abort();
	va_end(ap);
	return s;
}

static struct op *emit(struct thread *t, enum kind kind, unsigned r, unsigned object, int imm,
		       const char *text)
{
	assert(t->n < OPS);
	t->ops[t->n] = (struct op){ .kind = (uint8_t)kind,
				    .r = (uint8_t)r,
				    .object = (uint8_t)object,
				    .imm = (int8_t)imm,
				    .text = text };
	return &t->ops[t->n++];
}

static void access(struct thread *t)
{
	unsigned x = rnd(VARS), r = rnd(REGS);
	int imm = (int)rnd(3);

	switch (rnd(6)) {
	case 0:
	case 1:
		emit(t, LOAD, r, x, 0, format("r%u = x[%u];", r, x));
		break;
	case 2:
	case 3:
		emit(t, STORE, r, x, imm, format("x[%u] = r%u + %d;", x, r, imm));
		break;
	case 4:
		emit(t, ADD, r, x, imm + 1,
		     format("r%u = __atomic_fetch_add(&x[%u], %d, 5);", r, x, imm + 1));
		break;
	default:
		emit(t, CAS, r, x, imm, format("r%u = cas(&x[%u], %d, %d);", r, x, imm, imm + 1));
	}
}

/* if (try()) { access; release } */
static void tried(struct thread *t, enum kind try, enum kind release, unsigned object,
		  const char *call, const char *undo)
{
	unsigned r = rnd(REGS);
	struct op *jump;

	emit(t, try, r, object, 0, format("r%u = !%s; if (r%u) {", r, call, r));
	jump = emit(t, JUMPZ, r, 0, 0, NULL);
	access(t);
	emit(t, release, 0, object, 0, format("%s; }", undo));
	jump->imm = (int8_t)t->n;
}

static void section(struct thread *t, enum kind take, enum kind release, unsigned object,
		    const char *call, const char *undo)
{
	emit(t, take, 0, object, 0, format("%s;", call));
	access(t);
	if (rnd(2))
		access(t);
	emit(t, release, 0, object, 0, format("%s;", undo));
}

static void nested(struct thread *t, unsigned first)
{
	unsigned second = 1 - first;

	emit(t, LOCK, 0, first, 0, format("pthread_mutex_lock(&m[%u]);", first));
	emit(t, LOCK, 0, second, 0, format("pthread_mutex_lock(&m[%u]);", second));
	access(t);
	emit(t, UNLOCK, 0, second, 0, format("pthread_mutex_unlock(&m[%u]);", second));
	emit(t, UNLOCK, 0, first, 0, format("pthread_mutex_unlock(&m[%u]);", first));
}

static void bounded_spin(struct thread *t)
{
	unsigned x = rnd(VARS), r = rnd(REGS), n = 1 + rnd(2), first = t->n;
	bool yields = rnd(2);

	for (unsigned i = 0; i < n; i++) {
		emit(t, LOAD, r, x, 0,
		     i ? NULL
		       : format("for (int i = 0; i < %u; i++) { r%u = x[%u]; if (r%u) break; %s }",
				n, r, x, r, yields ? "sched_yield();" : ""));
		emit(t, JUMPNZ, r, 0, 0, NULL);
	}
	for (unsigned i = first; i < t->n; i++)
		if (t->ops[i].kind == JUMPNZ)
			t->ops[i].imm = (int8_t)t->n;
}

static void copy(struct thread *t)
{
	unsigned r = REGS; /* a register of the copy's own */

	for (int w = 0; w < WORDS; w++) {
		emit(t, COPYWORD, r, 0, w, w ? NULL : "copy(&dst, &src);");
		emit(t, COPYSTORE, r, 0, w, NULL);
	}
}

static void words(struct thread *t)
{
	unsigned r = rnd(REGS);
	int w = (int)rnd(WORDS);

	switch (rnd(5)) {
	case 0:
		copy(t);
		break;
	case 1:
		emit(t, GETWORD, r, 0, w, format("r%u = (int)dst.w[%d];", r, w));
		break;
	case 2:
		emit(t, PUTWORD, r, 0, w, format("src.w[%d] = r%u + 1;", w, r));
		break;
	case 3:
		for (w = 0; w < WORDS; w++)
			emit(t, TEXTWORD, 1 + (unsigned)(t - threads), 0, w,
			     w ? NULL
			       : format("strcpy(text, \"%s\");", t == threads ? "aaaaaaaaaaaa"
								 : t == threads + 1
									 ? "bbbbbbbbbbbb"
									 : "cccccccccccc"));
		break;
	default:
		emit(t, TEXTCHAR, r, 0, w,
		     format("r%u = text[%d] ? text_%d : 0;", r, 8 * w, 8 * w));
	}
}

/* Memory on the heap that one thread gives back, beside whoever uses it. */
static void box(struct thread *t)
{
	unsigned r = rnd(REGS);
	int w = (int)rnd(WORDS);

	if (t->freed) /* what a thread does to memory of its own is not what a schedule decides */
		access(t);
	else if (rnd(3))
		emit(t, USE, r, 0, w, format("r%u = box[%d];", r, 4 * w));
	else
		emit(t, FREE, 0, 0, 0,
		     rnd(2) ? "free((void *)box);" : "kept = realloc((void *)box, 64);");
	t->freed |= t->ops[t->n - 1].kind == FREE;
}

static void condition(struct thread *t)
{
	unsigned r = rnd(REGS), x = rnd(VARS), top;
	struct op *out;

	switch (rnd(4)) {
	case 0:
		emit(t, LOCK, 0, 0, 0, "pthread_mutex_lock(&m[0]);");
		emit(t, STORE, REGS, x, 1, format("x[%u] = 1;", x));
		emit(t, rnd(2) ? SIGNAL : BROADCAST, 0, 0, 0, NULL);
		t->ops[t->n - 1].text = t->ops[t->n - 1].kind == SIGNAL
						? "pthread_cond_signal(&cond);"
						: "pthread_cond_broadcast(&cond);";
		emit(t, UNLOCK, 0, 0, 0, "pthread_mutex_unlock(&m[0]);");
		return;
	case 1:
		emit(t, SIGNAL, 0, 0, 0, "pthread_cond_signal(&cond);");
		return;
	case 2: /* while (!x) wait */
		emit(t, LOCK, 0, 0, 0, "pthread_mutex_lock(&m[0]);");
		top = t->n;
		emit(t, LOAD, r, x, 0,
		     format("while (!(r%u = x[%u])) pthread_cond_wait(&cond, &m[0]);", r, x));
		out = emit(t, JUMPNZ, r, 0, 0, NULL);
		emit(t, WAIT, 0, 0, 0, NULL);
		emit(t, WOKEN, 0, 0, 0, NULL);
		emit(t, JUMP, 0, 0, (int)top, NULL);
		out->imm = (int8_t)t->n;
		emit(t, UNLOCK, 0, 0, 0, "pthread_mutex_unlock(&m[0]);");
		return;
	default:
		emit(t, LOCK, 0, 0, 0, "pthread_mutex_lock(&m[0]);");
		emit(t, TIMEDWAIT, r, 0, 0,
		     format("r%u = !pthread_cond_timedwait(&cond, &m[0], &soon);", r));
		emit(t, WOKEN, r, 0, 0, NULL);
		emit(t, UNLOCK, 0, 0, 0, "pthread_mutex_unlock(&m[0]);");
	}
}

static void semaphore(struct thread *t)
{
	unsigned r = rnd(REGS);

	switch (rnd(5)) {
	case 0:
	case 1:
		emit(t, SEMPOST, 0, 0, 0, "sem_post(&sem);");
		break;
	case 2:
		emit(t, SEMWAIT, 0, 0, 0, "sem_wait(&sem);");
		break;
	case 3:
		emit(t, SEMTRY, r, 0, 0, format("r%u = !sem_trywait(&sem);", r));
		break;
	default:
		emit(t, SEMTIMED, r, 0, 0, format("r%u = !sem_timedwait(&sem, &soon);", r));
	}
}

static void statement(struct thread *t)
{
	unsigned m = rnd(LOCKS);
	char lock[64], undo[64];

	snprintf(lock, sizeof(lock), "(&m[%u])", m);
	snprintf(undo, sizeof(undo), "pthread_mutex_unlock(&m[%u])", m);
	if (boxes && !rnd(3)) {
		box(t);
		return;
	}
	if (waits && rnd(3)) { /* waits that give up, beside those who signal and hold the lock */
		if (rnd(3))
			condition(t);
		else if (rnd(2))
			semaphore(t);
		else
			section(t, LOCK, UNLOCK, 0, "pthread_mutex_lock(&m[0])",
				"pthread_mutex_unlock(&m[0])");
		return;
	}
	switch (rnd(18)) {
	case 0:
		section(t, LOCK, UNLOCK, m, format("pthread_mutex_lock%s", lock), undo);
		break;
	case 1:
		tried(t, TRYLOCK, UNLOCK, m, format("pthread_mutex_trylock%s", lock), undo);
		break;
	case 2:
		tried(t, TIMEDLOCK, UNLOCK, m, format("pthread_mutex_timedlock(&m[%u], &soon)", m),
		      undo);
		break;
	case 3:
		section(t, RDLOCK, RWUNLOCK, 0, "pthread_rwlock_rdlock(&rw)",
			"pthread_rwlock_unlock(&rw)");
		break;
	case 4:
		section(t, WRLOCK, RWUNLOCK, 0, "pthread_rwlock_wrlock(&rw)",
			"pthread_rwlock_unlock(&rw)");
		break;
	case 5:
		if (rnd(2))
			tried(t, TRYRD, RWUNLOCK, 0, "pthread_rwlock_tryrdlock(&rw)",
			      "pthread_rwlock_unlock(&rw)");
		else
			tried(t, TRYWR, RWUNLOCK, 0, "pthread_rwlock_trywrlock(&rw)",
			      "pthread_rwlock_unlock(&rw)");
		break;
	case 6:
		section(t, SPINLOCK, SPINUNLOCK, 0, "pthread_spin_lock(&spin)",
			"pthread_spin_unlock(&spin)");
		break;
	case 7:
		tried(t, SPINTRY, SPINUNLOCK, 0, "pthread_spin_trylock(&spin)",
		      "pthread_spin_unlock(&spin)");
		break;
	case 8:
		semaphore(t);
		break;
	case 9:
		condition(t);
		break;
	case 10:
		bounded_spin(t);
		break;
	case 14:
		nested(t, m);
		break;
	case 11:
		emit(t, YIELD, 0, 0, 0, "sched_yield();");
		break;
	case 12:
	case 13:
		words(t);
		break;
	default:
		access(t);
	}
}

static void make(unsigned long long seed)
{
	unsigned statements;

	rng = seed * 0x9e3779b97f4a7c15ull + 1;
	rnd(2);
	nthreads = rnd(4) ? 2 : 3;
	joins = rnd(4) != 0;
	boxes = seed % 3 == 0;
	waits = seed % 3 == 1;
	for (unsigned i = 1; i < nthreads; i++)
		emit(&threads[0], CREATE, 0, 0, (int)i,
		     format("pthread_create(&t[%u], 0, thread%u, 0);", i, i));
	for (unsigned i = 0; i < nthreads; i++) {
		statements = nthreads == 2 ? 2 + rnd(2) : 1 + rnd(2);
		while (statements-- && threads[i].n < OPS - 16)
			statement(&threads[i]);
	}
	for (unsigned i = 1; joins && i < nthreads; i++)
		emit(&threads[0], JOIN, 0, 0, (int)i, format("pthread_join(t[%u], 0);", i));
	if (!joins) /* what the exit handler does */
		for (unsigned i = 0; i < VARS; i++)
			emit(&threads[0], LOAD, i, i, 0, NULL);
	for (unsigned i = 0; i < nthreads; i++)
		emit(&threads[i], END, 0, 0, 0, NULL);
}

/* ---- the program as C ---- */

static void print_body(unsigned i)
{
	for (unsigned k = 0; k < threads[i].n; k++)
		if (threads[i].ops[k].text)
			printf("\t%s\n", threads[i].ops[k].text);
}

static void print_registers(void)
{
	printf("\tint r0 = 0, r1 = 0, r2 = 0, r3 = 0;\n");
	printf("\tenum { text_0 = 1, text_8 = 1 };\n");
}

static void print_thread(unsigned i)
{
	printf("static void *thread%u(void *arg)\n{\n", i);
	print_registers();
	print_body(i);
	for (unsigned r = 0; joins && r < REGS; r++)
		printf("\tout[%u][%u] = r%u;\n", i, r, r);
	printf("\treturn arg;\n}\n");
}

static const char *const prologue =
	"#define _GNU_SOURCE\n#include <assert.h>\n#include <pthread.h>\n#include <sched.h>\n"
	"#include <semaphore.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"#include <time.h>\n"
	"#ifndef SHARED\n#define SHARED\n#endif\n"
	"static SHARED int x[2];\nstatic pthread_mutex_t m[2];\nstatic pthread_rwlock_t rw;\n"
	"static pthread_spinlock_t spin;\nstatic pthread_cond_t cond;\nstatic sem_t sem;\n"
	"struct pair { SHARED long w[2]; };\nstatic struct pair src, dst;\nstatic char text[16];\n"
	"static SHARED int *box;\nstatic void *volatile kept;\n"
	"static int out[3][4];\nstatic struct timespec soon;\n"
	"static int cas(SHARED int *p, int old, int new)\n"
	"{\n\treturn __atomic_compare_exchange_n(p, &old, new, 0, 5, 5);\n}\n"
	"static void copy(struct pair *d, struct pair *s)\n"
	"{\n\tmemcpy((void *)d, (void *)s, sizeof(*d));\n}\n"
	"static const char *only;\n"
	"static void say(const char *text)\n{\n\tif (!only || !strcmp(only, text))\n"
	"\t\t__assert_fail(text, \"claim\", 1, \"main\");\n}\n";

static void print_handler(void)
{
	printf("static void handler(void)\n{\n\tint a = x[0], b = x[1];\n"
	       "\tchar s[64];\n\tsnprintf(s, sizeof(s), \"%%d %%d\", a, b);\n\tsay(s);\n}\n");
}

static void print_end(void)
{
	printf("\tfor (int i = 0, at = 0; i < %u; i++)\n\t\tfor (int r = 0; r < 4; r++)\n"
	       "\t\t\tat += snprintf(s + at, sizeof(s) - at, \"%%d \", out[i][r]);\n",
	       nthreads);
	printf("\tsnprintf(s + strlen(s), 80, \"| %%d %%d\", x[0], x[1]);\n\tsay(s);\n");
}

static void print_program(void)
{
	fputs(prologue, stdout);
	if (!joins)
		print_handler();
	for (unsigned i = 1; i < nthreads; i++)
		print_thread(i);
	printf("int main(int argc, char **argv)\n{\n\tpthread_t t[3];\n\tchar s[256] = \"\";\n");
	print_registers();
	printf("\tonly = argc > 1 ? argv[1] : 0;\n\t(void)s;\n\tclock_gettime(CLOCK_REALTIME, "
	       "&soon);\n\tsoon.tv_nsec += soon.tv_nsec < 900000000 ? 100000000 : 0;\n"
	       "\tpthread_rwlock_init(&rw, 0);\n\tpthread_spin_init(&spin, 0);\n"
	       "\tsem_init(&sem, 0, 0);\n\tbox = calloc(16, sizeof(*box));\n");
	if (!joins)
		printf("\tatexit(handler);\n");
	print_body(0);
	for (unsigned r = 0; joins && r < REGS; r++)
		printf("\tout[0][%u] = r%u;\n", r, r);
	if (joins)
		print_end();
	else
		printf("\texit(0);\n");
	printf("}\n");
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: claimgen SEED c|outcomes\n");
		return 2;
	}
	make(strtoull(argv[1], NULL, 0));
	if (!strcmp(argv[2], "c"))
		print_program();
	else
		enumerate();
	return 0;
}
