/* trace/trace.h - plaits: recorded runs, and everything that reads or writes their files.
 *
 *	struct trace *t;
 *	struct cursor c;
 *	const struct event *ev;
 *
 *	err = trace_open("fail.plait", &t);
 *	cursor_init(&c, t, CURSOR_ALL, 0);              // all threads, by clock
 *	while (!(err = cursor_next(&c, &ev)) && ev)
 *		...
 *	cursor_deinit(&c);
 *	trace_close(t);
 *
 * A plait is one file (doc/format/plait.md). Run folders, as the runtime leaves them, become plaits
 * by trace_seal. Names for sites, program counters and addresses: debug/names.h. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "unplait/effects.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strbuf;
struct cJSON;

/* ---- events ---- */

/* A decoded record. Which fields mean something depends on the kind: events.def. */
struct event {
	uint32_t thread; /* index into trace_meta.threads */
	uint8_t kind;	 /* enum plait_event_kind */
	uint64_t index;	 /* per thread, from 0 */
	uint64_t clock;
	uint32_t site;
	uint64_t address;     /* first `a` */
	uint64_t address2;    /* second `a`: the mutex of a wait */
	uint64_t n;	      /* first `n`: size or count (OUTPUT: the descriptor) */
	uint64_t n2;	      /* second `n` */
	uint64_t value;	      /* first `v` */
	uint64_t value2;      /* second `v` */
	int64_t result;	      /* `r` */
	uint32_t other;	      /* `t` */
	const uint8_t *bytes; /* `b`; valid until the cursor moves */
	size_t nbytes;
	uint64_t lost; /* events that are missing directly before this one */
};

const char *event_kind_name(uint32_t kind);   /* "read"; "?" for a bad number */
const char *event_kind_fields(uint32_t kind); /* "sanv" */
/* PLAIT_EV_NONE when there is no such name. */
enum plait_event_kind event_kind_find(const char *name);
/* Did it change memory? A failed compare-exchange did not. (By kind alone: effects.h.) */
bool event_is_write(const struct event *ev);

const char *mode_name(uint32_t mode);
const char *outcome_name(uint32_t kind);
enum plait_outcome_kind outcome_find(const char *name); /* UNKNOWN when there is none */
/* UINT32_MAX when there is no such mode. */
uint32_t mode_find(const char *name);

/* ---- what is known about the run ---- */

struct trace_outcome {
	enum plait_outcome_kind kind;
	char *message; /* assertion text, what waits for what ...; NULL = none */
	int signal;    /* 0 = none */
	int exit_code; /* -1 = did not exit */
	int code;      /* si_code */
	uint32_t thread, site;
	uint64_t address;
	uint32_t nframes;
	uint64_t frames[PLAIT_MAX_FRAMES];
};

struct trace_thread {
	char *name; /* "0.1.2" */
	uint32_t parent, ordinal, kernel_tid;
	bool ended;
	uint64_t stack_low, stack_size, entry;
	uint64_t lost, nevents;
	uint64_t values; /* path mode: bytes in an open PATH_VALUES at the failure, + 1 */
	uint64_t synced; /* mode sync: operations that it made */
	uint64_t bits;	 /* path mode: branch bits not yet written at the failure; see hooks.h */
};

struct trace_module {
	char *path;
	char build_id[41]; /* hexadecimal, "" = none */
	uint64_t load_address, low, high;
	uint32_t first_site, nsites;
};

struct trace_meta {
	enum plait_mode mode;
	enum plait_clock clock;
	uint64_t clock_hz;
	int64_t start_ns;
	char **command; /* NULL-terminated; may be empty */
	char *cwd;
	char **environment; /* names only; NULL-terminated */
	char *kernel, *cpu;
	uint32_t ncpus;
	uint32_t pid, ended, flags; /* as in struct plait_run */
	uint64_t lost, threads_lost, nevents;
	struct trace_outcome outcome;
	struct trace_thread *threads;
	size_t nthreads;
	struct trace_module *modules;
	size_t nmodules;
};

/* ---- reading ---- */

struct trace;

/* A plait, or a run folder (read in place, as if sealed). */
struct err *trace_open(const char *path, struct trace **ret);
/* The same from memory, which must outlive the trace; `name` is for messages. */
struct err *trace_open_memory(const char *name, const void *data, size_t len, struct trace **ret);
void trace_close(struct trace *t); /* NULL is fine */
const struct trace_meta *trace_meta(const struct trace *t);
const char *trace_path(const struct trace *t);
/* Did this user make the plait, on this machine? A plait is a program: it says which command to run.
 * Ours have a stamp that needs the user's key (base/secret.h); copies of a plait keep it. */
bool trace_made_here(const struct trace *t);
/* Index of the thread of that name; UINT32_MAX when there is none. */
uint32_t trace_thread_find(const struct trace *t, const char *name);
/* The program counter behind a site >= PLAIT_PC_SITE_FIRST; 0 when unknown. */
uint64_t trace_pc_of_site(const struct trace *t, uint32_t site);
/* A named section ("schedule" ...), decompressed, owned by the trace; *ret = NULL when absent. */
struct err *trace_section(struct trace *t, const char *name, const void **ret, size_t *len);
bool trace_has_section(const struct trace *t, const char *name);

/* Events in order: of one thread, or of all, merged by clock (ties: lower thread index first). */
#define CURSOR_ALL UINT32_MAX
struct cursor {
	struct trace *trace; /* borrowed */
	uint32_t thread;
	struct cursor_thread *threads; /* one, or one per thread */
	uint32_t *heap;		       /* merged: threads that have an event, earliest first */
	size_t nthreads, nheap;
	uint64_t start;
	bool begun;
};

/* index: the first event wanted, of that thread; must be 0 for CURSOR_ALL. */
void cursor_init(struct cursor *c, struct trace *t, uint32_t thread, uint64_t index);
void cursor_deinit(struct cursor *c);
/* The next event, NULL at the end. Valid until the next call. */
struct err *cursor_next(struct cursor *c, const struct event **ret);

/* ---- writing ---- */

struct trace_extra {
	const char *name; /* at most 15 characters, not "meta", "events" or "pcs" */
	const void *data;
	size_t len;
};

struct trace_seal_options {
	const struct trace_outcome *outcome; /* what the launcher saw; NULL: the runtime's word */
	const struct trace_extra *extra;     /* sections to add */
	size_t nextra;
	uint64_t clock_hz; /* of the time stamp counter, where the runtime could not tell; 0 */
	bool made_here;	   /* we have started this run ourselves: stamp the plait as ours */
};

/* Turn a run folder into a plait. options may be NULL. */
struct err *trace_seal(const char *dir, const struct trace_seal_options *options, const char *path);
/* The same into memory. */
struct err *trace_seal_memory(const char *dir, const struct trace_seal_options *options,
			      struct strbuf *ret);
/* Copy a plait with sections added or replaced. */
struct err *trace_copy(struct trace *from, const struct trace_extra *extra, size_t nextra,
		       const char *path);
/* Write the file `launch` of a run folder: what is known before the target starts. */
struct err *trace_write_launch(const char *dir, char *const *command, const char *cwd,
			       char *const *environment);

#endif
