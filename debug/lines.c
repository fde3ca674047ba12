/* debug/lines.c - where the code of a source line begins, as a debugger sets breakpoints.
 *
 * The line table has a row wherever the line (or the column) changes. A row begins a visit of its line if it begins a
 * statement and the row before it is of another line. */
#include "debug/locals.h"

#include "debug/module.h"

#include <string.h>

/* Does the path end with these components? */
static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n >= k && strcmp(path + n - k, end) == 0 && (n == k || path[n - k - 1] == '/');
}

/* Is it a function's first instruction? Its parameters may still be in registers there. */
static bool is_entry(struct module *m, Dwarf_Addr offset)
{
	Dwarf_Addr bias, low;
	Dwarf_Die function;

	return module_scopes(m, offset, &function, 1, &bias) == 1 &&
	       dwarf_lowpc(&function, &low) == 0 && low + bias - m->bias == offset;
}

struct search {
	const char *file;
	int line;
	bool has_file;
	bool moved; /* the last one found lies behind its function's first instructions already */
	unsigned next;
	struct addresses *found;
};

static void look_at_row(struct module *m, Dwarf_Lines *lines, size_t i, Dwarf_Addr bias,
			struct search *s)
{
	Dwarf_Line *row = dwarf_onesrcline(lines, i);
	const char *path = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	bool begins = false, ends = false;
	Dwarf_Addr addr;
	int line = 0, before = 0;

	if (!path || !ends_with(path, s->file) || dwarf_lineno(row, &line) != 0)
		return;
	s->has_file = true;
	if (line > s->line && (!s->next || (unsigned)line < s->next))
		s->next = (unsigned)line;
	if (line != s->line || dwarf_linebeginstatement(row, &begins) != 0 || !begins ||
	    dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineaddr(row, &addr) != 0)
		return;
	addr += bias - m->bias;
	row = i ? dwarf_onesrcline(lines, i - 1) : NULL;
	if (row && dwarf_lineno(row, &before) == 0 && before == line &&
	    ends_with(dwarf_linesrc(row, NULL, NULL), s->file) &&
	    dwarf_lineendsequence(row, &ends) == 0 && !ends) {
		/* behind the prologue: the better place */
		if (!s->found->len || !is_entry(m, *vec_last(s->found)) || s->moved)
			return;
		s->moved = true;
		*vec_last(s->found) = addr;
		return;
	}
	s->moved = false;
	vec_push(s->found, addr);
}

bool module_line_begins(struct module *m, const char *file, unsigned line, struct addresses *ret,
			unsigned *next)
{
	struct search s = { .file = file, .line = (int)line, .found = ret };
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	while ((unit = dwfl_module_nextcu(m->mod, unit, &bias))) {
		Dwarf_Lines *lines;
		size_t n;

		if (dwarf_getsrclines(unit, &lines, &n) != 0)
			continue;
		for (size_t i = 0; i < n; i++)
			look_at_row(m, lines, i, bias, &s);
	}
	*next = s.next;
	return s.has_file;
}
