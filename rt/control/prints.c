/* rt/control/prints.c - who printed what.
 *
 * Two runs may print the same, thread by thread, in another order. So whenever the processor passes to
 * another thread, the length of all output so far is noted: what came since the last note is the
 * thread's that ran. A print that still lies in stdio's buffer counts. The tool has made both files empty
 * before the run. Nothing is noted unless the
 * request asks for it (PLAIT_CONTROL_PRINTS). */
#include "rt/control/prints.h"

#include "rt/control/engine.h"

#include <stdio_ext.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool prints_on;

static struct plait_prints *region(void)
{
	return (struct plait_prints *)((char *)control.area + PLAIT_CONTROL_PRINTS_AT);
}

static uint64_t length_of(FILE *f, int fd)
{
	struct stat st = { 0 };

	rt_syscall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0);
	return (uint64_t)st.st_size + (f ? __fpending(f) : 0);
}

void prints_begin(void)
{
	prints_on = control.area->flags & PLAIT_CONTROL_PRINTS;
	if (prints_on)
		region()->n = region()->lost = 0;
}

void prints_note(uint32_t thread)
{
	struct plait_prints *p = region();
	struct plait_print now = { .thread = thread,
				   .out = length_of(stdout, STDOUT_FILENO),
				   .errors = length_of(stderr, STDERR_FILENO) };

	if (p->n && p->print[p->n - 1].out == now.out && p->print[p->n - 1].errors == now.errors)
		return;
	if (p->n == PLAIT_CONTROL_PRINTS_MAX)
		p->lost++;
	else
		p->print[p->n++] = now;
}
