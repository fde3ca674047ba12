/* rt/control/again.c - the next run in the same process.
 *
 * Forking a process for each run costs some hundred microseconds, nearly all of it in the kernel:
 * page tables are copied, every page that the run writes is copied at its first write, everything
 * is torn down at the end. Instead, a child of the fork server that has ended its run puts its
 * memory back to what it was when it was forked, and does the next one.
 *
 * Memory: before a fork the server keeps a copy of all pages that a run could write (private,
 * writable, present), shared with its children. A child asks the kernel to note which pages it
 * writes (userfaultfd, asynchronous write protection); at the end of a run PAGEMAP_SCAN lists
 * them, and they are copied back, or cleared if they were not there. A page that was written once
 * is not protected again but copied back every time: after a few runs there are no page faults
 * left.
 *
 * The kernel's side of a process cannot be copied. So the target's system calls are caught (system
 * call user dispatch, again-calls.c), and sorted: those that leave nothing behind, or only what
 * fork would share too, are made; mappings and descriptors that the run makes are noted and given
 * back; anything else means that this process ends with its run, as it always did. So does a run
 * that writes too many pages. Whatever is missing in the kernel (before 6.7, or forbidden):
 * likewise.
 *
 * Only runs whose request says PLAIT_CONTROL_AGAIN share a process. A failure that such a run finds
 * is replayed in a process of its own before it is believed.
 *
 * The area is at an address of its own choice, far from where the kernel puts mappings: what the
 * target maps lies at the same addresses whether there is such an area or not. */
#include "rt/control/again-inside.h"

#include "rt/control/engine.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define AREA_AT	    0x2d0000000000ull /* nor is the shadow of mode graph there: rt/modes/graph.h */
#define ADDRESS_END 0x7ffffffff000ull

enum { FIRST_FD = 192, GIVE_UP_AFTER = 3 };

struct again *again;

/* ---- what headers may not have yet: Linux 6.7 ---- */

struct scan_request {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, mask, any_of, ret;
};
#define PAGES_SCAN _IOWR('f', 16, struct scan_request)
enum { SCAN_PROTECT = 1 };
enum { PAGE_WP_ALLOWED = 1, PAGE_WRITTEN = 2, PAGE_PRESENT = 8, PAGE_SWAPPED = 16 };
#define FEATURE_WP_ASYNC (1ull << 15)
enum { USER_MODE_ONLY = 1 };

/* One step of a walk from *at to `end`: how many regions were found. Negative: it cannot be done.
 */
static long scan(int pagemap, uint64_t *at, uint64_t end, uint64_t mask, uint64_t flags)
{
	struct scan_request r = { .size = sizeof(r),
				  .flags = flags,
				  .start = *at,
				  .end = end,
				  .vec = (uint64_t)again->scan,
				  .vec_len = AGAIN_SCAN,
				  .mask = mask,
				  .any_of = PAGE_PRESENT | PAGE_SWAPPED,
				  .ret = PAGE_PRESENT };
	long n = rt_syscall(SYS_ioctl, pagemap, PAGES_SCAN, (long)&r, 0, 0, 0);

	*at = r.walk_end;
	return n;
}

static int open_pagemap(void)
{
	return (int)rt_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/pagemap",
			       O_RDONLY | O_CLOEXEC, 0, 0, 0);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* By hand: libc's may be the target's, and what it uses is being put back. */
static void copy_page(void *to, const void *from)
{
	uint64_t n = AGAIN_PAGE / 8;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void clear_page(void *to)
{
	uint64_t n = AGAIN_PAGE / 8;

	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

static bool same_page(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	uint64_t differ = 0;

	for (size_t i = 0; i < AGAIN_PAGE / 8; i++)
		differ |= x[i] ^ y[i];
	return !differ;
}

/* ---- the server: keep what is there ---- */

static bool make_area(void)
{
	long p =
		rt_syscall(SYS_mmap, (long)AREA_AT, sizeof(struct again), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != (long)AREA_AT)
		return false;
	again = (struct again *)p;
	again->uffd = again->pagemap = -1;
	return true;
}

static bool is_asked_for(void)
{
	const struct plait_control *a = control.area;

	return (a->flags & PLAIT_CONTROL_AGAIN) && a->gate != PLAIT_GATE_FUTEX && !a->dir[0] &&
	       fiber_possible();
}

bool again_outdated(void)
{
	static bool impossible;

	if (impossible || !is_asked_for())
		return false;
	if (!again && !make_area())
		impossible = true;
	return again && !again->kept && again->in_vain < GIVE_UP_AFTER;
}

struct again_context *again_context(void)
{
	return &again->context;
}

void again_forget(void)
{
	if (again)
		again->kept = false;
}

static bool save(uint64_t low, uint64_t high)
{
	for (; low < high; low += AGAIN_PAGE) {
		if (again->nsaved == AGAIN_SAVED)
			return false;
		again->addresses[again->nsaved] = low;
		copy_page(again->pages[again->nsaved++], (void *)low);
	}
	return true;
}

/* Of a file everything: what is not there comes from the file, not out of nothing. */
static bool save_range(int pagemap, const struct again_range *r, bool file)
{
	uint64_t at = r->low;
	long i, n;

	if (file)
		return save(r->low, r->high);
	while (at < r->high) {
		n = scan(pagemap, &at, r->high, 0, 0);
		if (n < 0)
			return false;
		for (i = 0; i < n; i++)
			if (!save(again->scan[i].start, again->scan[i].end))
				return false;
	}
	return true;
}

static const char *number(const char *s, uint64_t *ret)
{
	for (*ret = 0;; s++) {
		if (*s >= '0' && *s <= '9')
			*ret = *ret * 16 + (uint64_t)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			*ret = *ret * 16 + (uint64_t)(*s - 'a' + 10);
		else
			return s;
	}
}

/* "low-high rw-p offset device inode path" */
static bool keep_line(int pagemap, const char *line)
{
	struct again_range r;
	uint64_t inode = 0;
	const char *s = number(line, &r.low);

	s = number(s + 1, &r.high);
	if (s[2] != 'w' || s[4] != 'p')
		return true;
	if (again->nranges == AGAIN_RANGES)
		return false;
	for (int blanks = 0; *s && *s != '\n' && blanks < 4; s++)
		blanks += *s == ' ';
	number(s, &inode);
	again->ranges[again->nranges++] = r;
	return save_range(pagemap, &r, inode != 0);
}

static bool read_maps(void)
{
	long fd = rt_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0,
			     0, 0);
	size_t len = 0, room = sizeof(again->text) - 1;
	long n = -1;

	if (fd < 0)
		return false;
	while (len < room && (n = rt_syscall(SYS_read, fd, (long)(again->text + len),
					     (long)(room - len), 0, 0, 0)) > 0)
		len += (size_t)n;
	again->text[len] = 0;
	close_fd((int)fd);
	return n == 0;
}

static bool keep_memory(void)
{
	int pagemap = open_pagemap();
	const char *line = again->text;
	bool ok = pagemap >= 0 && read_maps();

	again->nranges = again->nsaved = 0;
	while (ok && *line) {
		ok = keep_line(pagemap, line);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	close_fd(pagemap);
	return ok;
}

void again_keep(int socket)
{
	again->socket = socket;
	again->thread_pointer = (uint64_t)pthread_self();
	again->brk = (uint64_t)rt_syscall(SYS_brk, 0, 0, 0, 0, 0, 0);
	rt_syscall(SYS_rt_sigprocmask, 0, 0, (long)&again->mask, 8, 0, 0);
	again->kept = !(again->mask >> (SIGSYS - 1) & 1) && keep_memory();
	if (!again->kept)
		again->in_vain = GIVE_UP_AFTER;
}

void again_begin(void)
{
	if (!again)
		return;
	again->state = AGAIN_RUNNING;
	again->armed = again->watching = false;
	again->rounds = 0;
}

enum again_state again_ended(bool grown)
{
	if (!again)
		return AGAIN_RUNNING;
	if (again->rounds)
		again->in_vain = 0;
	else if (again->armed && !grown)
		again->in_vain++;
	return again->state;
}

/* ---- the child: know what is written ---- */

/* Where the target does not come across them. */
static int move_up(long fd)
{
	long high = fd < 0 ? fd : rt_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FIRST_FD, 0, 0, 0);

	close_fd((int)fd);
	return (int)high;
}

static bool protect(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = FEATURE_WP_ASYNC };
	uint64_t at = 0;

	if (rt_syscall(SYS_ioctl, again->uffd, UFFDIO_API, (long)&api, 0, 0, 0) < 0)
		return false;
	for (uint32_t i = 0; i < again->nranges; i++) {
		const struct again_range *r = &again->ranges[i];
		struct uffdio_register reg = { .range = { r->low, r->high - r->low },
					       .mode = UFFDIO_REGISTER_MODE_WP };

		if (rt_syscall(SYS_ioctl, again->uffd, UFFDIO_REGISTER, (long)&reg, 0, 0, 0) < 0)
			return false;
	}
	while (at < ADDRESS_END)
		if (scan(again->pagemap, &at, ADDRESS_END, PAGE_WP_ALLOWED, SCAN_PROTECT) < 0)
			return false;
	return true;
}

/* What was written since it was kept, before anybody noted it, counts as written too. */
static void touch_changed(void)
{
	for (uint32_t i = 0; i < again->nsaved; i++) {
		volatile uint64_t *p = (uint64_t *)again->addresses[i];

		if (!same_page((const void *)p, again->pages[i]))
			*p = *p;
	}
}

bool again_arm(void)
{
	if (!again || !again->kept || again->in_vain >= GIVE_UP_AFTER || !is_asked_for())
		return false;
	again->pid = (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	again->uffd = move_up(rt_syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY,
					 0, 0, 0, 0, 0));
	again->pagemap = move_up(open_pagemap());
	if (again->uffd < 0 || again->pagemap < 0 || !protect() || !again_catch()) {
		close_fd(again->uffd);
		close_fd(again->pagemap);
		again->uffd = again->pagemap = -1;
		again->in_vain = GIVE_UP_AFTER;
		return false;
	}
	touch_changed();
	again->armed = true;
	return true;
}

void again_watch(void)
{
	if (!again || !again->armed)
		return;
	again->nmaps = 0;
	again->signals = 0;
	memset(again->fds, 0, sizeof(again->fds));
	again->watching = true;
	again->selector = 1;
}

void again_give_up(void)
{
	if (!again || !again->watching)
		return;
	again->watching = false;
	again_release();
	close_fd(again->uffd);
	close_fd(again->pagemap);
	close_fd(again->socket);
}

/* ---- the child: back to the beginning ---- */

void again_jump(struct again_context *c);
_Noreturn void again_leave_stack(void *stack_pointer, void (*then)(void));

/* No signal handlers while this goes on: they are blocked. */
__asm__(".pushsection .text\n"
	".type again_here, @function\n"
	".hidden again_here\n"
	".globl again_here\n"
	"again_here:\n"
	"	mov %rbx, (%rdi)\n	mov %rbp, 8(%rdi)\n	mov %r12, 16(%rdi)\n"
	"	mov %r13, 24(%rdi)\n	mov %r14, 32(%rdi)\n	mov %r15, 40(%rdi)\n"
	"	lea 8(%rsp), %rax\n	mov %rax, 48(%rdi)\n"
	"	mov (%rsp), %rax\n	mov %rax, 56(%rdi)\n"
	"	stmxcsr 64(%rdi)\n	fnstcw 68(%rdi)\n"
	"	xor %eax, %eax\n	ret\n"
	".size again_here, .-again_here\n"
	".type again_jump, @function\n"
	".hidden again_jump\n"
	".globl again_jump\n"
	"again_jump:\n"
	"	ldmxcsr 64(%rdi)\n	fninit\n	fldcw 68(%rdi)\n"
	"	mov (%rdi), %rbx\n	mov 8(%rdi), %rbp\n	mov 16(%rdi), %r12\n"
	"	mov 24(%rdi), %r13\n	mov 32(%rdi), %r14\n	mov 40(%rdi), %r15\n"
	"	mov 48(%rdi), %rsp\n	mov $1, %eax\n	jmp *56(%rdi)\n"
	".size again_jump, .-again_jump\n"
	".type again_leave_stack, @function\n"
	".hidden again_leave_stack\n"
	".globl again_leave_stack\n"
	"again_leave_stack:\n"
	"	mov %rdi, %rsp\n	xor %ebp, %ebp\n	call *%rsi\n	ud2\n"
	".size again_leave_stack, .-again_leave_stack\n"
	".popsection");

static void reply(void)
{
	struct {
		uint32_t pid, status;
	} r = { again->pid, (uint32_t)again->wait_status };

	again->state = AGAIN_IDLE;
	rt_syscall(SYS_write, again->socket, (long)&r, sizeof(r), 0, 0, 0);
}

/* What the run has got from the kernel. */
static void give_back(void)
{
	uint32_t i;

	for (i = 0; i < again->nmaps; i++)
		rt_syscall(SYS_munmap, (long)again->maps[i].low,
			   (long)(again->maps[i].high - again->maps[i].low), 0, 0, 0, 0);
	for (i = 0; i < AGAIN_FDS; i++)
		if (again->fds[i / 64] >> i % 64 & 1)
			close_fd((int)i);
	for (i = 0; i < AGAIN_SIGNALS; i++)
		if (again->signals >> i & 1)
			rt_syscall(SYS_rt_sigaction, i + 1, (long)&again->actions[i], 0, 8, 0, 0);
	if ((uint64_t)rt_syscall(SYS_brk, 0, 0, 0, 0, 0, 0) != again->brk)
		rt_syscall(SYS_brk, (long)again->brk, 0, 0, 0, 0, 0);
}

/* Pages from `low` on; *next: the first saved page that may be one of them. How many there were. */
static uint64_t put_back(uint64_t low, uint64_t high, uint32_t *next)
{
	uint64_t n = (high - low) / AGAIN_PAGE;

	while (*next < again->nsaved && again->addresses[*next] < low)
		++*next;
	for (; low < high; low += AGAIN_PAGE)
		if (*next < again->nsaved && again->addresses[*next] == low)
			copy_page((void *)low, again->pages[(*next)++]);
		else
			clear_page((void *)low);
	return n;
}

/* False: this process has become too large a thing. */
static bool put_memory_back(void)
{
	uint64_t at = 0, total = 0;
	uint32_t next = 0;
	long i, n;

	while (at < ADDRESS_END) {
		n = scan(again->pagemap, &at, ADDRESS_END, PAGE_WP_ALLOWED | PAGE_WRITTEN, 0);
		if (n < 0)
			return false;
		for (i = 0; i < n; i++)
			total += put_back(again->scan[i].start, again->scan[i].end, &next);
	}
	return total <= AGAIN_WRITTEN;
}

static _Noreturn void quit(void)
{
	for (;;)
		rt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* On a stack of its own: everybody else's is about to change. */
static void wind_back(void)
{
	char go;

	reply();
	give_back();
	if (!put_memory_back())
		quit();
	if (rt_syscall(SYS_read, again->socket, (long)&go, 1, 0, 0, 0) != 1)
		quit();
	if (!is_asked_for()) {
		again->state = AGAIN_UNFIT;
		quit();
	}
	again->state = AGAIN_RUNNING;
	again->rounds++;
	rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&again->mask, 0, 8, 0, 0);
	again_jump(&again->context);
}

void again_end(int wait_status)
{
	uint64_t all = UINT64_MAX;

	if (!again || !again->watching ||
	    again->pid != (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0))
		return;
	again->selector = 0;
	again->watching = false;
	again->wait_status = wait_status;
	rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8, 0, 0);
	__asm__ volatile("wrfsbase %0" : : "r"(again->thread_pointer));
	again_leave_stack(again->stack + sizeof(again->stack), wind_back);
}
