/* debug/undumped.h - private to debug/: memory that a dump names and does not contain. */
#ifndef DEBUG_UNDUMPED_H
#define DEBUG_UNDUMPED_H

struct dump;

/* gdb's gcore leaves the program's text out, segments and all; the kernel writes a segment without bytes. Add such a segment
 * for every mapped file that no segment lies in. */
void dump_add_undumped(struct dump *d);

#endif
