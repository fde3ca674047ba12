/* rewind/library.h - private to rewind/: a failure inside libc. What was it given that it could not use? */
#ifndef REWIND_LIBRARY_H
#define REWIND_LIBRARY_H

#include "rewind/trail.h"

/* Begin the chain at the call of libc: at the argument that it could not use, or at the bytes of the heap that it found
 * broken. False: nothing of that kind is seen. */
bool library_trace(struct trail *t);
/* After library_trace(): name the cause where the call itself tells it. True: done. late: nothing else was found. */
bool library_judge(struct rewind *r, bool late);

#endif
