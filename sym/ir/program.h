/* sym/ir/program.h - private to sym/: a loaded program. */
#ifndef SYM_IR_PROGRAM_H
#define SYM_IR_PROGRAM_H

#include "sym/ir/ir.h"
#include "sym/sym.h"

#include <errno.h>

struct sym_program {
	struct ir *ir;
	bool front_end; /* the bitcode is the front end's, before any optimiser */
	char *native;	/* the executable, or NULL */
	char *folder;	/* temporary, removed on close; NULL = none */
	char *source;	/* what was compiled, with its flags (NULL-terminated, owned) */
	char **cflags;
	char *sanitized; /* built on demand */
	bool sanitized_tried;
};

/* The program built with AddressSanitizer, NULL when there is no source. */
const char *sym_sanitized(struct sym_program *p);

#endif
