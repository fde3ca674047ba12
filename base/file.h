/* base/file.h - whole files, temporary folders, and finding our own installation. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct strbuf;

/* A file mapped read-only (or read into memory when it cannot be mapped). */
struct file_map {
	const uint8_t *data;
	size_t len;
	bool mapped;
};

struct err *file_map_open(const char *path, struct file_map *ret);
void file_map_close(struct file_map *m);

struct err *file_read(const char *path, struct strbuf *ret);

/* A file being written: `stream` goes to a new file beside `path`, and file_out_commit renames it. A
 * reader sees the old file or the whole new one; nothing is synced. Devices and pipes are written
 * as they are. Errors of the stream show at the commit. */
struct file_out {
	FILE *stream;
	char *path, *temporary;
};

struct err *file_out_open(const char *path, struct file_out *ret);
struct err *file_out_commit(struct file_out *o);
/* Without a commit the new file is removed. */
void file_out_deinit(struct file_out *o);
/* All at once. */
struct err *file_write(const char *path, const void *data, size_t len);
/* Create a fresh folder under $TMPDIR; *ret is owned by the caller. */
struct err *file_temp_dir(char **ret);
/* ... in memory, if there is room for large files and $TMPDIR does not say otherwise: for
 * what is written and removed many times. */
struct err *file_temp_dir_fast(char **ret);
void file_remove_tree(const char *path);
/* mkdir -p */
struct err *file_make_dirs(const char *path);
bool file_exists(const char *path);
/* A device, a pipe: something that must not be replaced by a file. */
bool file_is_special(const char *path);
/* Where the installed parts live: `what` is "libplait.a", "libplait.so", "cmake" ...; looks next to
 * the running binary (build tree), then in ../lib/unplait (installed). NULL when absent. Owned. */
char *file_find_part(const char *what);
/* The path of this unplait binary. Owned. */
char *file_self(void);
/* The program `name` as the shell would find it in $PATH; NULL when absent. Owned. */
char *file_find_program(const char *name);

#endif
