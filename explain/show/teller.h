/* explain/show/teller.h - private to explain/show/: how a block, an order or a lock that somebody lacks is told. */
#ifndef EXPLAIN_SHOW_TELLER_H
#define EXPLAIN_SHOW_TELLER_H

#include "explain/find/guards.h"
#include "explain/show/labels.h"
#include "explain/show/telling.h"

struct cure;
struct err;

struct teller {
	struct labels p;
	const struct steps *f; /* the failing run */
	const struct steps *g; /* the passing one */
	const struct cure *c;
	struct telling *out;
	const char *function; /* " in push()": where a block over several functions is told; NULL */
};
struct words {
	const char *verb, *noun;
};
/* One step in words. */
struct told {
	struct words words;
	const char *where; /* "main.c:12" */
	const char *verb;  /* "writes count at main.c:12" */
	const char *noun;  /* "write to count at main.c:12" */
	const char *act;   /* "write to count" */
	const char *object;
	const char *thread;
	const char *function; /* NULL: not known */
};
/* ---- told.c: one step ---- */

struct err *tell_step(struct teller *t, const struct steps *s, uint32_t i, struct told *ret);
/* The same step at another place: "queue.c:12 (called at main.c:7)". */
void told_set_where(struct arena *arena, struct told *ret, const char *where);
/* A block whose ends lie in different functions is told in the function that calls both: there it
 * can be mended. The other thread's step is told where it enters the same functions. */
void tell_in_common(struct teller *t, struct told *from, struct told *to, struct told *intruder);
/* The same for what the other side does. */
void tell_other_in_common(struct teller *t, struct told *begin, struct told *end);

/* ---- lacks.c: a lock that one side lacks, or has given back ---- */

/* Does the block, or the one who broke into it, lack a lock that every other access holds? */
bool find_lack(const struct teller *t, struct guard *ret);
struct err *tell_lack(struct teller *t, const struct guard *g, const struct told *from,
		      const struct told *to, struct told *intruder);
/* *ret: one side has just given back the lock of the object, and that is told. */
struct err *tell_given_back(struct teller *t, bool *ret);
/* Two threads that hold different locks for one purpose: added to what is told. */
struct err *add_different_locks(struct teller *t);
/* The order decides, but one side lacks the lock of the object. */
struct err *tell_lack_beside_order(struct teller *t, const struct guard *g,
				   const struct told *first, const struct told *then);
/* Only the locks are known, not what should be one. */
struct err *tell_lack_alone(struct teller *t, const struct guard *g);

/* ---- orders.c: what should have come first ---- */

struct err *tell_lost_wakeup(struct teller *t);
struct err *tell_order(struct teller *t);

#endif
