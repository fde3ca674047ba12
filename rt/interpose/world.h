/* rt/interpose/world.h - private to rt/interpose/: the parts of the outside world that are the same in
 * every controlled run.
 *
 *	random.c     random numbers
 *	temporary.c  names of temporary files
 *	ids.c        numbers of processes and threads
 *	children.c   fork, and waiting for children
 *	time.c       clocks, processor time, the number of the processor
 *	paths.c      files that are opened by name
 *
 * All of it holds from the first constructor on, in the fork server too: what a constructor draws or
 * reads must be the same when the plait is replayed by another server. */
#ifndef RT_INTERPOSE_WORLD_H
#define RT_INTERPOSE_WORLD_H

#include "rt/interpose/controlled.h"

/* Is this process, or the one it was forked from, run by the control engine? */
static inline bool world_is_virtual(void)
{
	return control_virtual;
}

/* ---- random.c ---- */

void random_init(void);	 /* once, before the first constructor */
void random_reset(void); /* a run begins */
uint64_t random_word(void);
/* What to open in place of a device of random numbers; NULL: this is none. */
const char *random_device_path(const char *path);
bool random_is_device(int fd); /* ... and is this what was opened? */

/* ---- sync-futex.c ---- */

/* A system call made by number: if we have taken over libc's function for it, calls that; else false. */
bool calls_by_name(long nr, const long *a, long *ret);

/* ---- paths.c ---- */

/* A file that a replay of mode sync makes or changes: where it does so. The name itself in other runs. */
const char *paths_own(const char *path, char *out, size_t room);

/* ---- io.c ---- */

/* Does it lead out of this process: a socket that is no end of a pair of ours, or an epoll that watches one? */
bool io_is_foreign(int fd);
/* A replay that has the answers: is there one for what t waits for? NULL: it asks the kernel. */
extern bool (*io_is_answered)(const struct control_thread *t);

/* ---- children.c ---- */

/* See struct control_world. */
bool children_wait_for(uint64_t ns);
/* Does a thread wait for a child? */
bool children_awaited(void);
/* Wait for the child that t (NULL: anybody) waits for; false: nobody waits for one. */
bool children_await(const struct control_thread *t);

/* ---- ids.c ---- */

void ids_reset(void);
/* What the target knows this process as, and its threads. */
pid_t ids_pid(void);
pid_t ids_tid(const struct control_thread *t);
/* The kernel's number for one that the target knows, and back. Numbers of strangers stay. */
pid_t ids_real(pid_t id);
pid_t ids_virtual(pid_t id);
/* The next child: its number, and the kernel's number once it is known. */
pid_t ids_new_child(void);
void ids_note_child(pid_t id, pid_t real_id);
/* In the child: this is who it is. */
void ids_become_child(pid_t id);

#endif
