/* unplait/sites.h - the tables that `unplait cc` leaves in a binary, and the names of their
 * sections.
 *
 * No section is loaded at run time (no SHF_ALLOC). All are little-endian, written by
 * cc/instrument/sites.c and read by debug/binary.c.
 *
 *	.plait.sites  struct plait_sites_header, then the arrays it announces, then the strings
 *	.plait.bc     zstd frames: the bitcode before instrumentation; one module, or one per object that
 *	              was instrumented by itself (cc/driver/units.c)
 *	.plait.bc0    the same frames, one per object: the bitcode as the front end left it, where the program
 *	              was built with `--unplait-source-bitcode` and an optimiser changed it. Objects have it, too
 *	.plait.build  text, `key value` lines: how it was linked, for `unplait info`. `unseen NAME`: a
 *	              function outside the program that gets a pointer to memory that may be shared and
 *	              is not looked into
 *
 * The order of sites in .plait.sites is their number minus one. Every analysis that needs the IR
 * instruction of a site finds it by `ir`: function number and instruction number in the
 * module of .plait.bc (functions with bodies counted in module order from 0; instructions counted
 * from 0 over the whole function in block order). With several modules the functions of the second are
 * counted on from those of the first, and so on. */
#ifndef UNPLAIT_SITES_H
#define UNPLAIT_SITES_H

#include <stdint.h>

#define PLAIT_SECTION_SITES   ".plait.sites"
#define PLAIT_SECTION_BITCODE ".plait.bc"
#define PLAIT_SECTION_SOURCE  ".plait.bc0"
#define PLAIT_SECTION_BUILD   ".plait.build"

#define PLAIT_SITES_MAGIC   "PLSITES" /* 8 bytes with the NUL */
#define PLAIT_SITES_VERSION 1

struct plait_sites_header {
	char magic[8];
	uint32_t version;
	uint32_t nsites, nelements, nstrings_bytes;
	/* for `unplait info`: what the analyses did */
	uint32_t accesses_total, accesses_instrumented; /* loads, stores, atomics, ranges */
	uint32_t branches_total, branches_recorded;
	uint32_t loads_address_feeding;
	uint32_t functions, external_objects; /* functions instrumented; objects without bitcode */
	/* then: struct plait_site[nsites], struct plait_element[nelements], strings
	 * (NUL-terminated; offset 0 is the empty string) */
};

enum plait_site_kind {
	PLAIT_SITE_READ = 1, /* scalar or wide load, memcpy source */
	PLAIT_SITE_WRITE,
	PLAIT_SITE_ATOMIC_READ,
	PLAIT_SITE_ATOMIC_WRITE,
	PLAIT_SITE_ATOMIC_RMW, /* and compare-exchange */
	PLAIT_SITE_FENCE,
	PLAIT_SITE_BRANCH,
	PLAIT_SITE_SWITCH,
	PLAIT_SITE_CALL,  /* call of an interposed or modelled function */
	PLAIT_SITE_ALLOC, /* call of an allocating function */
	PLAIT_SITE_INPUT, /* external call whose result is input */
};

enum plait_site_flags {
	PLAIT_SITE_POINT = 1,	 /* an access that may be shared */
	PLAIT_SITE_RECORDED = 2, /* path mode logs it (branch outcome, value); a branch without
				  * is decided by values that it logs */
	PLAIT_SITE_FEEDS_ADDRESS = 4,
	PLAIT_SITE_BLOCK = 8, /* the first instrumented access of its basic block */
	/* Atomics and fences: C11's memory order plus 1, 0 = not known; a compare-exchange also has
	 * the order of its failure, and nothing else has one. */
	PLAIT_SITE_ORDER = 7 << 4,
	PLAIT_SITE_FAILING = 7 << 7,
	PLAIT_SITE_VOLATILE = 1 << 10,
};
enum { PLAIT_SITE_ORDER_SHIFT = 4, PLAIT_SITE_FAILING_SHIFT = 7 };

struct plait_site {
	uint8_t kind; /* enum plait_site_kind */
	uint8_t size; /* bytes accessed, 0 = varies */
	uint16_t flags;
	uint32_t line, column;
	uint32_t file;	   /* string: as debug info says, relative to the compilation directory */
	uint32_t function; /* string: source name, demangled not needed */
	uint32_t object;   /* string: what the access is called in the source ("queue.filled"), or
			      the callee's name for calls */
	uint32_t element;  /* UINT32_MAX = none */
	uint32_t ir_function, ir_instruction;
	uint32_t inlined_at_line; /* 0, or the call line when inlined ... */
	uint32_t inlined_at_file; /* ... and its file */
};

/* An element: a class of objects or fields that may be shared (the papers' SPE). */
struct plait_element {
	uint32_t name;	 /* string: "queue.filled", "struct fifo::mut", "malloc@parse.c:41" */
	uint32_t nsites; /* sites that may touch it */
	uint32_t flags;	 /* 1: a synchronisation object */
	uint32_t reserved;
};

#endif
