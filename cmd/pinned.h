/* cmd/pinned.h - recordings of mode sync, before a command takes them. */
#ifndef CMD_PINNED_H
#define CMD_PINNED_H

#include <stdbool.h>

struct err;

/* A recording of mode sync is run again under control and gets its schedule (run/pin.h); any other plait
 * is left alone. When that cannot be done the error says where it went another way. Call it after
 * trust_check. command: as for target_from_plait. */
struct err *pinned(const char *plait, char *const *command, double timeout);

#endif
