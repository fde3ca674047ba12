/* explain/show/lifetime.h - sentences about something that was used after its end. */
#ifndef EXPLAIN_SHOW_LIFETIME_H
#define EXPLAIN_SHOW_LIFETIME_H

#include "explain/find/gone.h"
#include "explain/show/telling.h"

struct err;

struct err *present_lifetime(const struct scene *scene, const struct gone *gone,
			     struct telling *ret);

#endif
