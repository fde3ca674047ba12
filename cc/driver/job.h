/* cc/driver/job.h - what the steps of a taken-over link share. Only the files of cc/driver include
 * it. */
#ifndef CC_DRIVER_JOB_H
#define CC_DRIVER_JOB_H

#include "base/strbuf.h"
#include "cc/driver/args.h"
#include "cc/driver/cache.h"
#include "cc/driver/objects.h"
#include "cc/program.h"

#include <sys/types.h>

extern const char *const variant_names[PLAIT_VARIANTS];

struct link {
	struct args *args;
	const char *clang, *tmp;
	const char *output;
	struct object_list objects;
	struct program program;
	struct cache cache;
	char *units;	     /* an archive of objects in place of variants; NULL: none; owned */
	struct strbuf bases; /* assembly: where the sites of each of them begin */
	pid_t pids[PLAIT_VARIANTS]; /* who makes each variant; 0: nobody yet */
	int decided[2];		    /* a pipe: tells the maker of plain which variants there are */
	bool whole_archives;	    /* members that the ordinary link did not use, too */
};

/* variants.c: analyse the whole program and write an object per variant into l->tmp, with the files
 * that the tables are made of; or take both from the cache. */
struct err *variants_make(struct link *l);
/* The name of the second object of full, which may exist. The caller's. */
char *variants_hooks(const struct link *l);
/* Does $UNPLAIT_VARIANTS make sense? */
struct err *variants_check(void);
/* Was the link asked to make code for hunting alone? */
bool variants_for_control(void);
/* Can this program have code of its own for modes order and block? The table of its places would
 * keep every section alive, and AddressSanitizer cannot look into its pieces of assembly. */
bool variants_has_order(const struct link *l);

/* units.c: an object for each of the user's, together in l->units, and the same files. For a link for
 * hunting alone. */
struct err *units_make(struct link *l);

/* tables.c: the object of the tables, tables.o, out of those files. */
struct err *tables_write(struct link *l);

#endif
