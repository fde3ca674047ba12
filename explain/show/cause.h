/* explain/show/cause.h - which steps the report speaks of: the cause, and who waits at the end. */
#ifndef EXPLAIN_SHOW_CAUSE_H
#define EXPLAIN_SHOW_CAUSE_H

#include "explain/cure/cure.h"

/* Marks them in the projection. cure NULL: none is known. */
void cause_mark(const struct steps *failing, const struct alternate *alternate,
		const struct cure *cure, struct projection *p);
/* A block that is told beside the cause: both its ends are steps of the failing run. */
void cause_mark_earlier(const struct steps *failing, const struct steps *passing,
			const struct cure *cure, struct projection *p);

#endif
