/* crumbs/kinds.h - private: one reader for each kind of crumb. */
#ifndef CRUMBS_KINDS_H
#define CRUMBS_KINDS_H

#include "crumbs/crumbs.h"

#include <stddef.h>

/* locks.c: a fingerprint of watch as JSON; an area. */
struct err *crumbs_read_fingerprint(struct crumbs *c, const char *text, size_t len);
struct err *crumbs_read_area(struct crumbs *c, const char *path);

/* machine.c: is the line a report about broken hardware? Then it is added. */
bool crumbs_read_check(struct crumbs *c, const char *line);

/* branches.c: is the line about taken branches? A record takes the place of the one before. */
bool crumbs_read_branches(struct crumbs *c, const char *line);
/* The file is read. */
void crumbs_end_branches(struct crumbs *c);

#endif
