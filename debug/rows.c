/* debug/rows.c - the rows of the line table: from a source line to the instructions that were made of it. */
#include "debug/module.h"

#include "base/path.h"

#include <string.h>

static bool is_of(Dwarf_Line *l, const char *file, unsigned line)
{
	const char *path = dwarf_linesrc(l, NULL, NULL);
	int number = 0;

	return dwarf_lineno(l, &number) == 0 && (unsigned)number == line && path &&
	       !strcmp(path_name(path), path_name(file));
}

static void add_range(struct module *m, Dwarf_Addr bias, Dwarf_Line *l, Dwarf_Line *next,
		      struct line_ranges *ret)
{
	Dwarf_Addr low = 0, high = 0;
	int column = 0;
	bool begins = false;

	dwarf_lineaddr(l, &low);
	dwarf_lineaddr(next, &high);
	dwarf_linecol(l, &column);
	dwarf_linebeginstatement(l, &begins);
	if (high > low) /* else the next row is about the same instruction */
		vec_push(ret, (struct line_range){ .low = low + bias - m->bias,
						   .high = high + bias - m->bias,
						   .column = (unsigned)column,
						   .begins = begins });
}

void module_lines(struct module *m, const char *file, unsigned line, struct line_ranges *ret)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	while ((unit = dwfl_module_nextcu(m->mod, unit, &bias))) {
		Dwarf_Lines *lines;
		size_t n;

		if (dwarf_getsrclines(unit, &lines, &n) != 0)
			continue;
		for (size_t i = 0; i + 1 < n; i++) {
			Dwarf_Line *l = dwarf_onesrcline(lines, i);

			if (is_of(l, file, line))
				add_range(m, bias, l, dwarf_onesrcline(lines, i + 1), ret);
		}
	}
}
