/* rt/control/gone.h - locks, condition variables, semaphores and barriers that are not there any more.
 *
 * A use of one that was destroyed, whose memory was freed, or that was a local variable of a function
 * which has returned ends the run as a failure. */
#ifndef RT_CONTROL_GONE_H
#define RT_CONTROL_GONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_thread;

/* As the event LOCK_INIT numbers them. */
enum gone_kind { GONE_MUTEX, GONE_RWLOCK, GONE_SPIN, GONE_COND, GONE_SEM, GONE_BARRIER };

/* A run begins, or goes on in a forked child: nothing is known of the stacks. */
void gone_begin(void);
/* Is it gone? Who waits for it goes on then, and uses it. */
bool gone_is(const void *object, enum gone_kind kind);
/* me is about to use it, at this site; use: "signal to". Ends the run if it is gone. */
void gone_check(struct control_thread *me, const void *object, enum gone_kind kind, const char *use,
		uint32_t site);
/* Was it destroyed, and nothing else made of it since? */
bool gone_is_destroyed(const void *object, enum gone_kind kind);
/* me has destroyed it. */
void gone_destroyed(const struct control_thread *me, void *object, enum gone_kind kind);
/* It has been made anew. */
void gone_renewed(const void *object);

/* The life of a local variable with such objects in it, in code that we built. */
void gone_scope_begins(struct control_thread *me, const void *p, size_t size, uint32_t site);
void gone_scope_ends(struct control_thread *me, void *p, size_t size, const char *name,
		     uint32_t site);
/* me has ended, and its stack with it. */
void gone_thread_ended(const struct control_thread *me);

#endif
