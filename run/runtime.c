/* run/runtime.c - see runtime.h. */
#include "run/runtime.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "debug/names.h"
#include "unplait/abi.h"

#include <elf.h>
#include <sched.h>

/* The note that rt/modes/note.S leaves in every program with the runtime. */
#define NOTE ".note.unplait"

static bool has_section(const char *path, const char *name)
{
	struct strbuf section = { 0 };
	bool found = false;

	err_free(binary_section(path, name, &section, &found)); /* unreadable: it has none */
	strbuf_deinit(&section);
	return found;
}

static bool is_x86_64(const struct file_map *m)
{
	const Elf64_Ehdr *eh = (const void *)m->data;

	return m->len >= sizeof(*eh) && memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 &&
	       eh->e_ident[EI_CLASS] == ELFCLASS64 && eh->e_machine == EM_X86_64;
}

/* gcc's AddressSanitizer is a library, and insists on being the first. */
static char *find_sanitizer(const struct file_map *m)
{
	static const char name[] = "libasan.so.";
	const char *found = memmem(m->data, m->len, name, sizeof(name) - 1);
	size_t room = found ? m->len - (size_t)(found - (const char *)m->data) : 0;

	return found && memchr(found, 0, MIN(room, 32)) ? xstrdup(found) : NULL;
}

static void look_into(struct runtime *r)
{
	struct file_map m = { 0 };
	struct err *err = file_map_open(r->program, &m);

	if (err) {
		err_free(err);
		return;
	}
	r->is_script = m.len > 2 && memcmp(m.data, "#!", 2) == 0;
	r->is_other = !r->is_script && !is_x86_64(&m);
	r->sanitizer = find_sanitizer(&m);
	r->carries_tsan = memmem(m.data, m.len, "__tsan_", 7) != NULL;
	r->sanitized = memmem(m.data, m.len, "__asan_init", 11) ||
		       memmem(m.data, m.len, "__ubsan_handle", 14) ||
		       memmem(m.data, m.len, "__lsan_init", 11);
	file_map_close(&m);
}

static struct err *find_library(struct runtime *r)
{
	if (!r->is_script && !r->is_other && !has_section(r->program, ".interp"))
		return err_new(ERR_ENV,
			       "%s is statically linked, which leaves no way into it: link it "
			       "without -static",
			       r->program);
	r->library = file_find_part("libplait.so");
	return r->library ? NULL
			  : err_new(ERR_ENV, "libplait.so is not where unplait was installed: "
					     "run make, or install unplait");
}

struct err *runtime_find(const char *name, struct runtime *ret)
{
	assert(name && *name);
	*ret = (struct runtime){ .program = strchr(name, '/') ? xstrdup(name)
							      : file_find_program(name) };
	if (!ret->program)
		return err_new(ERR_ENV, "%s: no such program", name);
	look_into(ret);
	ret->sees_memory = has_section(ret->program, NOTE);
	if (ret->sees_memory || !file_exists(ret->program))
		return NULL;
	ret->sees_memory = ret->carries_tsan;
	return find_library(ret);
}

void runtime_deinit(struct runtime *r)
{
	free(r->program);
	free(r->library);
	free(r->sanitizer);
	*r = (struct runtime){ 0 };
}

/* What rt/interpose/sanitizer.c says where it can, for programs that have a sanitizer of their own.
 * The user's options come last, and win. */
static void set_sanitizer_options(const char *mode, struct environment *e)
{
	bool control = strcmp(mode, "control") == 0;
	const char *options =
		control ? "abort_on_error=1:detect_leaks=0:use_sigaltstack=0" : "abort_on_error=1";

	environment_prepend(e, "ASAN_OPTIONS", options);
	environment_prepend(e, "LSAN_OPTIONS", options);
	environment_prepend(e, "UBSAN_OPTIONS",
			    "abort_on_error=1:halt_on_error=1:print_stacktrace=1");
}

/* OpenMP's threads wait by spinning, in code that nobody sees. Told so, they wait properly, or give the
 * processor away: rt/interpose/passed.c tells the runtime that there is one, so the number of threads
 * is said beforehand. The user's own settings win. */
static void set_openmp_options(struct environment *e)
{
	/* what the runtime would make of the number of processors */
	static const char *const counts[] = { "OMP_NUM_THREADS", "KMP_TEAMS_THREAD_LIMIT",
					      "OMP_TEAMS_THREAD_LIMIT" };
	char threads[16];
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	snprintf(threads, sizeof(threads), "%d", CPU_COUNT(&set));
	if (!environment_find(e, "KMP_BLOCKTIME"))
		environment_set(e, "KMP_BLOCKTIME", "0");
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (!environment_find(e, counts[i]))
			environment_set(e, counts[i], threads);
	if (!environment_find(e, "KMP_AFFINITY") && !environment_find(e, "OMP_PROC_BIND") &&
	    !environment_find(e, "OMP_PLACES"))
		environment_set(e, "KMP_AFFINITY", "disabled");
}

void runtime_set_environment(const struct runtime *r, const char *mode, struct environment *e)
{
	static const char *const ours[] = { PLAIT_ENV_MODE, PLAIT_ENV_DIR, PLAIT_ENV_CONTROL,
					    PLAIT_ENV_SERVER };

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		environment_set(e, ours[i], NULL);
	environment_set(e, PLAIT_ENV_MODE, mode);
	if (!strcmp(mode, "control"))
		set_openmp_options(e);
	if (r->library)
		environment_prepend(e, "LD_PRELOAD", r->library);
	if (r->library && r->sanitizer)
		environment_prepend(e, "LD_PRELOAD", r->sanitizer);
	if (r->library && r->sanitized)
		set_sanitizer_options(mode, e);
}
