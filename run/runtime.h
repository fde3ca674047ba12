/* run/runtime.h - private to run/: how the runtime gets into a program.
 *
 * A program that `unplait cc` has linked carries the runtime. Into any other, libplait.so is
 * preloaded; then only synchronisation is seen, unless the program was built with
 * -fsanitize=thread. */
#ifndef RUN_RUNTIME_H
#define RUN_RUNTIME_H

#include <stdbool.h>

struct environment;
struct err;

struct runtime {
	char *program;	   /* the file to execute */
	char *library;	   /* to preload; NULL = the program carries the runtime */
	char *sanitizer;   /* a library to preload before that one; NULL = none */
	bool sees_memory;  /* memory accesses are events, not only synchronisation */
	bool is_script;	   /* it names an interpreter, which is what will run */
	bool is_other;	   /* neither a script nor an x86-64 program */
	bool carries_tsan; /* built with -fsanitize=thread */
	bool sanitized;	   /* built with -fsanitize=address, undefined or leak */
};

/* name: as the user typed it. The error says what is missing, or why libplait.so cannot be loaded
 * into that program. A file that cannot be executed is not an error here: the kernel says what is
 * wrong with it. */
struct err *runtime_find(const char *name, struct runtime *ret);
void runtime_deinit(struct runtime *r);

/* Removes what an outer unplait has set for its own target, sets the mode (PLAIT_MODE_NAMES), and
 * puts the library in front of what LD_PRELOAD already says. */
void runtime_set_environment(const struct runtime *r, const char *mode, struct environment *e);

#endif
