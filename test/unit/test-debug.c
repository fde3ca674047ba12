/* debug/: modules, names of variables, files that are no binaries. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "debug/binary.h"
#include "debug/modules.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pair {
	int unused;
	pthread_mutex_t lock;
};
static struct pair pairs[3];

static struct nested {
	unsigned few : 3, many : 12;
	struct {
		short first, second;
	};
	union {
		int number;
		float real;
	} either;
	double grid[2][3];
	sem_t sem;
} nested;

static __attribute__((noinline)) uint64_t own_bias(void)
{
	Dl_info info;

	return dladdr((void *)(uintptr_t)own_bias, &info) ? (uint64_t)info.dli_fbase : 0;
}

Test(modules, own_function_and_variable)
{
	struct modules *s = modules_new();
	struct source_frames frames = { 0 };
	struct strbuf name = { 0 };
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct module *m;

	cr_assert(n > 0);
	self[n] = 0;
	cr_assert_null(modules_get(s, self, NULL, &m));
	module_frames(m, (uint64_t)(uintptr_t)own_bias - own_bias(), &frames);
	cr_assert(frames.len >= 1);
	cr_assert_str_eq(frames.data[frames.len - 1].function, "own_bias");
	cr_assert(strstr(frames.data[0].file, "test/unit/test-debug.c") != NULL);
	free(frames.data);
	cr_assert(module_global_name(m, (uint64_t)(uintptr_t)&pairs[2].lock - own_bias(), &name));
	cr_assert_str_eq(strbuf_str(&name), "pairs[2].lock");
	strbuf_deinit(&name);
	modules_free(s);
}

Test(modules, absent_and_wrong)
{
	struct modules *s = modules_new();
	struct source_frames frames = { 0 };
	struct module *m;
	struct err *err = modules_get(s, "/no/such/file", NULL, &m);

	cr_assert_not_null(err);
	err_free(err);
	/* a binary without build-id has nothing to compare with */
	err = modules_get(s, "/proc/self/exe", "0123456789", &m);
	if (!err)
		module_frames(m, 0, &frames);
	cr_assert_eq(frames.len, 0u);
	err_free(err);
	modules_free(s);
}

static struct modules *own_modules(struct module **ret)
{
	static char self[4096];
	struct modules *ms = modules_new();
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	cr_assert(n > 0);
	cr_assert_null(modules_get(ms, self, NULL, ret));
	return ms;
}

static void expect_name(struct module *m, const volatile void *address, const char *name)
{
	struct strbuf got = { 0 };

	cr_assert(module_global_name(m, (uint64_t)(uintptr_t)address - own_bias(), &got));
	cr_assert_str_eq(strbuf_str(&got), name);
	strbuf_deinit(&got);
}

Test(modules, the_way_into_a_variable)
{
	struct module *m;
	struct modules *ms = own_modules(&m);

	nested.many = 1;
	expect_name(m, &nested, "nested.few");
	expect_name(m, (char *)&nested + 1, "nested.many+1");
	expect_name(m, &nested.second, "nested.second");
	expect_name(m, &nested.either, "nested.either");
	expect_name(m, (char *)&nested.either + 2, "nested.either+2");
	expect_name(m, &nested.grid[1][2], "nested.grid[1][2]");
	expect_name(m, (char *)&nested.sem + 8, "nested.sem");
	expect_name(m, (char *)&pairs[1].lock + 8, "pairs[1].lock");
	modules_free(ms);
}

Test(modules, a_pipe_is_no_module, .timeout = 10)
{
	struct modules *ms = modules_new();
	char *folder, *path;
	struct module *m;
	struct sites *sites;
	struct err *err;

	cr_assert_null(file_temp_dir(&folder));
	path = xasprintf("%s/pipe", folder);
	cr_assert_eq(mkfifo(path, 0600), 0);
	err = modules_get(ms, path, NULL, &m);
	cr_assert_not_null(err);
	cr_assert(strstr(err_message(err), "not a regular file") != NULL);
	err_free(err);
	err = sites_open(path, &sites);
	cr_assert_not_null(err);
	err_free(err);
	file_remove_tree(folder);
	free(path);
	free(folder);
	modules_free(ms);
}

static void expect_path(const char *path, const char *folder, const char *short_one)
{
	struct strbuf got = { 0 };

	path_shorten(path, folder, &got);
	cr_assert_str_eq(strbuf_str(&got), short_one);
	strbuf_deinit(&got);
}

Test(path, shorten)
{
	expect_path("/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/mutex", NULL,
		    "/usr/include/c++/12/mutex");
	expect_path("/home/me/p/src/./a.c", "/home/me/p", "src/a.c");
	expect_path("/home/me/p/build/../src/a.c", "/home/me/p/", "src/a.c");
	expect_path("/home/me/pq/a.c", "/home/me/p", "/home/me/pq/a.c");
	expect_path("./a.c", "/home/me", "a.c");
	expect_path("../a/../b.c", NULL, "../b.c");
	expect_path("../../b.c", NULL, "../../b.c");
	expect_path("/../b.c", NULL, "/b.c");
	expect_path("a/..", NULL, "");
}
