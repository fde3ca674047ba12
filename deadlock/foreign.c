/* deadlock/foreign.c - see foreign.h.
 *
 * Without the library nobody noted where the held locks were taken; that is lost. What is left: the
 * stack of every thread (elfutils, through ptrace), the futex each sleeps on (/proc), and, when the
 * stack says that it sleeps inside pthread_mutex_lock, the owner that glibc stores in the mutex. A
 * cycle of such owners is a deadlock all the same.
 *
 * Threads are read one after the other, so a single look could put together waits that never were
 * at one time. Hence two looks: a thread that sleeps on the same futex in both, with the same owner
 * and not one context switch in between, slept from the end of the first look to the beginning of
 * the second, and all that did so slept at the same time. Both come before the stacks: ptrace wakes
 * every thread, and one that is on its way back into its wait would hide a deadlock. */
#include "deadlock/foreign.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "deadlock/deadlock.h"
#include "debug/modules.h"

#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

struct frames VEC_FIELDS(struct foreign_frame);
struct threads VEC_FIELDS(struct foreign_thread);

struct reading {
	int pid, mem;
	struct threads threads;
	struct frames frames; /* of the thread being read */
	struct modules *modules;
	Dwfl *dwfl;
};

/* ---- stacks ---- */

static void name_frames(struct reading *r, uint64_t pc, bool is_call)
{
	Dwfl_Module *mod = dwfl_addrmodule(r->dwfl, pc);
	struct source_frames found = { 0 };
	const char *path = NULL;
	Dwarf_Addr bias = 0;

	if (mod && dwfl_module_getelf(mod, &bias))
		dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, &path, NULL);
	if (path) {
		struct module *m;
		struct err *err = modules_get(r->modules, path, NULL, &m);

		if (!err)
			module_frames(m, pc - is_call - bias, &found);
		err_free(err);
	}
	if (!found.len)
		vec_push(&r->frames, (struct foreign_frame){ .pc = pc });
	for (size_t i = 0; i < found.len; i++) {
		const struct source_frame *s = &found.data[i];

		vec_push(&r->frames, (struct foreign_frame){
					     .function = s->function ? xstrdup(s->function) : NULL,
					     .file = s->file ? xstrdup(s->file) : NULL,
					     .line = s->line,
					     .pc = pc });
	}
	vec_deinit(&found);
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct reading *r = arg;
	Dwarf_Addr pc;
	bool activation;

	if (!dwfl_frame_pc(frame, &pc, &activation) || r->frames.len > 40)
		return DWARF_CB_ABORT;
	name_frames(r, pc, !activation);
	return DWARF_CB_OK;
}

static int on_thread(Dwfl_Thread *thread, void *arg)
{
	struct reading *r = arg;
	struct foreign_thread *t = vec_add(&r->threads);

	t->tid = dwfl_thread_tid(thread);
	r->frames = (struct frames){ 0 };
	dwfl_thread_getframes(thread, on_frame, r); /* an incomplete stack is still a stack */
	t = vec_last(&r->threads);
	t->frames = r->frames.data;
	t->nframes = r->frames.len;
	return DWARF_CB_OK;
}

static struct err *read_stacks(struct reading *r)
{
	struct err *err = NULL;

	r->dwfl = dwfl_begin(&callbacks);
	if (!r->dwfl || dwfl_linux_proc_report(r->dwfl, r->pid) != 0 ||
	    dwfl_report_end(r->dwfl, NULL, NULL) != 0 ||
	    dwfl_linux_proc_attach(r->dwfl, r->pid, false) != 0 ||
	    dwfl_getthreads(r->dwfl, on_thread, r) < 0)
		err = err_new(ERR_ENV, "cannot read the stacks of process %d: %s", r->pid,
			      dwfl_errmsg(-1));
	if (r->dwfl)
		dwfl_end(r->dwfl);
	return err;
}

/* ---- what they sleep on ---- */

struct sleep {
	int tid, owner;
	uint64_t futex;
	unsigned long long switches;
};
struct sleeps VEC_FIELDS(struct sleep);

static FILE *open_task(int pid, int tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	return fopen(path, "re");
}

/* How often it has been taken off a processor, by itself or not: a thread that ran was. */
static unsigned long long switches_of(int pid, int tid)
{
	FILE *f = open_task(pid, tid, "status");
	unsigned long long sum = 0, n;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			sum += n;
	if (f)
		fclose(f);
	return sum;
}

static struct sleep look_at(const struct reading *r, int tid)
{
	struct sleep s;
	pthread_mutex_t m;

	memset(&s, 0, sizeof(s)); /* looks are compared byte by byte */
	s.tid = tid;
	s.switches = switches_of(r->pid, tid);
	s.futex = task_futex(r->pid, tid);
	if (s.futex && pread(r->mem, &m, sizeof(m), (off_t)s.futex) == (ssize_t)sizeof(m) &&
	    m.__data.__lock != 0)
		s.owner = m.__data.__owner;
	return s;
}

static void look(const struct reading *r, struct sleeps *ret)
{
	_cleanup_(xfreep) char *path = xasprintf("/proc/%d/task", r->pid);
	DIR *dir = opendir(path);
	const struct dirent *d;

	while (dir && (d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.')
			vec_push(ret, look_at(r, atoi(d->d_name)));
	if (dir)
		closedir(dir);
}

/* Look twice; in *ret stay those that have not moved, the others without futex. False when a thread
 * that sleeps now did not sleep before: another pair of looks may see more. */
static bool look_twice(const struct reading *r, struct sleeps *ret)
{
	struct sleeps before = { 0 };
	bool settled = true;

	ret->len = 0;
	look(r, &before);
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	look(r, ret);
	for (size_t i = 0; i < ret->len; i++) {
		struct sleep *now = &ret->data[i];
		bool same = false;

		for (size_t k = 0; k < before.len && !same; k++)
			same = memcmp(&before.data[k], now, sizeof(*now)) == 0;
		settled &= same || !now->futex;
		if (!same)
			now->futex = 0;
	}
	vec_deinit(&before);
	return settled;
}

static bool is_in_mutex_lock(const struct foreign_thread *t)
{
	for (size_t i = 0; i < t->nframes && i < 6; i++)
		if (t->frames[i].function && (strstr(t->frames[i].function, "mutex_lock") ||
					      strstr(t->frames[i].function, "mutex_cond_lock")))
			return true;
	return false;
}

static void find_owner(const struct sleeps *sleeps, struct foreign_thread *t)
{
	for (size_t i = 0; i < sleeps->len; i++) {
		const struct sleep *s = &sleeps->data[i];

		if (s->tid != t->tid)
			continue;
		t->futex = s->futex;
		t->owner = s->futex && is_in_mutex_lock(t) ? s->owner : 0;
	}
}

static size_t index_of(const struct foreign *f, int tid)
{
	size_t i = 0;

	while (i < f->nthreads && f->threads[i].tid != tid)
		i++;
	return i;
}

/* Every thread waits for at most one other: follow that from each until a thread comes again. */
static void find_cycle(struct foreign *f)
{
	for (size_t start = 0; start < f->nthreads && !f->ncycle; start++) {
		VEC(size_t) path = { 0 };

		for (size_t at = start; at < f->nthreads && path.len <= f->nthreads;
		     at = f->threads[at].owner ? index_of(f, f->threads[at].owner) : f->nthreads) {
			if (path.len && at == start) {
				f->cycle = xmemdup(path.data, path.len * sizeof(size_t));
				f->ncycle = path.len;
				break;
			}
			vec_push(&path, at);
		}
		vec_deinit(&path);
	}
}

struct err *foreign_read(int pid, struct foreign *ret)
{
	struct reading r = { .pid = pid, .modules = modules_new() };
	struct sleeps sleeps = { 0 };
	char path[64];
	struct err *err;

	*ret = (struct foreign){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	r.mem = open(path, O_RDONLY | O_CLOEXEC);
	for (unsigned tries = 0; tries < 5 && !look_twice(&r, &sleeps); tries++)
		;
	err = read_stacks(&r);
	ret->threads = r.threads.data;
	ret->nthreads = r.threads.len;
	for (size_t i = 0; i < ret->nthreads && !err && r.mem >= 0; i++)
		find_owner(&sleeps, &ret->threads[i]);
	if (!err)
		find_cycle(ret);
	if (r.mem >= 0)
		close(r.mem);
	vec_deinit(&sleeps);
	modules_free(r.modules);
	return err;
}

void foreign_deinit(struct foreign *f)
{
	for (size_t i = 0; i < f->nthreads; i++) {
		for (size_t k = 0; k < f->threads[i].nframes; k++) {
			free(f->threads[i].frames[k].function);
			free(f->threads[i].frames[k].file);
		}
		free(f->threads[i].frames);
	}
	free(f->threads);
	free(f->cycle);
	*f = (struct foreign){ 0 };
}
