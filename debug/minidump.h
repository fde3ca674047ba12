/* debug/minidump.h - private to debug/: minidumps, as Breakpad, Crashpad and lldb write them on Linux.
 * debug/dump.h opens them like any other dump. */
#ifndef DEBUG_MINIDUMP_H
#define DEBUG_MINIDUMP_H

#include <stdbool.h>

struct dump;
struct err;

/* Does the dump's file begin like a minidump? */
bool minidump_is(const struct dump *d);
/* Fill in the dump from its file, which is mapped. */
struct err *minidump_read(const char *path, struct dump *d);

#endif
