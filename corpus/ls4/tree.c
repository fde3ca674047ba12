/* tree.c - the imaginary file system. */
#include <stddef.h>

#include "ls.h"

const struct entry tree[] = {
	{ "/", "bin", T_DIR, 4096, 10, "root", "root" },
	{ "/", "dev", T_DIR, 4096, 11, "root", "root" },
	{ "/", "empty", T_DIR, 4096, 12, "root", "root" },
	{ "/", "home", T_DIR, 4096, 13, "root", "root" },
	{ "/bin", "cat", T_FILE, 3000, 20, "root", "root" },
	{ "/bin", "ls", T_FILE, 9000, 21, "root", "root" },
	{ "/dev", "null", T_DEVICE, 0, 30, "root", "root" },
	{ "/dev", "tty", T_DEVICE, 0, 31, "root", "tty" },
	{ "/home", "ann", T_DIR, 4096, 40, "ann", "users" },
	{ "/home", "bob", T_DIR, 4096, 41, "bob", NULL }, /* a group that no longer exists */
	{ "/home/ann", "notes", T_FILE, 120, 42, "ann", "users" },
};
const int tree_size = sizeof(tree) / sizeof(tree[0]);
