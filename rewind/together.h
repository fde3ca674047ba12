/* rewind/together.h - private to rewind/: run the interleaving of several threads natively. */
#ifndef REWIND_TOGETHER_H
#define REWIND_TOGETHER_H

struct rewind;

/* Fills in r->threads.confirmed, or says why not. */
void together_confirm(struct rewind *r);

#endif
