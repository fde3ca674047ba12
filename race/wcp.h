/* race/wcp.h - the relation "weak causally precedes" over a run (Kini, Mathur, Viswanathan, PLDI 2017).
 *
 *	struct wcp *w = wcp_new();
 *
 *	for (each event of the run, in its order) {
 *		wcp_add(w, ev);
 *		... wcp_is_before(w, thread and time of an earlier event, ev->thread) ...
 *	}
 *	wcp_free(w);
 *
 * Of two accesses that it does not order, another run may make both at once, or a deadlock: the theorem
 * promises one of the two, for the first such pair of a run. So what it says is a candidate. */
#ifndef RACE_WCP_H
#define RACE_WCP_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct wcp;

struct wcp *wcp_new(void);
void wcp_free(struct wcp *w);
/* Returns the event's time in its thread, for wcp_is_before. */
uint32_t wcp_add(struct wcp *w, const struct event *ev);
/* Is an event of `thread` with this time before the latest event of `now`? Also true when there was
 * not enough room to say. */
bool wcp_is_before(const struct wcp *w, uint32_t thread, uint32_t time, uint32_t now);

#endif
