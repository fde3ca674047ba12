/* debug/predicate.h - a C expression over a program's global variables becomes code. */
#ifndef DEBUG_PREDICATE_H
#define DEBUG_PREDICATE_H

#include "unplait/predicate.h"

struct err;

/* Variables with static storage, by name, with members, elements and what pointers lead to; integers,
 * characters, all of C's operators that change nothing but casts, sizeof and calls. Numbers are
 * integers and pointers. An error says what is not understood. */
struct err *predicate_compile(const char *text, const char *program, struct plait_predicate *ret);

#endif
