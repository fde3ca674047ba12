/* bench/planted/race.h - what happens at a place of the bug. */
#ifndef PLANTED_RACE_H
#define PLANTED_RACE_H

enum race_kind {
	RACE_OVERWRITTEN, /* somebody writes between a thread's write and its read */
	RACE_TORN,	  /* a reader sees one half of a pair */
	RACE_EARLY,	  /* the reader comes before the writer */
	RACE_TWICE,	  /* two others write, one in each of two gaps */
	RACE_HANDOFF,	  /* a flag that is up for one moment is seen, and the answer is too */
	RACE_ENTERED,	  /* two threads pass the same check and are inside together */
	RACE_RELAY,	  /* five accesses of two threads in turn */
	RACE_KINDS
};

/* side: 0 at place A, 1 at place B. Kinds 0, 3 and 5 happen at A alone. */
void race(int number, int kind, int side);

#endif
