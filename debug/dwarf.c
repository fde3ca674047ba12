#include "debug/dwarf.h"

#include <dwarf.h>

static Dwarf_Word number(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	if (dwarf_attr(die, attribute, &attr) && dwarf_formudata(&attr, &value) == 0)
		return value;
	return 0;
}

void dwarf_call_place(Dwarf_Die *unit, Dwarf_Die *inlined, const char **path, unsigned *line)
{
	Dwarf_Word file = number(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t nfiles;

	*path = NULL;
	*line = (unsigned)number(inlined, DW_AT_call_line);
	if (dwarf_hasattr(inlined, DW_AT_call_file) &&
	    dwarf_getsrcfiles(unit, &files, &nfiles) == 0 && file < nfiles)
		*path = dwarf_filesrc(files, file, NULL, NULL);
}
