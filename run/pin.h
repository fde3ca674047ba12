/* run/pin.h - from a recording of mode sync to a plait with its schedule.
 *
 * The recorded run is made once more under control, with its inputs given to it and its synchronisation
 * in the recorded order. If it ends as it did, the plait is *pinned*: its file gets all events and the
 * schedule, and from then on is like one of hunt's. */
#ifndef RUN_PIN_H
#define RUN_PIN_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct target;

struct pin_options {
	char *const
		*command;  /* program and arguments to use instead of the recorded ones; or NULL */
	const char *input; /* standard input in place of the recorded one; or NULL */
	double timeout;	   /* seconds of one attempt; 0 = as long as it takes */
	uint32_t gate;	   /* enum plait_gate */
	unsigned attempts; /* at most; 0 = enough */
	const char
		*racing; /* a list (base/racing.h) that gets the lines that have raced; or NULL */
};

enum pin_state {
	PIN_NOT_NEEDED, /* not of mode sync, or pinned before */
	PIN_DONE,
	PIN_DIVERGED, /* no attempt ended as the recorded run did */
};

struct pin_report {
	enum pin_state state;
	unsigned attempts;
	char *path; /* the pinned plait: the file itself, or where it cannot be written a copy; owned */
	char *text; /* diverged: where and why the attempt that came furthest left the recorded run; owned */
	char *races; /* the first attempt did not do: which accesses have raced since, in words; or NULL. Owned */
	unsigned marks; /* check marks that agreed in the last attempt */
	bool copied;
	bool cut; /* a signal came while it was recorded: replays end there */
};
void pin_report_deinit(struct pin_report *r);

/* Pin the plait if it has to be. */
struct err *pin_plait(const char *path, const struct pin_options *o, struct pin_report *ret);

#endif
