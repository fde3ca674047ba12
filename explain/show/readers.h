/* explain/show/readers.h - private to explain/: a change under a lock for reading, in words. */
#ifndef EXPLAIN_SHOW_READERS_H
#define EXPLAIN_SHOW_READERS_H

#include "explain/show/labels.h"
#include "explain/show/telling.h"

/* Of two steps that met, if readers_find() says so: adds to the summary, and gives the advice. *ret: it was so. */
struct err *readers_tell(struct labels *p, const struct steps *failing, uint32_t a, uint32_t b,
			 struct telling *out, bool *ret);

#endif
