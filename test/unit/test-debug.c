/* debug/: modules, names of variables, files that are no binaries. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "debug/binary.h"
#include "debug/dump.h"
#include "debug/modules.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
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

/* ---- core dumps ---- */

static void add_note(struct strbuf *out, uint32_t type, const void *content, size_t len)
{
	Elf64_Nhdr note = { 5, (uint32_t)len, type };

	strbuf_add(out, &note, sizeof(note));
	strbuf_add(out, "CORE\0\0\0", 8);
	strbuf_add(out, content, len);
	strbuf_pad(out, 0, -len & 3);
}

/* One page of memory, which is an ELF header with a build-id; two threads; one mapped file. */
static void make_core(struct strbuf *out)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[2];
		Elf64_Nhdr note;
		char name[4];
		uint8_t id[4];
	} page = { .eh = { .e_ident = ELFMAG,
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2 },
		   .note = { 4, 4, NT_GNU_BUILD_ID },
		   .name = "GNU",
		   .id = { 1, 2, 0xab, 4 } };
	struct {
		uint64_t count, page, start, end, offset;
		char path[16];
	} files = { 1, 4096, 0x7000, 0x8000, 0, "/usr/bin/dining" };
	Elf64_Ehdr eh = { .e_ident = ELFMAG,
			  .e_type = ET_CORE,
			  .e_machine = EM_X86_64,
			  .e_phoff = sizeof(eh),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2 };
	Elf64_Phdr ph[2] = { { .p_type = PT_NOTE, .p_offset = sizeof(eh) + sizeof(ph) },
			     { .p_type = PT_LOAD, .p_vaddr = 0x7000, .p_memsz = 0x1000 } };
	struct elf_prstatus thread = { .pr_pid = 41, .pr_cursig = 6 };
	struct strbuf notes = { 0 };

	page.ph[0] = (Elf64_Phdr){ .p_type = PT_NOTE,
				   .p_vaddr = offsetof(typeof(page), note),
				   .p_memsz = sizeof(page) - offsetof(typeof(page), note) };
	page.ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0 };
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	add_note(&notes, NT_PRSTATUS, &thread, sizeof(thread));
	thread.pr_pid = 42;
	thread.pr_reg[14] = 0x7654; /* rdi */
	add_note(&notes, NT_PRSTATUS, &thread, sizeof(thread));
	add_note(&notes, NT_FILE, &files, sizeof(files));
	ph[0].p_filesz = notes.len;
	ph[1].p_offset = ph[0].p_offset + notes.len;
	ph[1].p_filesz = sizeof(page);
	strbuf_add(out, &eh, sizeof(eh));
	strbuf_add(out, ph, sizeof(ph));
	strbuf_add(out, notes.data, notes.len);
	strbuf_add(out, &page, sizeof(page));
	strbuf_deinit(&notes);
}

/* Open the bytes as a dump, through a file; `folder` keeps it until the end of the test. */
static struct err *open_core(const char *folder, const void *data, size_t len, struct dump *ret)
{
	char *path = xasprintf("%s/core", folder);
	struct err *err;

	cr_assert_null(file_write(path, data, len));
	err = dump_open(path, ret);
	free(path);
	return err;
}

Test(dump, threads_memory_modules)
{
	struct strbuf core = { 0 };
	struct dump d;
	char *folder;
	size_t len;

	cr_assert_null(file_temp_dir(&folder));
	make_core(&core);
	cr_assert_null(open_core(folder, core.data, core.len, &d));
	cr_assert_eq(d.threads.len, 2u);
	cr_assert_eq(d.threads.data[1].tid, 42u);
	cr_assert_eq(d.threads.data[1].registers.rdi, 0x7654u);
	cr_assert_eq(d.signal, 6);
	cr_assert_not_null(dump_bytes(&d, 0x7000, &len));
	cr_assert_null(dump_bytes(&d, 0x7fff, &len), "it was not dumped");
	cr_assert_eq(d.modules.len, 1u);
	cr_assert_eq(dump_module_at(&d, 0x7123)->bias, 0x7000u);
	cr_assert_str_eq(d.modules.data[0].path, "/usr/bin/dining");
	cr_assert_str_eq(d.modules.data[0].build_id, "0102ab04");
	cr_assert_eq(d.gaps.len, 0u);
	dump_close(&d);
	file_remove_tree(folder);
	free(folder);
	strbuf_deinit(&core);
}

/* Every cut and every changed byte: an error or a dump, never a crash. */
Test(dump, damaged, .timeout = 60)
{
	struct strbuf core = { 0 };
	struct dump d;
	char *folder;

	cr_assert_null(file_temp_dir_fast(&folder));
	make_core(&core);
	for (size_t n = 1; n < core.len; n++) {
		struct err *err = open_core(folder, core.data, n, &d);

		cr_assert(err || d.gaps.len || d.threads.len < 2 || !d.modules.len);
		err_free(err);
		dump_close(&d);
	}
	for (size_t i = 0; i < core.len; i++) {
		static const uint8_t flips[] = { 0x01, 0x80, 0xff };

		for (size_t k = 0; k < ARRAY_SIZE(flips); k++) {
			core.data[i] = (char)(core.data[i] ^ flips[k]);
			err_free(open_core(folder, core.data, core.len, &d));
			dump_close(&d);
			core.data[i] = (char)(core.data[i] ^ flips[k]);
		}
	}
	file_remove_tree(folder);
	free(folder);
	strbuf_deinit(&core);
}
