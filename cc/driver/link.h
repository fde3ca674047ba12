/* cc/driver/link.h - a link, taken over. */
#ifndef CC_DRIVER_LINK_H
#define CC_DRIVER_LINK_H

#include "base/mem.h"
#include "cc/driver/args.h"

struct err;

/* Link as the command line says, sources already compiled (their ARG_SOURCE words replaced by
 * ARG_OBJECT ones). `tmp` is a folder for what lies between. *status is what the user's shell gets;
 * when a linker said why, nothing is added. */
struct err *link_program(struct args *a, const char *clang, const char *tmp, int *status);

#endif
