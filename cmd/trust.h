/* cmd/trust.h - a plait is a program: ask before a stranger's is run. */
#ifndef CMD_TRUST_H
#define CMD_TRUST_H

#include <stdbool.h>

struct err;

#define TRUST_HELP "run what the plait says although it was not made here by you"

/* Call before anything that the plait names is run. A plait that this user made here passes, and so
 * does any with `trust`. Of another, what will run is shown and the user asked; without a terminal
 * it is refused. replaced: the program was given on the command line. */
struct err *trust_check(const char *plait, bool replaced, bool trust);

#endif
