/* explain/explanation.h - the answer that `explain` gives, however it was found: which few events,
 * in which order, make the program fail, and what the nearest order is that does not. Plain data in
 * one arena; report/ turns it into text, HTML, DOT or JSON. */
#ifndef EXPLAIN_EXPLANATION_H
#define EXPLAIN_EXPLANATION_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plait_constraint;

/* An event as a person sees it. Strings live in the explanation's arena; NULL = not known. */
struct shown_event {
	uint32_t thread;    /* index into explanation.threads */
	uint64_t index;	    /* it is the n-th event of its thread */
	uint64_t position;  /* it is the n-th event of the whole run */
	const char *op;	    /* "read", "write", "lock" ... (names of events.def) */
	const char *object; /* "queue.filled" */
	const char *value;  /* "3", "0x0" */
	const char *file;   /* as debug info says */
	uint32_t line;
	const char *function;
	const char *called_at; /* "main.c:12": the caller of a helper in another file; NULL */
	const char *source;    /* the source line, trimmed */
	const char *excerpt;   /* a few lines around it, '\n' between them ... */
	uint32_t excerpt_line; /* ... and the number of the first */
	bool reordered;	       /* takes part in a pair whose order differs between the schedules */
	bool only_here;	       /* the other schedule has no such event: control flow differs */
	bool switched;	       /* another thread ran directly before it */
	bool failure;	       /* this is where it fails */
	uint32_t repeats;      /* events like it directly after, not shown (0 = none) */
};

struct shown_schedule {
	struct shown_event *events; /* only what matters, in order */
	size_t len;
	uint64_t events_total; /* of the schedule, forks and joins too, up to the last shared one */
	uint64_t
		flows_total; /* reads of shared memory among them: each has its value from somewhere */
	uint64_t switches;
};

/* A value that flows from one event to another in one of the schedules only. */
struct shown_flow {
	bool failing;  /* in the failing schedule; else in the passing one */
	uint32_t from; /* index into that schedule's events, UINT32_MAX = the initial value */
	uint32_t to;
};

enum bug_kind {
	BUG_UNKNOWN,
	BUG_ATOMICITY,
	BUG_MULTI_VARIABLE,
	BUG_ORDER,
	BUG_DEADLOCK,
	BUG_LOST_WAKEUP,
	BUG_USE_AFTER_FREE,
	BUG_DOUBLE_FREE,
	BUG_DESTROYED_LOCK,
	BUG_FOREIGN_UNLOCK, /* a lock is released by a thread that does not hold it */
};
#define BUG_KIND_NAMES                                                                             \
	{ "unknown",	 "atomicity",	   "multi-variable", "order",	       "deadlock",         \
	  "lost-wakeup", "use-after-free", "double-free",    "destroyed-lock", "foreign-unlock" }

/* One of several ways in which schedules fail. */
struct shown_face {
	const char *how; /* "Segmentation fault at main.c:9 in get()"; NULL: just as here */
	uint64_t runs;
};

/* Advice, tested by enforcing it over many schedules. */
struct shown_advice {
	const char *text;		     /* one or two sentences with source lines */
	uint64_t failed_before, runs_before; /* without it */
	/* Where other faces of the same mistake were counted, too: how the schedules of failed_before
	 * failed, the failure that is explained first, then the most frequent. nfaces 0: all of them just as
	 * here. */
	const struct shown_face *faces;
	size_t nfaces;
	uint64_t failed_after, runs_after;  /* with it enforced; runs_after 0 = not tested */
	uint64_t other_before, other_after; /* schedules that failed in another way */
	/* What it forbids, in schedules without it: how many of those that fail and of those that
	 * pass do it. seen_failing 0: not looked at. */
	uint64_t seen_failing, broken_failing, seen_passing, broken_passing;
};

/* What was broken before, in every schedule that failed, and what mends the program as well. */
struct shown_earlier {
	const char *summary; /* NULL: nothing of the kind */
	struct shown_advice advice;
};

/* How a candidate stands (rank/candidate.h), the best first. */
#define STANDING_NAMES { "shown", "cured", "signs", "helps", "near", "weak", "rejected" }

/* A cause that was considered, and what speaks for it. */
struct shown_candidate {
	enum bug_kind kind;
	unsigned standing; /* STANDING_NAMES */
	const char *summary;
	struct shown_advice advice;
};

/* One frame or one line of "who waits for what". */
struct shown_note {
	const char *text;
};

/* A thread that waits for ever, and where: "transfer at dl.cpp:9", its caller, and so on. */
struct shown_wait {
	uint32_t thread, holder; /* holder: of what it waits for; UINT32_MAX = nobody */
	const char *text;	 /* "waits to lock a mutex held by thread 0.1" */
	const char **frames;
	size_t nframes;
};

struct explanation {
	struct arena arena;
	const char *program;	  /* as typed */
	const char *plait;	  /* the file explained */
	const char *outcome;	  /* "signal": names of abi.h */
	const char *outcome_text; /* "SIGSEGV (null pointer) in consumer at main.c:212" */
	const char *failed_file;  /* where the program was when it failed; NULL = not known */
	uint32_t failed_line;
	const char **stack; /* of the thread that failed, "get at main.c:12", innermost first */
	size_t nstack;
	bool confirmed; /* both schedules were run natively, as claimed */
	uint64_t replays_tried, replays_same;
	enum bug_kind kind;
	const char *summary;  /* one sentence: what happened */
	bool doubtful;	      /* the cause is not known, as the summary says: there is no advice */
	const char *tried;    /* doubtful: what was tried and helped, and why it is not told as the
			       * cause; NULL: nothing */
	const char **threads; /* "0", "0.1" ... */
	size_t nthreads;
	struct shown_schedule failing, passing; /* passing.len 0: none was found */
	struct shown_flow *flows;
	size_t nflows;
	/* the pair whose order decides: indexes into failing.events; UINT32_MAX = none */
	uint32_t pair[2];
	struct shown_advice advice;
	struct shown_earlier earlier;
	/* what would be enforced to mend it; 0: nothing of the kind */
	const struct plait_constraint *remedy;
	size_t nremedy;
	bool remedy_works; /* it was tried: with it nothing fails, or what fails cannot be blamed on it */
	struct shown_candidate *candidates; /* the first few that were considered, best first */
	size_t ncandidates;
	struct shown_wait *waits; /* of a deadlock */
	size_t nwaits;
	struct shown_note *notes; /* stacks, who waits for what, what could not be controlled */
	size_t nnotes;
	uint64_t pairs_tried;
	uint64_t left_out; /* events that differ too, but are not about the cause */
	double seconds_trace, seconds_search, seconds_advice;
};

void explanation_free(struct explanation *x);
/* Add a note; the text is copied. */
void explanation_note(struct explanation *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
