/* sym/models/libc/files.h - the small file system that stdio and the POSIX calls share. Everything
 * lives in the program's own memory, so a fork of the state forks the files too. A file of the host
 * can be read when the run allows it; nothing is ever written there. */
#ifndef FILES_H
#define FILES_H

#include <stddef.h>
#include <stdint.h>

#define MAX_FILES 64
#define MAX_NODES 64

enum node_kind { NODE_FREE, NODE_FILE, NODE_DIR, NODE_FIFO, NODE_DEVICE };

struct node {
	int kind;
	char *name;
	unsigned mode;
	char *data;
	size_t len, cap;
	size_t read_at; /* of a pipe */
};

struct open_file {
	int used; /* 0 free, 1 node, 2 stdin, 3 stdout, 4 stderr, 5 pipe end */
	int flags;
	struct node *node;
	size_t pos;
};

extern struct open_file sym_open_files[MAX_FILES];
long sym_fd_read(int fd, void *buf, size_t n);
long sym_fd_write(int fd, const void *buf, size_t n);
struct node *sym_node_find(const char *path);
/* A path from the root of the working folder: "./x" is "x". */
const char *sym_node_name(const char *path);

#endif
