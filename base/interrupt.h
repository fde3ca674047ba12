/* base/interrupt.h - Ctrl-C, SIGTERM and SIGHUP as a flag.
 *
 * After interrupt_catch() these signals no longer end us at once. They set a flag. Code that waits
 * or works for long looks at the flag, ends what it started, and returns an error or what it has
 * found so far; the command's own cleanup then runs as usual. Nobody may wait longer than
 * INTERRUPT_TICK_MS without looking: a signal that comes just before a system call does not end
 * that call. */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

struct err;

enum { INTERRUPT_TICK_MS = 100 };

/* May be called more than once. SIGHUP stays ignored where it was (nohup); SIGINT does not, because
 * shells ignore it in everything that scripts start in the background. */
void interrupt_catch(void);
/* The same for what else is sent to servers: SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2. For who passes them on. */
void interrupt_catch_more(void);
/* The number of the signal that came, or 0. */
int interrupted(void);
/* It was dealt with: as if it had not come. */
void interrupt_forget(void);
/* The error for a piece of work that was given up because of it. */
struct err *interrupt_error(void);

#endif
