/* rewind/gdb.h - a suffix for debuggers: gdb's remote protocol over two descriptors.
 *
 *	gdb -ex 'target remote | unplait rewind --gdb core' PROGRAM
 *	(gdb) reverse-step
 *
 * The debugger starts at the dump and can go back to the suffix's beginning and forth again, in steps of
 * one instruction. Nothing runs: every moment is computed. What is not known cannot be read. */
#ifndef REWIND_GDB_H
#define REWIND_GDB_H

struct err;
struct rewind;

/* Serve until the debugger leaves. */
struct err *gdb_serve(struct rewind *r, int in, int out);

#endif
