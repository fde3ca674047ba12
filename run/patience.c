/* run/patience.c - see patience.h. */
#include "run/patience.h"

#include "base/log.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_WAITING = 10 }; /* times as much real time */

/* Processor seconds of another process; negative when they cannot be known. */
static double cpu_seconds(pid_t pid)
{
	struct timespec ts;
	clockid_t id;

	if (pid <= 0 || clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &ts) != 0)
		return -1;
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* "12 (name) R ...": does this thread run, or wait for a processor? The name may hold anything. */
static bool thread_could_run(pid_t pid, const char *thread)
{
	char path[96], text[512], *end;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, thread);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'R';
}

static bool could_run(pid_t pid)
{
	char path[64];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d)))
		found = e->d_name[0] != '.' && thread_could_run(pid, e->d_name);
	if (d)
		closedir(d);
	return found;
}

void patience_begin(struct patience *p)
{
	*p = (struct patience){ .last_wall = clock_seconds(), .last_cpu = -1 };
}

void patience_look(struct patience *p, pid_t pid)
{
	double now = clock_seconds(), cpu = cpu_seconds(pid);
	double wall = now - p->last_wall;
	bool measured = cpu >= 0 && p->last_cpu >= 0 && cpu >= p->last_cpu;

	p->wall += wall;
	p->own += measured && could_run(pid) ? MIN(cpu - p->last_cpu, wall) : wall;
	p->last_wall = now;
	p->last_cpu = cpu;
}

bool patience_is_over(const struct patience *p, double seconds)
{
	return p->own >= seconds || p->wall >= seconds * MOST_WAITING;
}
