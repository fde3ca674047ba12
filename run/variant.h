/* run/variant.h - the code that a recording mode runs.
 *
 * `unplait cc` makes the code that hunting, replaying and modes sync, path and full need. Mode
 * graph has code of its own for speed, and a program built for hunting alone has none for mode
 * path. Such code is made at the first use of its mode: the program is linked once more, as it
 * was, into a file beside it (PROGRAM.graph, PROGRAM.path), which is run in its place. Modes order
 * and block are for programs in the field, whose logs and profiles belong to one build: their code
 * is made when the link is asked for it. */
#ifndef RUN_VARIANT_H
#define RUN_VARIANT_H

#include <stdbool.h>

struct err;

/* The program to run for `mode`: *ret is the file beside it, made if need be, or NULL for the
 * program itself. Where there is no code of its own and none can be made, that of mode full serves
 * with a note; for mode path, where nothing can, that is an error. */
struct err *variant_find(const char *program, const char *mode, char **ret);

/* Does `unplait cc` say that the program has this variant (plain, path, full, graph, order)? */
bool variant_exists(const char *program, const char *variant);

#endif
