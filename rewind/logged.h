/* rewind/logged.h - what the machine itself said about the failure: the log of the kernel, and its signal. */
#ifndef REWIND_LOGGED_H
#define REWIND_LOGGED_H

struct crumbs;
struct dump;
struct hardware;

/* Decide by the reports among the crumbs and by the dump's signal. *ret keeps what it has if that is as strong.
 * crumbs may be NULL. */
void hardware_logged(const struct dump *d, const struct crumbs *crumbs, struct hardware *ret);

#endif
