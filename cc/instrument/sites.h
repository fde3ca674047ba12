/* cc/instrument/sites.h - write the site table and the object that carries all tables. */
#ifndef CC_INSTRUMENT_SITES_H
#define CC_INSTRUMENT_SITES_H

#include <stdbool.h>

struct err;
struct program;

/* The contents of .plait.sites. */
struct err *sites_write(struct program *p, const char *path);
/* element_of_site[], one 32-bit number per site. */
struct err *sites_write_elements(struct program *p, const char *path);
/* Assembly source of the object that holds the sections and registers the module. `dir` holds
 * sites.bin, elements.bin, bitcode.zst, build.txt and, if has_source, source.zst. `bases`: more
 * constants, as assembly. */
struct err *sites_write_assembly(struct program *p, const char *dir, const char *output,
				 const char *bases, bool has_source, const char *path);

#endif
