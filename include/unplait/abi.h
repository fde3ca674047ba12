/* unplait/abi.h - what the runtime writes and the tool reads. Beside it target and tool share only
 * hooks.h (compiler to runtime), sites.h (compiler to tool) and control.h (steering). Bump
 * PLAIT_FORMAT_VERSION when a layout or a meaning changes; doc/format/plait.md describes it.
 *
 * A run's folder ($UNPLAIT_DIR):
 *	run      struct plait_run, mapped shared by the target
 *	tNNNNN   events of thread NNNNN (its index), a plain sequence of records
 *	sNNNNN   of a flight recorder: the tNNNNN before this one
 *	wNNNNN   its window, mapped shared: struct plait_window, then the records after those
 *	cNNNNN   mode sync: its cells, mapped shared (struct plait_cells)
 *	pcs      pairs of uint64_t (site, program counter), for code without a site table
 *	launch   JSON, written by the command that starts the target: command line, folder ...
 *	fork-PID the run folder of a followed child (option `follow`)
 *
 * A record is a tag byte (the event kind, 1..127, or a short form) and its fields (events.def). The
 * files are zero-filled and a tag is written *after* its fields. So a reader stops at the first
 * zero byte, and what it has read is complete, whatever killed the target. */
#ifndef UNPLAIT_ABI_H
#define UNPLAIT_ABI_H

#include <stdint.h>

#define PLAIT_FORMAT_VERSION 1
/* Bytes of one access: a loop over them must come to an end. A copy whose length is garbage is recorded
 * up to here; the program will not survive it. */
#define PLAIT_ACCESS_MAX (1ull << 40)
#define PLAIT_RUN_MAGIC	 "PLAITRUN" /* 8 bytes, no NUL */

enum plait_event_kind {
	PLAIT_EV_NONE,
#define EVENT(id, name, fields, effects) PLAIT_EV_##id,
#include "unplait/events.def"
#undef EVENT
	PLAIT_EV_COUNT
};

/* Plain reads and writes of 1, 2, 4 or 8 bytes have a short form: this tag, site, address, and the
 * value with its bytes as they are. log2 of the size in the lowest two bits, bit 2: a write. */
#define PLAIT_TAG_SHORT	      0x70
#define PLAIT_TAG_SHORT_COUNT 8

/* Environment, set by the commands. */
#define PLAIT_ENV_MODE	  "UNPLAIT_MODE" /* PLAIT_MODE_NAMES */
#define PLAIT_ENV_DIR	  "UNPLAIT_DIR"
#define PLAIT_ENV_CONTROL "UNPLAIT_CONTROL" /* path of the control area, see control.h */
#define PLAIT_ENV_SERVER  "UNPLAIT_SERVER"  /* descriptor of the fork server's socket */
#define PLAIT_ENV_OPTIONS "UNPLAIT_OPTIONS" /* comma-separated key[=value]: follow, ... */

enum plait_mode {
	PLAIT_MODE_OFF,
	PLAIT_MODE_PATH,
	PLAIT_MODE_ORDER,
	PLAIT_MODE_BLOCK,
	PLAIT_MODE_GRAPH,
	PLAIT_MODE_FULL,
	PLAIT_MODE_CONTROL,
	PLAIT_MODE_SYNC, /* inputs and the order of synchronisation */
};
#define PLAIT_MODE_NAMES { "off", "path", "order", "block", "graph", "full", "control", "sync" }

/* How to read CLOCK records. An event's clock is the previous event's (of its thread) plus the
 * CLOCK records in between; without any it is the same (TSC) or one more (STEPS). */
enum plait_clock {
	PLAIT_CLOCK_TSC,   /* time stamp counter: order between threads is approximate, except that
			      synchronisation events of one object are in their true order */
	PLAIT_CLOCK_STEPS, /* one thread at a time: the clock is a total order of all events */
};

/* Sites of code that has no site table: a program counter's slot in `pcs`, plus this. */
#define PLAIT_PC_SITE_FIRST 0x40000000u
#define PLAIT_PC_SITES	    (1u << 20)

enum plait_outcome_kind {
	PLAIT_OUTCOME_UNKNOWN, /* still running, or killed from outside */
	PLAIT_OUTCOME_PASS,
	PLAIT_OUTCOME_ASSERT, /* assert() or abort() */
	PLAIT_OUTCOME_SIGNAL,
	PLAIT_OUTCOME_DEADLOCK,
	PLAIT_OUTCOME_HANG,
	PLAIT_OUTCOME_EXIT,	 /* non-zero exit status, where that counts as failing */
	PLAIT_OUTCOME_OUTPUT,	 /* output differs from --expect */
	PLAIT_OUTCOME_ORACLE,	 /* --oracle said so */
	PLAIT_OUTCOME_SANITIZER, /* AddressSanitizer or a relative has reported something */
};
#define PLAIT_OUTCOME_NAMES                                                                        \
	{ "unknown", "pass", "assert", "signal", "deadlock",                                       \
	  "hang",    "exit", "output", "oracle", "sanitizer" }

#define PLAIT_MAX_THREADS 8192
#define PLAIT_MAX_MODULES 64
#define PLAIT_MAX_FRAMES  24

/* The beginning of a window. */
struct plait_window {
	uint64_t before; /* bytes of tNNNNN that count; more may be there */
	uint64_t synced; /* mode sync: synchronisation operations of the thread so far */
};
#define PLAIT_WINDOW_STALE (1ull << 63) /* the records in the window are among them already */

/* Mode sync: what a thread has read by atomic loads without a lock, by place (rt/log/atomics.c). */
#define PLAIT_CELLS	 4096
#define PLAIT_STAMP_BITS 48 /* a stamp is an operation: thread index + 1 above the thread's count */
struct plait_cell {
	uint64_t stamp; /* of the last writer then */
	uint64_t last;	/* the thread's last operation that read it */
	uint64_t by;	/* the stamp of the next writer; 0: nobody has written since */
	uint64_t seen;	/* ... and how much it saw of `last` */
};
struct plait_cells {
	uint64_t loads; /* that were made without a lock */
	uint64_t reserved[3];
	struct plait_cell cells[PLAIT_CELLS];
};
/* Did a writer miss that the thread had read? */
static inline int plait_cell_is_cut(const struct plait_cell *c)
{
	return c->by && c->last > c->seen;
}

struct plait_thread_info {
	uint32_t parent;  /* index of the creating thread; itself for thread 0 */
	uint32_t ordinal; /* it is the n-th child of its parent, from 1 */
	uint32_t kernel_tid;
	uint32_t state; /* 0 unused, 1 alive, 2 ended */
	uint64_t stack_low, stack_size;
	uint64_t lost;	/* events that could not be written */
	uint64_t entry; /* address of the start routine, 0 for main */
	uint64_t
		bits; /* modes path and full: branch bits not yet written when the process failed */
	uint64_t values; /* mode path: bytes in its open PATH_VALUES then, plus 1; 0 = none */
};

struct plait_module_info {
	uint64_t load_address; /* added to the addresses in the file */
	uint64_t low, high;    /* where it is mapped */
	uint32_t first_site;   /* its site numbers are first_site .. first_site + nsites - 1 */
	uint32_t nsites;       /* 0: not instrumented */
	uint8_t build_id[20];
	uint8_t build_id_len;
	char path[235];
};

/* Where a failure was seen: filled in by the runtime when it can. */
struct plait_failure {
	uint32_t kind; /* enum plait_outcome_kind */
	uint32_t thread;
	int32_t signal, code;
	uint64_t address; /* fault address */
	uint32_t site;	  /* last site of that thread; of a misuse: its own, 0 = not known */
	uint32_t nframes;
	uint64_t frames[PLAIT_MAX_FRAMES]; /* program counters, innermost first */
	char text[512];			   /* assertion text, what waits for what ... */
};

struct plait_run {
	char magic[8];
	uint32_t version;
	uint32_t size; /* sizeof(struct plait_run) */
	uint32_t mode, clock;
	uint32_t pid;
	uint32_t ended; /* 1: the runtime saw the end of the process; 2: it exec'ed */
	uint32_t nthreads, nmodules;
	uint32_t flags;	       /* enum plait_run_flags */
	uint32_t threads_lost; /* beyond PLAIT_MAX_THREADS */
	uint64_t clock_hz;     /* of PLAIT_CLOCK_TSC; 0 = not known */
	int64_t start_ns;      /* real time at clock 0 */
	struct plait_failure failure;
	struct plait_module_info modules[PLAIT_MAX_MODULES];
	struct plait_thread_info threads[PLAIT_MAX_THREADS];
};

enum plait_run_flags {
	PLAIT_RUN_NO_SPACE = 1, /* the disk was full: events are missing */
	PLAIT_RUN_FORKED = 2,
	PLAIT_RUN_EXECED = 4,
	PLAIT_RUN_SYNC_ONLY = 8,   /* unmodified program: only synchronisation was seen */
	PLAIT_RUN_TSAN_ROUTE = 16, /* -fsanitize=thread objects: sites are program counters */
	PLAIT_RUN_NO_ATOMICS = 32, /* mode sync: the program's atomics could not be recorded */
	PLAIT_RUN_LAST = 64,	   /* a flight recorder: what was long ago is gone */
};

#endif
