/* cc/analyse/inline.h - private to analyse/: small functions of the system's headers are inlined. */
#ifndef CC_ANALYSE_INLINE_H
#define CC_ANALYSE_INLINE_H

struct err;
struct program;

/* Before anything is named or planned. */
struct err *inline_library(struct program *p);

#endif
