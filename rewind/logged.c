/* rewind/logged.c - see logged.h.
 *
 * An uncorrected error that the kernel says hit this process is certain, and so is the signal that it sends for one.
 * One that names nobody is strong: data was lost on this machine, and nobody says whose. One that hit another
 * process, and errors that were corrected, count for nothing, and are named. */
#include "rewind/logged.h"

#include "crumbs/crumbs.h"
#include "debug/dump.h"
#include "rewind/hardware.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { COMM = 15 }; /* characters of a process's name that the kernel keeps */

static bool is_of(const struct dump *d, const struct crumb_check *k)
{
	if (k->program && *d->program && strncmp(k->program, d->program, COMM) != 0)
		return false;
	for (size_t i = 0; i < d->threads.len; i++)
		if (d->threads.data[i].tid == k->pid)
			return true;
	return false;
}

static void decide(struct hardware *ret, enum hardware_strength strength, const char *what,
		   const char *text)
{
	if (strength <= ret->strength)
		return;
	ret->strength = strength;
	ret->address = 0;
	snprintf(ret->what, sizeof(ret->what), "%s: %.120s", what, text);
	ret->against[0] = 0;
}

void hardware_logged(const struct dump *d, const struct crumbs *crumbs, struct hardware *ret)
{
	size_t others = 0, corrected = 0;

	if (d->signal == SIGBUS && (d->code == BUS_MCEERR_AR || d->code == BUS_MCEERR_AO))
		decide(ret, HARDWARE_CERTAIN, "the kernel ended it for a memory error",
		       d->code == BUS_MCEERR_AR ? "it had to read the lost data"
						: "found beside its work");
	for (size_t i = 0; crumbs && i < crumbs->checks.len; i++) {
		const struct crumb_check *k = &crumbs->checks.data[i];

		if (k->uncorrected && k->pid_known && is_of(d, k))
			decide(ret, HARDWARE_CERTAIN, "the log says that it hit this process",
			       k->text);
		else if (k->uncorrected && !k->pid_known)
			decide(ret, HARDWARE_STRONG, "the log has an uncorrected error", k->text);
		others += k->uncorrected && k->pid_known && !is_of(d, k);
		corrected += !k->uncorrected;
	}
	if (ret->strength < HARDWARE_STRONG && !*ret->against && others + corrected)
		snprintf(ret->against, sizeof(ret->against),
			 "the log has %zu errors that hit other processes and %zu that were "
			 "corrected",
			 others, corrected);
}
