/* run/revive.c - see revive.h.
 *
 * A child of ours keeps one page of its own, with a `syscall` instruction on it, and is stopped. From
 * then on we make it do system calls, one by one: unmap everything else, map what the dump had. Memory is
 * written through /proc/PID/mem, which does not ask for permissions. At last it gets the registers.
 * The page stays mapped; a dump that has something at every low address is refused.
 *
 * The kernel writes into a process on its own, through the area that libc registers for restartable
 * sequences (rseq). The child gives that up before its memory goes away. */
#include "run/revive.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "debug/dump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, DEAD_FRAMES = 1 << 17 };
static const uint64_t top = 0x7ffffffff000;

struct revived {
	pid_t pid;
	int mem;
	uint64_t stub; /* the page of our own */
	VEC(int) files;
};

/* ---- the child ---- */

static const uint8_t stub_code[] = { 0x0f, 0x05, 0xcc }; /* syscall; int3 */

/* From now on: mmap, munmap, the end. Any other system call kills it, whatever the dump makes it do. */
static bool lock_in(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Away from the network and everybody else; a user namespace lets an ordinary user do that. */
static bool leave_network(void)
{
	return unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0 ||
	       unshare(CLONE_NEWNET | CLONE_NEWIPC) == 0;
}

static _Noreturn void be_reborn(uint64_t stub, pid_t parent)
{
	struct rlimit none = { 0, 0 };
	bool alone;
	void *page;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setrlimit(RLIMIT_CORE, &none);
	alone = leave_network();
	if (__rseq_size)
		syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, 32, 1,
			RSEQ_SIG);
	page = mmap((void *)(uintptr_t)stub, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (page != (void *)(uintptr_t)stub)
		_exit(1);
	memcpy(page, stub_code, sizeof(stub_code));
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 || (!lock_in() && !alone))
		_exit(1);
	__asm__ volatile("int3"); /* stop, without a system call */
	_exit(1);
}

/* An address for the stub where neither the dump nor (as a new process) the child has anything. */
static uint64_t place_for_stub(const struct dump *d)
{
	for (uint64_t at = 0x10000; at < 0x400000; at += 0x10000) {
		bool taken = false;

		for (size_t i = 0; i < d->segments.len; i++)
			taken |= at + PAGE > d->segments.data[i].address &&
				 at < d->segments.data[i].address + d->segments.data[i].size;
		if (!taken)
			return at;
	}
	return 0;
}

static bool wait_stop(struct revived *r, int *status)
{
	pid_t n;

	do
		n = waitpid(r->pid, status, __WALL);
	while (n < 0 && errno == EINTR);
	if (n == r->pid && WIFSTOPPED(*status))
		return true;
	r->pid = 0; /* it is gone, and reaped */
	return false;
}

/* Make the child do a system call. */
static struct err *inject(struct revived *r, long number, const uint64_t *args, uint64_t *ret)
{
	struct user_regs_struct regs;
	int status;

	if (ptrace(PTRACE_GETREGS, r->pid, 0, &regs) < 0)
		return err_errno(errno, "reading registers");
	regs.rip = r->stub;
	regs.rax = (uint64_t)number;
	regs.orig_rax = (uint64_t)-1;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	if (ptrace(PTRACE_SETREGS, r->pid, 0, &regs) < 0 ||
	    ptrace(PTRACE_SINGLESTEP, r->pid, 0, 0) < 0)
		return err_errno(errno, "making a system call in the revived process");
	if (!wait_stop(r, &status) || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_GETREGS, r->pid, 0, &regs) < 0)
		return err_new(ERR_ENV, "the revived process did not survive a system call");
	*ret = regs.rax;
	return NULL;
}

/* ---- memory ---- */

/* All of it, to (or from) the process. */
static bool move_bytes(struct revived *r, uint64_t address, void *data, size_t len, bool to)
{
	char *p = data;

	while (len) {
		ssize_t n = to ? pwrite(r->mem, p, len, (off_t)address)
			       : pread(r->mem, p, len, (off_t)address);

		if (n <= 0)
			return false;
		p += n;
		address += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

bool revived_write(struct revived *r, uint64_t address, const void *data, size_t len)
{
	return move_bytes(r, address, (void *)(uintptr_t)data, len, true);
}

bool revived_read(struct revived *r, uint64_t address, void *data, size_t len)
{
	return move_bytes(r, address, data, len, false);
}

static const struct dump_file *file_of(const struct dump *d, uint64_t address)
{
	for (size_t i = 0; i < d->files.len; i++)
		if (address >= d->files.data[i].start && address < d->files.data[i].end)
			return &d->files.data[i];
	return NULL;
}

/* The file behind a segment that was not dumped whole; -1 = none. Opened before the fork. */
static int open_file(const struct dump *d, const struct dump_segment *s)
{
	const struct dump_file *f = file_of(d, s->address);
	struct stat st;
	int fd;

	if (!f || s->there >= s->size)
		return -1;
	fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int protection(uint32_t flags)
{
	return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
	       (flags & PF_X ? PROT_EXEC : 0);
}

static struct err *map_segment(struct revived *r, const struct dump *d, size_t i)
{
	const struct dump_segment *s = &d->segments.data[i];
	const struct dump_file *f = file_of(d, s->address);
	int fd = r->files.data[i];
	uint64_t flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0);
	uint64_t offset = fd < 0 ? 0 : f->offset + (s->address - f->start), got;
	uint64_t args[6] = { s->address, s->size,      (uint64_t)protection(s->flags),
			     flags,	 (uint64_t)fd, offset };
	struct err *err;

	if (s->address >= top || s->size > top - s->address || !s->size || s->address % PAGE)
		return NULL; /* vsyscall */
	err = inject(r, SYS_mmap, args, &got);
	if (err)
		return err;
	if (got != s->address)
		return err_new(ERR_ENV, "cannot map 0x%llx again: the kernel says %lld",
			       (unsigned long long)s->address, (long long)got);
	if (s->there && !revived_write(r, s->address, d->map.data + s->at, s->there))
		return err_new(ERR_ENV, "cannot write the memory at 0x%llx",
			       (unsigned long long)s->address);
	return NULL;
}

static struct err *replace_memory(struct revived *r, const struct dump *d)
{
	uint64_t below[6] = { 0, r->stub }, above[6] = { r->stub + PAGE, top - r->stub - PAGE };
	struct err *err;
	uint64_t got;

	err = inject(r, SYS_munmap, below, &got);
	if (!err)
		err = inject(r, SYS_munmap, above, &got);
	for (size_t i = 0; i < d->segments.len && !err; i++)
		err = map_segment(r, d, i);
	return err;
}

/* ---- registers ---- */

bool revived_registers(struct revived *r, struct user_regs_struct *ret)
{
	return r->pid && ptrace(PTRACE_GETREGS, r->pid, 0, ret) == 0;
}

bool revived_set_registers(struct revived *r, const struct user_regs_struct *registers)
{
	struct user_regs_struct regs = *registers;

	regs.orig_rax = (uint64_t)-1; /* no system call is to be started again */
	return r->pid && ptrace(PTRACE_SETREGS, r->pid, 0, &regs) == 0;
}

bool revived_extended(struct revived *r, void *ret, size_t cap, size_t *len)
{
	struct iovec v = { ret, cap };

	if (!r->pid || ptrace(PTRACE_GETREGSET, r->pid, NT_X86_XSTATE, &v) < 0)
		return false;
	*len = v.iov_len;
	return true;
}

bool revived_set_extended(struct revived *r, const void *data, size_t len)
{
	struct iovec v = { (void *)(uintptr_t)data, len };

	return r->pid && ptrace(PTRACE_SETREGSET, r->pid, NT_X86_XSTATE, &v) == 0;
}

/* ---- the whole ---- */

static struct err *start(struct revived *r, const struct dump *d)
{
	pid_t parent = getpid();
	char path[64];
	int status;

	r->pid = fork();
	if (r->pid < 0) {
		r->pid = 0;
		return err_errno(errno, "fork");
	}
	if (r->pid == 0)
		be_reborn(r->stub, parent);
	if (!wait_stop(r, &status))
		return err_new(ERR_ENV, "a process for the dump could not be made");
	ptrace(PTRACE_SETOPTIONS, r->pid, 0, PTRACE_O_EXITKILL);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)r->pid);
	r->mem = open(path, O_RDWR | O_CLOEXEC);
	if (r->mem < 0)
		return err_errno(errno, "%s", path);
	return replace_memory(r, d);
}

struct err *revive(const struct dump *d, size_t thread, struct revived **ret)
{
	struct revived *r = xcalloc(1, sizeof(*r));
	const struct dump_thread *t = &d->threads.data[thread];
	struct err *err;

	r->mem = -1;
	r->stub = place_for_stub(d);
	for (size_t i = 0; i < d->segments.len; i++)
		vec_push(&r->files, open_file(d, &d->segments.data[i]));
	err = r->stub ? start(r, d) : err_new(ERR_ENV, "the dump leaves no room for a page");
	if (!err && !revived_set_registers(r, &t->registers))
		err = err_errno(errno, "setting registers");
	if (!err && t->extended)
		revived_set_extended(r, t->extended, t->extended_len);
	if (err) {
		revived_free(r);
		return err;
	}
	*ret = r;
	return NULL;
}

void revived_free(struct revived *r)
{
	int status;

	if (!r)
		return;
	if (r->pid) {
		kill(r->pid, SIGKILL);
		while (waitpid(r->pid, &status, __WALL) < 0 && errno == EINTR)
			;
	}
	if (r->mem >= 0)
		close(r->mem);
	for (size_t i = 0; i < r->files.len; i++)
		if (r->files.data[i] >= 0)
			close(r->files.data[i]);
	vec_deinit(&r->files);
	free(r);
}

static bool is_system_call(struct revived *r, uint64_t pc)
{
	uint8_t code[2];

	return revived_read(r, pc, code, 2) &&
	       ((code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34)) || code[0] == 0xcd);
}

enum revived_stop revived_step(struct revived *r, int *signal)
{
	struct user_regs_struct regs;
	int status;

	if (!revived_registers(r, &regs))
		return REVIVED_GONE;
	if (is_system_call(r, regs.rip))
		return REVIVED_SYSCALL;
	if (ptrace(PTRACE_SINGLESTEP, r->pid, 0, 0) < 0 || !wait_stop(r, &status))
		return REVIVED_GONE;
	*signal = WSTOPSIG(status);
	return *signal == SIGTRAP ? REVIVED_STEPPED : REVIVED_SIGNAL;
}

enum revived_stop revived_run_to(struct revived *r, uint64_t address, uint64_t most, int *signal)
{
	struct user_regs_struct regs;
	enum revived_stop stop;

	while (most--) {
		stop = revived_step(r, signal);
		if (stop != REVIVED_STEPPED)
			return stop;
		if (!revived_registers(r, &regs))
			return REVIVED_GONE;
		if (regs.rip == address)
			break;
	}
	return REVIVED_STEPPED;
}

bool revived_equals(struct revived *r, const struct dump *d, uint64_t floor, uint64_t *ret)
{
	uint8_t buffer[1 << 14];

	*ret = 0;
	for (size_t i = 0; i < d->segments.len; i++) {
		const struct dump_segment *s = &d->segments.data[i];

		if (s->address >= top)
			continue;
		for (uint64_t at = 0; at < s->there; at += sizeof(buffer)) {
			size_t n = MIN(sizeof(buffer), s->there - at);
			const uint8_t *want = d->map.data + s->at + at;

			if (!revived_read(r, s->address + at, buffer, n)) {
				*ret = s->address + at;
				return false;
			}
			for (size_t k = memcmp(buffer, want, n) ? 0 : n; k < n; k++)
				if (buffer[k] != want[k] &&
				    floor - (s->address + at + k) - 1 >= DEAD_FRAMES) {
					*ret = s->address + at + k;
					return false;
				}
		}
	}
	return true;
}
