/* rt/core/failure.c - the moment of failure: who, where, why, before the process is gone.
 *
 * Handlers for the fatal signals stand where the target left the default action. They note the
 * failure and step aside: the default action is put back and the instruction runs into the
 * fault again (or the signal is sent again), so that the target dies as it would have died alone,
 * core dump and exit status included. assert() and abort() are taken over to get their text and the
 * frames of the caller; libc's functions then do what they always do. */
#include "rt/core/real.h"
#include "rt/core/rt.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define ALT_STACK (64 << 10)

static void (*real_assert_fail)(const char *, const char *, unsigned, const char *);
static void (*real_abort)(void);
/* Of libgcc, NULL if it is not there: C programs do not need it. */
static __typeof__(_Unwind_Backtrace) *unwind;
static __typeof__(_Unwind_GetIP) *unwound_pc;

bool (*rt_on_fault)(int signal, uint64_t *address);
uint64_t (*rt_true_pc)(uint64_t pc);
void (*rt_on_death)(int wait_status);

/* Frame pointers, as long as they look like frames of that thread's stack. */
uint32_t rt_walk_frames(uint32_t thread, uint64_t fp, uint64_t *frames, uint32_t max)
{
	const struct plait_thread_info *info = &rt_run->threads[thread];
	uint64_t low = info->stack_low, high = info->stack_low + info->stack_size;
	uint32_t n = 0;

	while (n < max && fp >= low && fp + 16 <= high && fp % 8 == 0) {
		const uint64_t *frame = (const uint64_t *)fp;

		if (frame[1] < 4096)
			break;
		frames[n++] = frame[1];
		if (frame[0] <= fp)
			break;
		fp = frame[0];
	}
	return n;
}

struct unwound {
	uint64_t *frames, pc;
	uint32_t n, max;
};

static _Unwind_Reason_Code one_frame(struct _Unwind_Context *context, void *arg)
{
	struct unwound *u = arg;
	uint64_t pc = unwound_pc(context);

	if (u->n || pc == u->pc) /* the first ones are ours */
		u->frames[u->n++] = pc;
	return u->n < u->max ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* What we build has frame pointers, other code has not. */
static bool has_frame_pointers(uint64_t pc)
{
	for (uint32_t i = 0; i < rt_run->nmodules && i < PLAIT_MAX_MODULES; i++)
		if (rt_run->modules[i].nsites && pc >= rt_run->modules[i].low &&
		    pc < rt_run->modules[i].high)
			return true;
	return false;
}

/* By the tables of exceptions, which every library has; the libraries of C++ programs bring the code that reads
 * them. From the frame with this pc on; 0: there is none. */
static uint32_t walk_tables(uint64_t pc, uint64_t *frames, uint32_t max)
{
	struct unwound u = { .frames = frames, .pc = pc, .max = max };
	struct rt_thread *t = rt_self();

	if (!unwind || !unwound_pc)
		return 0;
	t->depth++;
	unwind(one_frame, &u);
	t->depth--;
	return u.n;
}

/* What the program accesses is accessed in a hook, in one of several functions, depending on what
 * is recorded and decided there. A crash is the caller's, and must look the same whichever it was.
 */
extern const char __start_plait_hooks[] __attribute__((weak, visibility("hidden")));
extern const char __stop_plait_hooks[] __attribute__((weak, visibility("hidden")));

static bool in_hook(uint64_t pc)
{
	return pc >= (uint64_t)__start_plait_hooks && pc < (uint64_t)__stop_plait_hooks;
}

/* The first frame is where it happened, the others are return addresses. */
static uint32_t walk_failure(uint64_t pc, uint64_t fp, uint64_t *frames, uint32_t max)
{
	uint32_t thread = rt_self()->index, n;

	if (rt_true_pc)
		pc = rt_true_pc(pc);
	n = has_frame_pointers(pc) ? 0 : walk_tables(pc, frames, max);
	if (n)
		return n;
	if (!in_hook(pc)) {
		n = pc != 0; /* 0: it jumped there, and the caller is the first frame */
		frames[0] = pc;
		return n + rt_walk_frames(thread, fp, frames + n, max - n);
	}
	for (n = rt_walk_frames(thread, fp, frames, max); n > 1 && in_hook(frames[0]); n--)
		for (uint32_t i = 1; i < n; i++)
			frames[i - 1] = frames[i];
	if (n)
		frames[0]--; /* in the call, not behind it */
	return n;
}

static uint64_t open_values(const struct rt_values *v)
{
	uint8_t *block = v->block, *next = block ? v->self->next : NULL;

	return next >= block && next <= v->block_end && block ? (uint64_t)(next - block) + 1 : 0;
}

/* Modes path and full: the bits that other threads still hold in their registers of bits, and how
 * far their blocks of values got. */
void rt_save_bits(void)
{
	uint32_t n = rt_run->nthreads;

	if (rt_mode != PLAIT_MODE_PATH && rt_mode != PLAIT_MODE_FULL)
		return;
	for (uint32_t i = 0; i < n && i < PLAIT_MAX_THREADS; i++)
		if (rt_threads[i].bits && !rt_threads[i].ended && &rt_threads[i] != rt_self_) {
			rt_run->threads[i].bits = *rt_threads[i].bits;
			rt_run->threads[i].values = open_values(&rt_threads[i].values);
		}
}

static void fail(enum plait_outcome_kind kind, int signal, int code, const void *address,
		 const char *text, uint64_t pc, uint64_t fp)
{
	struct plait_failure *f = &rt_run->failure;
	struct rt_thread *t = rt_self();
	uint32_t none = PLAIT_OUTCOME_UNKNOWN;

	if (!__atomic_compare_exchange_n(&f->kind, &none, kind, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	f->thread = t->index;
	f->signal = signal;
	f->code = code;
	f->address = (uint64_t)address;
	f->site = t->last_site;
	f->nframes = walk_failure(pc, fp, f->frames, PLAIT_MAX_FRAMES);
	for (size_t i = 0; text && text[i] && i < sizeof(f->text) - 1; i++)
		f->text[i] = text[i];
	rt_save_bits();
	plait_flush_bits();
	rt_record_failure(kind, t->last_site, text);
}

void rt_failure(enum plait_outcome_kind kind, int signal, int code, const void *address,
		const char *text)
{
	fail(kind, signal, code, address, text, (uint64_t)__builtin_return_address(0),
	     *(uint64_t *)__builtin_frame_address(0));
}

/* ---- signals ---- */

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };

static void on_fatal_signal(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	bool sent = info->si_code <= 0 || signal == SIGABRT;
	uint64_t address = sent ? 0 : (uint64_t)info->si_addr;
	struct sigaction action = { .sa_handler = SIG_DFL };

	if (!sent && rt_on_fault && rt_on_fault(signal, &address))
		return;
	fail(signal == SIGABRT ? PLAIT_OUTCOME_ASSERT : PLAIT_OUTCOME_SIGNAL, signal, info->si_code,
	     (void *)address, signal == SIGABRT ? "aborted" : NULL,
	     (uint64_t)uc->uc_mcontext.gregs[REG_RIP], (uint64_t)uc->uc_mcontext.gregs[REG_RBP]);
	if (rt_on_death)
		rt_on_death(signal);
	real.sigaction(signal, &action, NULL);
	if (sent) /* it is blocked now and arrives when this handler returns */
		rt_syscall(SYS_tgkill, getpid(), rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), signal,
			   0, 0, 0);
}

bool rt_failure_signal(int signal)
{
	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++)
		if (fatal_signals[i] == signal)
			return true;
	return false;
}

void rt_failure_action(struct sigaction *action)
{
	*action = (struct sigaction){ .sa_sigaction = on_fatal_signal,
				      .sa_flags = SA_SIGINFO | SA_ONSTACK };
}

void rt_failure_init(void)
{
	real_assert_fail = dlsym(RTLD_NEXT, "__assert_fail");
	real_abort = dlsym(RTLD_NEXT, "abort");
	unwind = dlsym(RTLD_DEFAULT, "_Unwind_Backtrace");
	unwound_pc = dlsym(RTLD_DEFAULT, "_Unwind_GetIP");
	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++) {
		struct sigaction old, action;

		rt_failure_action(&action);
		if (real.sigaction(fatal_signals[i], NULL, &old) == 0 &&
		    !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
			real.sigaction(fatal_signals[i], &action, NULL);
	}
}

/* A stack overflow needs another stack to be noted on. Kept by the thread until the process ends:
 * a few pages of address space, touched only in that case. */
void rt_failure_thread(void)
{
	stack_t old = { 0 }, stack = { .ss_size = ALT_STACK };
	long p;

	if (sigaltstack(NULL, &old) != 0 || !(old.ss_flags & SS_DISABLE))
		return;
	p = rt_syscall(SYS_mmap, 0, ALT_STACK, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p < 0 && p > -4096)
		return;
	stack.ss_sp = (void *)p;
	sigaltstack(&stack, NULL);
}

/* ---- assert and abort ---- */

struct text {
	char *at, *end;
};

static void add(struct text *t, const char *s)
{
	while (*s && t->at < t->end - 1)
		*t->at++ = *s++;
	*t->at = 0;
}

static void add_number(struct text *t, unsigned n)
{
	char digits[12];
	size_t i = sizeof(digits) - 1;

	digits[i] = 0;
	do
		digits[--i] = (char)('0' + n % 10);
	while (n /= 10);
	add(t, digits + i);
}

PLAIT_EXPORT _Noreturn void abort(void)
{
	if (rt_self_ && rt_mode != PLAIT_MODE_OFF)
		fail(PLAIT_OUTCOME_ASSERT, SIGABRT, 0, NULL, "abort()",
		     (uint64_t)__builtin_return_address(0),
		     *(uint64_t *)__builtin_frame_address(0));
	if (!real_abort)
		real_abort = dlsym(RTLD_NEXT, "abort");
	if (real_abort)
		real_abort();
	/* statically linked: do what abort does */
	real.signal(SIGABRT, SIG_DFL);
	raise(SIGABRT);
	_exit(127);
}

void __assert_fail(const char *, const char *, unsigned, const char *); /* assert.h hides it */

PLAIT_EXPORT _Noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
					  const char *function)
{
	char buffer[512];
	struct text text = { buffer, buffer + sizeof(buffer) };

	add(&text, file ? file : "?");
	add(&text, ":");
	add_number(&text, line);
	add(&text, ": ");
	add(&text, function ? function : "?");
	add(&text, ": Assertion `");
	add(&text, expression ? expression : "?");
	add(&text, "' failed.");
	if (rt_self_ && rt_mode != PLAIT_MODE_OFF) {
		rt_record_text(PLAIT_EV_ASSERT, rt_take_site(), buffer);
		fail(PLAIT_OUTCOME_ASSERT, SIGABRT, 0, NULL, buffer,
		     (uint64_t)__builtin_return_address(0),
		     *(uint64_t *)__builtin_frame_address(0));
	}
	if (!real_assert_fail)
		real_assert_fail = dlsym(RTLD_NEXT, "__assert_fail");
	if (real_assert_fail)
		real_assert_fail(expression, file, line, function);
	add(&text, "\n");
	if (write(2, buffer, strlen(buffer)) < 0)
		_exit(127);
	abort();
}
