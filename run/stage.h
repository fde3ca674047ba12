/* run/stage.h - a program as it is, under ptrace, one thread at a time.
 *
 *	stage_open(&s, pid, path);              it has been loaded and stands before its first instruction
 *	a = s.actors.data[0];
 *	while ((stop = stage_go(&s, a, STAGE_ON)) == STAGE_BORN)
 *		...
 *	stage_close(&s);
 *
 * A thread of the program is an *actor*. Nobody moves unless told to by stage_go, but inside of a system call that
 * takes long: who sleeps there stops as soon as the call returns. So the order of all that the program itself does
 * is the order of the calls of stage_go, and the same calls give the same run, but for what time and the world
 * outside bring in.
 *
 * A *break* is an instruction that actors stop before. They are int3's in the program's text, put there by
 * stage_set_break and hidden from stage_read. */
#ifndef RUN_STAGE_H
#define RUN_STAGE_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct err;

enum { ACTOR_NAME = 32 };

enum actor_state {
	ACTOR_READY,  /* it waits for us */
	ACTOR_ASLEEP, /* in a system call */
	ACTOR_GONE,   /* it has ended */
};

struct actor {
	pid_t tid;
	char name[ACTOR_NAME]; /* by birth: "0", "0.1" */
	unsigned children;     /* born so far */
	enum actor_state state;
	int signal;	 /* to be passed on when it moves */
	bool fails;	 /* ... which ends the process */
	bool looked_at;	 /* it sleeps, and was stopped to be looked at */
	bool in_call;	 /* it stands before a system call, or sleeps in one */
	struct map hits; /* break -> how often it has come there */
};

struct stage_break {
	uint64_t at;
	uint8_t byte; /* of the program */
	unsigned users;
};

struct stage {
	pid_t pid;
	int memory;		    /* its memory, as a file */
	uint64_t bias;		    /* of the program's file */
	uint64_t low, high;	    /* the program's code in the process */
	VEC(struct actor *) actors; /* by birth */
	VEC(struct stage_break) breaks;
	const struct actor *awaited; /* when it is woken, who moves stops; NULL */
	double deadline;	     /* of clock_seconds(); 0 = none */
	bool (*interrupted)(
		void *arg); /* asked now and then: ends a move as the deadline does; NULL */
	void *interrupted_arg;
	int exit_code; /* STAGE_EXITS */
};

enum stage_pace {
	STAGE_ON,   /* until something happens */
	STAGE_STEP, /* one instruction */
};

enum stage_stop {
	STAGE_STEPPED, /* one instruction was made, and nothing else happened */
	STAGE_BREAK,   /* it stands before a break; the hit has been counted */
	STAGE_BORN,    /* it has made a thread, the last of the actors */
	STAGE_WOKE,    /* it has woken the awaited actor */
	STAGE_ASLEEP,  /* it waits in a system call */
	STAGE_GONE,    /* it has ended */
	STAGE_FAILED,  /* actor->signal would end the process */
	STAGE_EXITS,   /* it is about to end the process: stage->exit_code */
	STAGE_LATE     /* the deadline has passed, or somebody interrupts; it stands where it was */
};

/* The process is traced by us and stands before its first instruction; path: its file. */
struct err *stage_open(struct stage *s, pid_t pid, const char *path);
void stage_close(struct stage *s);
/* End the process; all its threads but the first are gone afterwards. */
void stage_kill(struct stage *s);

/* Let a READY actor move. */
enum stage_stop stage_go(struct stage *s, struct actor *a, enum stage_pace pace);
/* Has the deadline passed, or does somebody interrupt? */
bool stage_is_late(const struct stage *s);
/* Those that slept and have come back since. */
void stage_look_around(struct stage *s);
/* Does it sleep in a call that only another actor can end? */
bool actor_waits_forever(const struct stage *s, const struct actor *a);
struct actor *stage_find(const struct stage *s, const char *name);
/* Stop who sleeps, so that its registers can be read; it goes back to sleep when it is let go. False: it is gone. */
bool stage_look_at(struct stage *s, struct actor *a);
/* Let all of them go back to sleep. Needed before anybody moves. */
void stage_let_sleep(struct stage *s);
bool stage_registers(const struct actor *a, struct user_regs_struct *ret);
/* Where it stands, as the program's file counts; outside of it, some other number. */
uint64_t stage_place(const struct stage *s, const struct actor *a);
/* Does an address of the process belong to the program's own code? */
bool stage_owns(const struct stage *s, uint64_t address);

/* Addresses of the process. A break that is set twice must be cleared twice. */
bool stage_set_break(struct stage *s, uint64_t at);
void stage_clear_break(struct stage *s, uint64_t at);
bool stage_has_break(const struct stage *s, uint64_t at);
/* The memory as the program knows it, without our breaks. Returns how many bytes. */
size_t stage_read(const struct stage *s, uint64_t at, void *to, size_t len);
size_t stage_write(struct stage *s, uint64_t at, const void *from, size_t len);

/* All actors stop where they are, and a dump of them is written; `first` got the signal. No actor can move
 * afterwards. */
struct err *stage_dump(struct stage *s, struct actor *first, int signal, const char *path);

#endif
