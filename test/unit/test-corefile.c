/* test/unit/test-corefile.c - a dump has what the kernel's has, and takes no more room than that. */
#include "base/err.h"
#include "debug/dump.h"
#include "run/corefile.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTE = 1 << 20 };

static uint8_t *fresh(size_t size)
{
	uint8_t *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	cr_assert_neq(at, MAP_FAILED);
	return at;
}

static void write_dump(const char *path)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, &status, 0);
	cr_assert_null(corefile_write(child, &child, 1, SIGSTOP, path));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

Test(corefile, takes_no_room_for_zeroes_nor_for_what_nobody_wants)
{
	char path[] = "/tmp/unplait-corefile-XXXXXX";
	uint8_t *sparse = fresh(64 * MEGABYTE), *shadow = fresh((size_t)4096 * MEGABYTE);
	struct dump d;
	struct stat st;
	uint8_t byte = 0;
	size_t len;

	sparse[40 * MEGABYTE] = 42;
	madvise(shadow, (size_t)4096 * MEGABYTE, MADV_DONTDUMP);
	close(mkstemp(path));
	write_dump(path);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_lt(st.st_blocks * 512, 32 * MEGABYTE);
	cr_assert_null(dump_open(path, &d));
	cr_assert(dump_read(&d, (uintptr_t)sparse + 40 * MEGABYTE, &byte, 1));
	cr_assert_eq(byte, 42);
	cr_assert(dump_read(&d, (uintptr_t)sparse + 64 * MEGABYTE - 1, &byte, 1));
	cr_assert_eq(byte, 0);
	cr_assert_null(dump_bytes(&d, (uintptr_t)shadow, &len));
	dump_close(&d);
	unlink(path);
}

/* A process that is gone, or nobody's to trace, has no registers to show: a dump without threads would be none. */
Test(corefile, is_refused_where_no_thread_could_be_read)
{
	char path[] = "/tmp/unplait-corefile-XXXXXX";
	pid_t self = getpid();
	struct err *err;
	struct stat st;

	close(mkstemp(path));
	err = corefile_write(self, &self, 1, SIGSTOP, path);
	cr_assert_not_null(err);
	err_free(err);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_size, 0);
	unlink(path);
}
