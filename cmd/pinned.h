/* cmd/pinned.h - recordings of mode sync, before a command takes them. */
#ifndef CMD_PINNED_H
#define CMD_PINNED_H

#include <stdbool.h>

struct err;
struct target;

/* A recording of mode sync is run again under control and gets its schedule (run/pin.h); any other plait
 * is left alone. When that cannot be done the error says where it went another way. Call it after
 * trust_check. command: as for target_from_plait; said: what the command line says (time, standard input), or
 * NULL; racing: a list of racing lines that gets those that the search has seen (base/racing.h), or NULL. */
struct err *pinned(const char *plait, char *const *command, const struct target *said,
		   const char *racing);
/* The same for a command that only looks at the events. It runs no program of a plait that was made elsewhere: that
 * plait stays as it is. */
struct err *pinned_to_look(const char *plait);
/* pinned() for a command that takes failing runs alone: an error, too, if the recorded run passed and is not judged
 * anew. */
struct err *pinned_failing(const char *plait, char *const *command, const struct target *judged_by);

#endif
