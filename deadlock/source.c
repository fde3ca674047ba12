/* deadlock/source.c - areas of running processes, and the files they leave behind.
 *
 * A running process is only read, through /proc: it is never stopped. Reading takes a while, so
 * after the copy every slot's seq is read once more, and who moved meanwhile is marked. */
#include "deadlock/deadlock.h"

#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct process {
	int pid;
	int mem;	  /* descriptor of /proc/PID/mem */
	uint64_t area;	  /* address, 0 = not found */
	struct map outer; /* its own thread ids -> ours, when they differ (containers) */
	unsigned tasks;
};

static void process_close(struct process *p)
{
	if (p->mem >= 0)
		close(p->mem);
	map_deinit(&p->outer);
}

static bool read_memory(void *context, uint64_t address, void *buf, size_t len)
{
	struct process *p = context;

	return pread(p->mem, buf, len, (off_t)address) == (ssize_t)len;
}

/* Find the mapping that starts with our magic. */
static struct err *find_area(struct process *p)
{
	char path[64], line[4096];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	f = fopen(path, "re");
	if (!f)
		return err_new(ERR_ENV, "there is no process %d (or it is not yours to look at)",
			       p->pid);
	while (!p->area && fgets(line, sizeof(line), f)) {
		uint64_t start, magic;
		char perms[5];
		unsigned long long offset;

		if (sscanf(line, "%lx-%*x %4s %llx", &start, perms, &offset) != 3)
			continue;
		if (strcmp(perms, "rw-s") != 0 || offset != 0)
			continue;
		if (read_memory(p, start, &magic, sizeof(magic)) && magic == WATCH_MAGIC)
			p->area = start;
	}
	fclose(f);
	return NULL;
}

static struct err *process_open(struct process *p, int pid)
{
	char path[64];

	*p = (struct process){ .pid = pid, .mem = -1 };
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	if (access(path, F_OK) != 0)
		return err_new(ERR_ENV, "there is no process %d", pid);
	p->mem = open(path, O_RDONLY | O_CLOEXEC);
	if (p->mem < 0)
		return err_errno(
			errno, "cannot read the memory of process %d (be its user, or root)", pid);
	return find_area(p);
}

struct err *snapshot_has_library(int pid, bool *ret)
{
	struct process p;
	struct err *err = process_open(&p, pid);

	*ret = !err && p.area;
	process_close(&p);
	return err;
}

/* In a container the process counts its threads differently; /proc/.../status has both numbers. */
static void list_tasks(struct process *p)
{
	char path[300], line[256];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", p->pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		int outer = atoi(d->d_name);
		uint64_t inner = (uint64_t)outer;
		FILE *f;

		if (outer <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/status", p->pid, outer);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			if (strncmp(line, "NSpid:", 6) == 0 && strrchr(line, '\t'))
				inner = strtoul(strrchr(line, '\t'), NULL, 10);
		if (f)
			fclose(f);
		map_put(&p->outer, inner, (uint64_t)outer);
		p->tasks++;
	}
	if (dir)
		closedir(dir);
}

uint64_t task_futex(int pid, int tid)
{
	char path[64];
	unsigned long address = 0;
	long number;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%ld %lx", &number, &address) != 2 || number != SYS_futex)
		address = 0;
	fclose(f);
	return address;
}

static uint64_t futex_of(void *context, uint32_t tid)
{
	struct process *p = context;

	return task_futex(p->pid, (int)map_get_or(&p->outer, tid, tid));
}

/* Read the used part of the area; *ret is owned by the caller. */
static struct err *read_area(struct process *p, struct watch_header **ret, size_t *len)
{
	struct watch_header h;
	char *buf;

	if (!read_memory(p, p->area, &h, sizeof(h)) || h.magic != WATCH_MAGIC)
		return err_new(ERR_ENV, "process %d is gone", p->pid);
	*len = h.slots_at + (size_t)h.slots_used * h.slot_size;
	if (*len > h.size || *len > 4ull << 30)
		return err_new(ERR_ENV, "the area of process %d is damaged", p->pid);
	buf = xmalloc(*len);
	if (!read_memory(p, p->area, buf, *len)) {
		free(buf);
		return err_new(ERR_ENV, "process %d is gone", p->pid);
	}
	*ret = (struct watch_header *)buf;
	return NULL;
}

static void mark_moved(struct process *p, const struct watch_header *h, struct snapshot *s)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		struct thread_uses *t = &s->threads[i];
		uint64_t at = p->area + h->slots_at + (uint64_t)t->slot * h->slot_size;
		uint32_t seq;

		if (!read_memory(p, at + offsetof(struct watch_slot, seq), &seq, sizeof(seq)) ||
		    seq != t->seq)
			t->moving = true;
	}
}

static void count_unwatched(struct process *p, struct snapshot *s)
{
	unsigned watched = 0;

	for (size_t i = 0; i < s->nthreads; i++)
		watched +=
			s->threads[i].state == WATCH_LIVE && map_find(&p->outer, s->threads[i].tid);
	s->unwatched = p->tasks > watched ? p->tasks - watched : 0;
}

static char *command_of(int pid)
{
	char path[64], exe[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	return n > 0 ? xstrndup(exe, (size_t)n) : NULL;
}

struct err *snapshot_from_pid(int pid, struct snapshot *ret)
{
	struct process p;
	struct err *err = process_open(&p, pid);
	struct watch_header *h = NULL;
	size_t len = 0;

	*ret = (struct snapshot){ 0 };
	if (!err && !p.area)
		err = err_new(ERR_ENV,
			      "process %d has no area of the watch library: it was started without "
			      "it, or has not used a lock or thread yet",
			      pid);
	if (!err)
		err = read_area(&p, &h, &len);
	if (!err) {
		struct memory mem = { &p, read_memory };

		err = snapshot_parse(h, len, &mem, ret);
	}
	if (!err) {
		mark_moved(&p, h, ret);
		list_tasks(&p);
		snapshot_refine(ret, futex_of, &p);
		count_unwatched(&p, ret);
		ret->alive = true;
		ret->command = command_of(pid);
	}
	free(h);
	process_close(&p);
	return err;
}

void snapshot_name_program(struct snapshot *s)
{
	const struct module_range *best = NULL;

	for (size_t i = 0; i < s->nmodules; i++)
		if (!strstr(s->modules[i].path, ".so") &&
		    (!best || s->modules[i].start < best->start))
			best = &s->modules[i];
	s->command = best ? xstrdup(best->path) : NULL;
}

struct err *snapshot_from_file(const char *path, struct snapshot *ret)
{
	struct file_map m;
	struct err *err = file_map_open(path, &m);

	*ret = (struct snapshot){ 0 };
	if (err)
		return err;
	err = err_wrap(snapshot_parse(m.data, m.len, NULL, ret), "%s", path);
	if (!err)
		snapshot_name_program(ret);
	file_map_close(&m);
	return err;
}
