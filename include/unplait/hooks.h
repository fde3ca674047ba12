/* unplait/hooks.h - what instrumented code calls: the interface between `unplait cc` and libplait.
 *
 * A binary holds up to five versions ("variants") of each instrumented function: plain, path, full,
 * graph and order. plait_variant is set before the first constructor runs and never changes
 * afterwards; dispatch stubs (function pointers, exported functions, constructors, thread entries)
 * look at it.
 *
 * Sites. Every hook that names a program point passes a 32-bit site number. Sites are numbered per
 * module (executable or shared library) from 1; 0 means unknown. An executable passes its numbers
 * as constants; a shared library adds its own `plait_module_base`, a hidden 32-bit variable that
 * plait_register_module() fills in when the library is loaded (executable: base 0).
 *
 * Who performs the access. The full variant *replaces* scalar loads, stores and atomics by calls:
 * the hook does the access itself, so that "announce, be scheduled, access, record" is one step.
 * For wide accesses (memcpy, memset, vectors, structs) the hook comes directly before the access.
 *
 * Every function here is safe before initialisation, in signal handlers and after fork. */
#ifndef UNPLAIT_HOOKS_H
#define UNPLAIT_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define PLAIT_VARIANT_PLAIN 0
#define PLAIT_VARIANT_PATH  1
#define PLAIT_VARIANT_FULL  2
#define PLAIT_VARIANT_GRAPH 3
#define PLAIT_VARIANT_ORDER 4 /* a link that drops unused sections has full in its place */
#define PLAIT_VARIANTS	    5

#ifndef PLAIT_EXPORT
#define PLAIT_EXPORT __attribute__((visibility("default")))
#endif

PLAIT_EXPORT extern int plait_variant;

/* ---- order variant ----
 *
 * Accesses are the program's own instructions, at least five bytes long. Where the profile wants
 * one recorded, the runtime writes a jump over it, to a piece of code out of the way:
 *
 *	pushq	$number			the site's; the runtime puts the slot's address here
 *	pushq	$count			of accesses, as a vector has it
 *	call	plait_order_enter_kept
 *	leaq	16(%rsp), %rsp
 *	(the access)
 *	call	plait_order_leave_kept
 *	jmp	behind the access
 *
 * Both calls keep every register. An access that is more than one instruction (atomic
 * read-modify-write) has a place before it that enters, and one behind that leaves; so have several
 * accesses of one element with nothing between them: the first enters for all, the last leaves.
 * In mode block a block counts once. */
struct plait_order_place {
	int32_t hot, cold; /* relative to their own address */
	uint32_t site;	   /* in its module */
	uint32_t kind;	   /* enum plait_place */
};
enum plait_place {
	PLAIT_PLACE_ENTER,
	PLAIT_PLACE_LEAVE, /* it only leaves: there is no number */
	PLAIT_PLACE_SYNC,  /* plain variant, before or behind an atomic: for mode sync */
	PLAIT_PLACE_NONE,  /* no place (hot is 0): the plain variant has none for its atomics */
};
PLAIT_EXPORT void plait_order_enter_kept(void);
PLAIT_EXPORT void plait_order_leave_kept(void);
/* In front of an atomic whose address lies above the return address, and behind it. */
PLAIT_EXPORT void plait_sync_enter_kept(void);
PLAIT_EXPORT void plait_sync_leave_kept(void);
/* In place of an atomic load (rt/log/loads.S says in which registers). */
PLAIT_EXPORT void plait_sync_load1(void);
PLAIT_EXPORT void plait_sync_load2(void);
PLAIT_EXPORT void plait_sync_load4(void);
PLAIT_EXPORT void plait_sync_load8(void);

/* One per instrumented module, emitted by cc as a constant; a constructor of the highest priority
 * (executable: .preinit_array) hands it to plait_register_module. */
struct plait_module {
	uint32_t version;      /* PLAIT_MODULE_VERSION */
	uint32_t is_library;   /* 0: the executable */
	uint32_t nsites;       /* sites are 1 .. nsites */
	uint32_t nelements;    /* elements are 0 .. nelements-1 */
	uint32_t *module_base; /* where to store the first site number minus one */
	const void *anchor;    /* an address inside the module, to find its load address */
	const char *name;      /* output name at link time, for humans */
	/* element of each access site, index site-1; UINT32_MAX for sites that are not accesses. Used
	 * by modes order/block/graph. */
	const uint32_t *element_of_site;
	/* The places of the order variant; an entry with hot == 0 is empty. */
	const struct plait_order_place *order_places, *order_places_end;
};
#define PLAIT_MODULE_VERSION 2
PLAIT_EXPORT void plait_register_module(const struct plait_module *module);

/* What functions of libc keep from one call to the next: strtok's place, the state of rand, the
 * buffers of localtime and asctime, the environment. Expanded calls (cc/expand) read and write
 * these. */
PLAIT_EXPORT extern char *plait_state_strtok;
PLAIT_EXPORT extern uint64_t plait_state_rand, plait_state_rand48, plait_state_environ;
PLAIT_EXPORT extern struct tm plait_state_tm;
PLAIT_EXPORT extern char plait_state_asctime[64];
/* What the system and libc keep for all threads, and calls read and change (cc/expand/state.def). Their values
 * mean nothing. */
PLAIT_EXPORT extern uint64_t plait_state_files, plait_state_locale, plait_state_handlers,
	plait_state_process;

/* ---- path and full variants ---- */

/* Set directly before a call to a function that libplait interposes or models (pthread_*, sem_*,
 * malloc, read, ...): the wrapper takes it as its site and resets it to 0. */
PLAIT_EXPORT extern __thread uint32_t plait_call_site;

/* Allocation: calls to these names are redirected in the path and full variants (malloc ->
 * plait_malloc ...; operator new -> plait_new ...). Behaviour is that of the original. */
PLAIT_EXPORT void *plait_malloc(size_t size);
PLAIT_EXPORT void *plait_calloc(size_t n, size_t size);
PLAIT_EXPORT void *plait_realloc(void *p, size_t size);
PLAIT_EXPORT void *plait_reallocarray(void *p, size_t n, size_t size);
PLAIT_EXPORT void *plait_memalign(size_t alignment, size_t size); /* memalign, aligned_alloc */
PLAIT_EXPORT int plait_posix_memalign(void **ret, size_t alignment, size_t size);
PLAIT_EXPORT void plait_free(void *p);
/* After an allocating call that is not redirected (operator new, strdup, getline ...): note the
 * block; before operator delete: note its end. */
PLAIT_EXPORT void plait_note_alloc(void *p, size_t size);
PLAIT_EXPORT void plait_note_free(void *p);

/* The life of a local variable with locks in it begins, and ends; in the full variant. name: "`lock' of f". */
PLAIT_EXPORT void plait_scope_begin(void *p, size_t size, uint32_t site);
PLAIT_EXPORT void plait_scope_end(void *p, size_t size, const char *name, uint32_t site);

/* In place of the instructions rdtsc and rdrand, in the full variant: under control their answers are
 * the same in every run. */
PLAIT_EXPORT uint64_t plait_tsc(void);
PLAIT_EXPORT uint64_t plait_random(void);

/* ---- graph variant ---- */

/* In front of each access, which stays as it is, code looks at the shadow of its words: a cell of
 * 32 bits for a word, at the word's address with one bit flipped, says which thread wrote it (the
 * upper bits) and whether any thread has read it since (the bit above those of a node); 16 bits, at
 * half that address, say which threads have. An access is reported when the cell is not this
 * thread's (a read: and the thread has not read the word before): plait_shadow_read4_kept and so
 * on, with the site and the address on the stack. cc/instrument/shadow.c, rt/modes/graph.h. */
#define PLAIT_SHADOW_BIT     44
#define PLAIT_CELL_NODE_BITS 21
/* What this thread's words look like, two at a time. */
struct plait_shadow {
	uint64_t read, write; /* cells it has written */
	uint64_t tags, own;   /* the bits that a read and a write compare */
	uint32_t bits, want;  /* in sharers: it has read the words */
};
PLAIT_EXPORT extern __thread struct plait_shadow plait_shadow;
PLAIT_EXPORT void plait_shadow_slow(uint32_t site, const void *p, uint32_t size, uint32_t write);

/* ---- path variant ---- */

/* Branch bits: a shift register with a leading sentinel 1. Inline at each recorded branch:
 *	plait_bits = plait_bits * 2 + taken;
 *	if ((int64_t)plait_bits < 0) plait_flush_bits();
 * It starts as 1; a flush writes the 63 bits below the sentinel and resets it to 1. Instrumented
 * code calls plait_flush_bits_kept (full: plait_flush_branch_kept, the site on the stack), which
 * does the same and keeps the registers: rt/modes/kept.S. */
PLAIT_EXPORT extern __thread uint64_t plait_bits;
PLAIT_EXPORT void plait_flush_bits(void);
/* A recorded switch: the index of the chosen successor (0 = default, then in IR order). */
PLAIT_EXPORT void plait_path_switch(uint32_t successor, uint32_t nsuccessors);
/* The value of a possibly shared load that feeds an address (also the target of an indirect call),
 * with as many bytes as it has. Inline at each such load of n bytes:
 *	if (plait_values.next >= plait_values.end) plait_flush_values();
 *	*(uintN_t *)plait_values.next = value, plait_values.next += n;
 * Instrumented code calls plait_flush_values_kept, which keeps the registers. */
struct plait_values {
	uint8_t *next, *end;
};
PLAIT_EXPORT extern __thread struct plait_values plait_values;
PLAIT_EXPORT void plait_flush_values(void);
/* The same in the full variant, for loads that are not shared accesses: an event of its own. */
PLAIT_EXPORT void plait_path_value(uint64_t value);
/* The result of an external call whose value is input (read, getenv, rand, time ...), and memory
 * that such a call filled; in the path and the full variant. The site is that of the call. */
PLAIT_EXPORT void plait_path_input(uint32_t site, uint64_t value);
PLAIT_EXPORT void plait_path_input_range(uint32_t site, const void *p, size_t n);
/* The same for a string, and for a string whose address lies at p (getline). A result of 0 (for a
 * line also -1) means that there is no string. */
PLAIT_EXPORT void plait_path_input_text(uint32_t site, const char *p, uint64_t result);
PLAIT_EXPORT void plait_path_input_line(uint32_t site, char *const *p, uint64_t result);

/* ---- full variant ---- */

PLAIT_EXPORT uint8_t plait_read1(const void *p, uint32_t site);
PLAIT_EXPORT uint16_t plait_read2(const void *p, uint32_t site);
PLAIT_EXPORT uint32_t plait_read4(const void *p, uint32_t site);
PLAIT_EXPORT uint64_t plait_read8(const void *p, uint32_t site);
PLAIT_EXPORT void plait_write1(void *p, uint8_t v, uint32_t site);
PLAIT_EXPORT void plait_write2(void *p, uint16_t v, uint32_t site);
PLAIT_EXPORT void plait_write4(void *p, uint32_t v, uint32_t site);
PLAIT_EXPORT void plait_write8(void *p, uint64_t v, uint32_t site);
/* Directly before a wide access of n bytes. */
PLAIT_EXPORT void plait_read_range(const void *p, size_t n, uint32_t site);
PLAIT_EXPORT void plait_write_range(void *p, size_t n, uint32_t site);
/* Before atomic operations that have no hook of their own: of 16 bytes, of vectors. */
PLAIT_EXPORT void plait_atomic_read_range(const void *p, size_t n, uint32_t site);
PLAIT_EXPORT void plait_atomic_write_range(void *p, size_t n, uint32_t site);

/* Atomics. `order` is C11's memory_order number (0 relaxed .. 5 seq_cst); a compare-exchange has
 * that of its failure plus 1 in the next four bits, 0 = not said. */
PLAIT_EXPORT uint8_t plait_atomic_load1(const void *p, uint32_t order, uint32_t site);
PLAIT_EXPORT uint16_t plait_atomic_load2(const void *p, uint32_t order, uint32_t site);
PLAIT_EXPORT uint32_t plait_atomic_load4(const void *p, uint32_t order, uint32_t site);
PLAIT_EXPORT uint64_t plait_atomic_load8(const void *p, uint32_t order, uint32_t site);
PLAIT_EXPORT void plait_atomic_store1(void *p, uint8_t v, uint32_t order, uint32_t site);
PLAIT_EXPORT void plait_atomic_store2(void *p, uint16_t v, uint32_t order, uint32_t site);
PLAIT_EXPORT void plait_atomic_store4(void *p, uint32_t v, uint32_t order, uint32_t site);
PLAIT_EXPORT void plait_atomic_store8(void *p, uint64_t v, uint32_t order, uint32_t site);

/* Read-modify-write; returns the old value. */
enum plait_rmw {
	PLAIT_RMW_XCHG,
	PLAIT_RMW_ADD,
	PLAIT_RMW_SUB,
	PLAIT_RMW_AND,
	PLAIT_RMW_NAND,
	PLAIT_RMW_OR,
	PLAIT_RMW_XOR,
	PLAIT_RMW_MAX,
	PLAIT_RMW_MIN,
	PLAIT_RMW_UMAX,
	PLAIT_RMW_UMIN,
	PLAIT_RMW_FADD, /* from here on: float (4 bytes) or double (8), as its bits */
	PLAIT_RMW_FSUB,
	PLAIT_RMW_FMAX,
	PLAIT_RMW_FMIN
};
PLAIT_EXPORT uint8_t plait_atomic_rmw1(void *p, uint8_t v, uint32_t op, uint32_t order,
				       uint32_t site);
PLAIT_EXPORT uint16_t plait_atomic_rmw2(void *p, uint16_t v, uint32_t op, uint32_t order,
					uint32_t site);
PLAIT_EXPORT uint32_t plait_atomic_rmw4(void *p, uint32_t v, uint32_t op, uint32_t order,
					uint32_t site);
PLAIT_EXPORT uint64_t plait_atomic_rmw8(void *p, uint64_t v, uint32_t op, uint32_t order,
					uint32_t site);
/* Compare and exchange (strong); returns the old value, equal to `expected` iff it succeeded. */
PLAIT_EXPORT uint8_t plait_atomic_cas1(void *p, uint8_t expected, uint8_t desired, uint32_t order,
				       uint32_t site);
PLAIT_EXPORT uint16_t plait_atomic_cas2(void *p, uint16_t expected, uint16_t desired,
					uint32_t order, uint32_t site);
PLAIT_EXPORT uint32_t plait_atomic_cas4(void *p, uint32_t expected, uint32_t desired,
					uint32_t order, uint32_t site);
PLAIT_EXPORT uint64_t plait_atomic_cas8(void *p, uint64_t expected, uint64_t desired,
					uint32_t order, uint32_t site);
PLAIT_EXPORT void plait_fence(uint32_t order, uint32_t site);

/* The next access, a plain one, is on a racing line (`unplait cc --unplait-racing'): plain code has recorded it in the order of
 * synchronisation, so it counts where a log of mode sync is obeyed. */
PLAIT_EXPORT void plait_racing(void);

/* A recorded branch shifts its bit into plait_bits as in the path variant, but a full register
 * calls this. In mode full it writes PATH_BITS; in mode control every bit fills the register and
 * becomes a BRANCH with its site. */
PLAIT_EXPORT void plait_flush_branch(uint32_t site);
/* A recorded switch went to successor `successor` (0 = default, then in IR order): PATH_SWITCH in
 * mode full, BRANCH in mode control. */
PLAIT_EXPORT void plait_branch(uint32_t successor, uint32_t site);

#endif
