/* base/path.h - paths of source files, as a reader wants to see them. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

struct strbuf;

/* Append a path without "." and ".." in it: "/usr/include/x.h" for
 * "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/x.h"; and relative to `folder` (which may
 * be NULL) if the file is below it. Only the text is looked at, not the disk. */
void path_shorten(const char *path, const char *folder, struct strbuf *out);

/* What follows the last slash; the path itself if it has no slash. */
const char *path_name(const char *path);

/* A header or source that came with the system, not with the user's program. */
bool path_is_system(const char *path);
/* A source of the runtime, which is linked into programs that unplait builds. */
bool path_is_runtime(const char *path);

#endif
