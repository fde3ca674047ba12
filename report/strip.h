/* report/strip.h - who runs when, as one small picture: a row per thread, a cell per event.
 * The same for five events and for five hundred: it is never wider than its column. */
#ifndef REPORT_STRIP_H
#define REPORT_STRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

struct strip_cell {
	uint32_t lane, colour; /* row; thread colour 0 to 5 */
	bool marked, failure;  /* it stands out; the run fails here */
};

/* Each cell is a link to the element "<side><number>"; side 0: no links. */
void strip_html(const struct strip_cell *cells, size_t n, uint32_t lanes, char side,
		struct strbuf *out);

#endif
