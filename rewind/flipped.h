/* rewind/flipped.h - private to rewind/: would one flipped bit explain what no program can have done? */
#ifndef REWIND_FLIPPED_H
#define REWIND_FLIPPED_H

struct code;
struct dump;
struct hardware;

/* ret->strength becomes HARDWARE_STRONG when every way to the dump contradicts it, the search for ways was
 * complete, and with one bit of one register flipped there is one. */
void flipped_check(const struct dump *d, struct code *c, struct hardware *ret);

#endif
