/* debug/dwarf.h - questions to debug information that more than one reader has. */
#ifndef DEBUG_DWARF_H
#define DEBUG_DWARF_H

#include <elfutils/libdw.h>

/* Where an inlined call was written. *path NULL or *line 0: not known. */
void dwarf_call_place(Dwarf_Die *unit, Dwarf_Die *inlined, const char **path, unsigned *line);

#endif
