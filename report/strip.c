/* report/strip.c - see strip.h. Inline SVG: no script, and it prints. */
#include "report/strip.h"

#include "base/strbuf.h"

enum { CELL = 16, ROW = 9 }; /* pixels: width of a cell at most, height of a row */

static void add_cell(const struct strip_cell *c, size_t i, char side, struct strbuf *out)
{
	if (side)
		strbuf_addf(out, "<a href=\"#%c%zu\">", side, i);
	strbuf_addf(out, "<rect x=\"%zu\" y=\"%u\" width=\".92\" height=\".8\" class=\"t%u%s%s\"/>",
		    i, c->lane, c->colour % 6, c->marked ? " marked" : "",
		    c->failure ? " failure" : "");
	strbuf_adds(out, side ? "</a>" : "");
}

void strip_html(const struct strip_cell *cells, size_t n, uint32_t lanes, char side,
		struct strbuf *out)
{
	if (!n || !lanes)
		return;
	strbuf_addf(out,
		    "<svg class=strip role=img aria-label=\"who runs when, a row per thread\" "
		    "viewBox=\"0 0 %zu %u\" preserveAspectRatio=none "
		    "style=\"width:min(100%%,%zupx);height:%upx\">",
		    n, lanes, n * CELL, lanes * ROW);
	for (size_t i = 0; i < n; i++)
		add_cell(&cells[i], i, side, out);
	strbuf_adds(out, "</svg>\n");
}
