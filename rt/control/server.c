/* rt/control/server.c - around main.
 *
 * __libc_start_main is ours, and calls our main in place of the target's: all constructors have
 * run, nothing else has. With a server socket, the process stays there and forks one child per
 * request; the child returns and runs the target's main under control. Without one it does so
 * itself. A child may be good for the next run, too (again.c): then it asks for it and answers by
 * itself, and the server waits.
 *
 * The server allocates nothing after its first fork, so that every child starts from the same
 * heap; the request and the results are in the control area, and only "go" and the exit
 * status travel over the socket. */
#include "rt/control/again.h"
#include "rt/control/clocks.h"
#include "rt/control/engine.h"
#include "rt/control/heap.h"
#include "rt/core/real.h"
#include "unplait/log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int server_fd = -1;
const struct plait_log *control_log, *control_heard;
bool control_log_is_strange;
static int (*target_main)(int, char **, char **);

/* Without a run folder the facts about the run go into the control area. */
static void use_area_run(void)
{
	struct plait_run *run = (struct plait_run *)((char *)control.area + PLAIT_CONTROL_RUN);

	if (rt_writing || rt_run == run)
		return;
	rt_note_modules();
	memcpy(run, rt_run, offsetof(struct plait_run, threads));
	run->threads[0] = rt_run->threads[0];
	run->nthreads = 1;
	rt_run = run;
	rt_note_modules(); /* so that the end of a run finds nothing new */
}

/* What no run of this process must be without, also one that begins before the constructors. */
static void prepare(void)
{
	away_init();
	mallopt(M_ARENA_MAX, 1); /* threads take turns: one heap is enough, and cheaper */
	heap_begin();
	clocks_init();
}

static void begin_run(void)
{
	struct plait_control *a = control.area;

	a->pid = (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	if (a->dir[0]) {
		rt_restart(a->dir);
	} else {
		use_area_run();
		memset(&rt_run->failure, 0, sizeof(rt_run->failure));
		rt_run->nthreads = 1;
		rt_run->pid = a->pid;
	}
	control_begin();
	if (rt_on_main)
		rt_on_main();
}

/* The kernel gives every program sixteen random bytes. libc has made the stack protector's secret of
 * them; it lies on stacks, where a program that reads what it never wrote would see it. Nobody who
 * has saved the secret returns before main does: our frames have none. */
static void fix_random_bytes(void)
{
	char *bytes = (char *)getauxval(AT_RANDOM);

	for (int i = 0; bytes && i < 16; i++)
		bytes[i] = (char)(0x5a + 7 * i);
}

static void fix_stack_protector(void)
{
	__asm__ volatile("movq %0, %%fs:0x28" : : "r"(0x1122334455667700ull));
}

/* The tool has checked it. */
static void map_log(void)
{
	const struct plait_log_place *place =
		(const void *)((const char *)control.area + PLAIT_CONTROL_LOG_AT);
	long fd, size, p;

	if (!place->path[0])
		return;
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)place->path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	size = fd < 0 ? 0 : rt_syscall(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
	if (size <= 0)
		return;
	p = rt_syscall(SYS_mmap, 0, size, PROT_READ, MAP_SHARED, fd, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p > 0 || p < -4095)
		control_log = (const struct plait_log *)p;
	if (control_log && (size < (long)sizeof(*control_log) ||
			    memcmp(control_log->magic, PLAIT_LOG_MAGIC, 8) != 0)) {
		control_log = NULL;
		control_log_is_strange = true;
	}
	if (control_log && control_log->heard) {
		control_heard = control_log;
		control_log = NULL;
	}
}

const char *control_own_folder(void)
{
	static char folder[PATH_MAX];
	const struct plait_log_place *place =
		(const void *)((const char *)control.area + PLAIT_CONTROL_LOG_AT);
	const char *end = control_log ? strrchr(place->path, '/') : NULL;

	if (!end || (size_t)(end - place->path) >= sizeof(folder))
		return NULL;
	memcpy(folder, place->path, (size_t)(end - place->path));
	folder[end - place->path] = 0;
	return folder;
}

/* Not by atoi(): a sanitizer that is starting up, and has called us, would wait for itself there. */
static int number(const char *text)
{
	int n = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (*text - '0');
	return n;
}

void control_init(const struct control_world *world)
{
	const char *path = rt_getenv(PLAIT_ENV_CONTROL), *server = rt_getenv(PLAIT_ENV_SERVER);
	struct plait_control *area;
	long fd;

	fd = path ? rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0) : -1;
	if (fd < 0)
		return;
	/* not by mmap(): a sanitizer's would clean its shadow of all of it, for seconds */
	area = (struct plait_control *)rt_syscall(SYS_mmap, 0, PLAIT_CONTROL_SIZE,
						  PROT_READ | PROT_WRITE,
						  MAP_SHARED | MAP_NORESERVE, fd, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if ((long)area < 0 && (long)area > -4096)
		return;
	if (memcmp(area->magic, PLAIT_CONTROL_MAGIC, 8) || area->version != PLAIT_CONTROL_VERSION ||
	    area->size != sizeof(*area)) {
		real.munmap(area, PLAIT_CONTROL_SIZE);
		return;
	}
	/* a program that a controlled one starts inherits the environment, but not the control */
	if (area->started && area->pid != (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) &&
	    rt_syscall(SYS_kill, area->pid, 0, 0, 0, 0, 0) == 0) {
		real.munmap(area, PLAIT_CONTROL_SIZE);
		return;
	}
	control.area = area;
	control.world = world;
	control_virtual = true;
	map_log();
	fix_random_bytes();
	rt_on_death = again_end;
	if (server)
		server_fd = number(server);
	if (!rt_writing)
		rt_pcs_share();
	if (area->flags & PLAIT_CONTROL_EARLY) {
		prepare();
		begin_run();
	}
}

/* What a child must not share with the runs before it. */
static void fresh_descriptors(void)
{
	long fd;

	rt_syscall(SYS_lseek, 0, 0, SEEK_SET, 0, 0, 0);
	for (fd = 1; fd <= 2; fd++) /* they append: where the last run stopped does not matter */
		if (rt_syscall(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0) > 0)
			rt_syscall(SYS_ftruncate, fd, 0, 0, 0, 0, 0);
}

/* libc calls the program's own malloc when it makes a thread. That must be the same in every run,
 * and not happen while another thread is inside: so enough threads are made beforehand, whatever
 * the gate. */
enum { WARM_FIRST = 1, WARM_OWN_MALLOC = 16 };

extern const char jump_malloc[]; /* our own name for it: interpose.c */

static bool has_own_malloc(void)
{
	void *found = dlsym(RTLD_DEFAULT, "malloc");
	Dl_info a, b;

	if (found == (const void *)jump_malloc)
		found = (void *)(uintptr_t)real.malloc;
	return dladdr(found, &a) && dladdr((void *)(uintptr_t)gnu_get_libc_version, &b) &&
	       a.dli_fbase != b.dli_fbase;
}

static uint32_t warm_first(void)
{
	return has_own_malloc() ? WARM_OWN_MALLOC : WARM_FIRST;
}

/* A child is to begin with the next run. */
static void wait_for_request(void)
{
	char go;

	if (rt_syscall(SYS_read, server_fd, (long)&go, 1, 0, 0, 0) != 1)
		rt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

static void answer(long pid, int status)
{
	struct {
		uint32_t pid, status;
	} reply = { (uint32_t)pid, (uint32_t)status };

	rt_syscall(SYS_write, server_fd, (long)&reply, sizeof(reply), 0, 0, 0);
}

static void begin_child(void)
{
	rt_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
	if (!again_arm())
		rt_syscall(SYS_close, server_fd, 0, 0, 0, 0, 0);
}

/* See a child through its life; true: it leaves a request behind. */
static bool await(long pid, uint32_t *threads)
{
	uint32_t before = *threads;
	enum again_state left;
	int status = 0;

	if (pid < 0)
		status = -1;
	else
		while (rt_syscall(SYS_wait4, pid, (long)&status, 0, 0, 0, 0) == -4)
			;
	if (control.area->slots > *threads)
		*threads = control.area->slots;
	left = again_ended(*threads > before);
	if (left == AGAIN_RUNNING)
		answer(pid, status);
	return left == AGAIN_UNFIT;
}

/* Returns in children only. */
static void serve(void)
{
	uint32_t threads = warm_first();
	bool asked = false;
	long pid;

	use_area_run();
	answer(0, (int)control.area->uncontrolled);
	for (;;) {
		if (fiber_possible() && birth_warm(threads))
			again_forget();
		if (!asked)
			wait_for_request();
		if (again_outdated()) {
			if (again_here(again_context())) {
				birth_renamed();
				break;
			}
			again_keep(server_fd);
		}
		again_begin();
		rt_server_fork = true;
		pid = birth_fork();
		if (pid == 0) {
			begin_child();
			break;
		}
		asked = await(pid, &threads);
	}
	rt_server_fork = false;
	fresh_descriptors();
}

/* Above main's frame lie the environment and the arguments, as long as they are: main begins at the
 * next boundary below them, so that the addresses of its variables do not depend on them. */
enum { STACK_BOUNDARY = 1 << 20, STACK_NEEDED = 4 << 20 };

__attribute__((noinline)) static int call_main(int argc, char **argv, char **envp)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0), past = here % STACK_BOUNDARY;
	struct rlimit limit = { 0 };
	volatile char *gap;

	rt_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
	if (limit.rlim_cur < STACK_NEEDED)
		return target_main(argc, argv, envp);
	gap = __builtin_alloca(past);
	birth_add_stack(past);
	__asm__ volatile("" : : "r"(gap) : "memory");
	return target_main(argc, argv, envp);
}

static int controlled_main(int argc, char **argv, char **envp)
{
	if (!control_active) {
		prepare();
		sanitizer_init();
		if (server_fd >= 0)
			serve();
		else if (fiber_possible() && warm_first() > WARM_FIRST)
			birth_warm(WARM_OWN_MALLOC);
		if ((control.area->gate == PLAIT_GATE_FUTEX || !fiber_possible()) &&
		    warm_first() > WARM_FIRST)
			birth_park(WARM_OWN_MALLOC);
		begin_run();
		again_watch();
	}
	exit(call_main(argc, argv, envp));
}

/* Not under control. */
static int free_main(int argc, char **argv, char **envp)
{
	rt_on_main();
	return target_main(argc, argv, envp);
}

typedef int start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
		       void (*)(void), void *);

PLAIT_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
				   void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
				   void *stack_end);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_main *next;

	/* programs linked before glibc 2.34 bring their own init and want the old entry */
	next = (start_main *)(init ? dlvsym(RTLD_NEXT, "__libc_start_main", "GLIBC_2.2.5") : NULL);
	if (!next)
		next = (start_main *)dlsym(RTLD_NEXT, "__libc_start_main");
	rt_init();
	target_main = main;
	if (control_virtual)
		fix_stack_protector();
	return next(rt_mode == PLAIT_MODE_CONTROL && control.area ? controlled_main
		    : rt_on_main				  ? free_main
								  : main,
		    argc, argv, init, fini, rtld_fini, stack_end);
}
