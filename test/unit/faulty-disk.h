/* test/unit/faulty-disk.h - a disk that fails, for SQLite files.
 *
 * As SQLite tests itself: a file system that fails at its n-th write, for every n. */
#ifndef FAULTY_DISK_H
#define FAULTY_DISK_H

#include <stdbool.h>

extern struct faulty_disk {
	long left;  /* operations that still work; < 0: all do */
	bool stays; /* later ones fail too: a disk that is full stays full */
	bool failed;
} faulty_disk;

/* For a suite: a folder of its own. SQLite files of this process are on that disk from now on; nothing fails
 * yet. */
void faulty_disk_enter(void);
void faulty_disk_leave(void);

#endif
