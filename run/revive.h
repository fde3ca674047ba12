/* run/revive.h - make a process out of a core dump again, and let it take single steps.
 *
 * The process has the memory and the registers of one thread of the dump, nothing else: no open
 * files, no other threads, no network (a namespace of its own, where the system allows one). It never makes
 * a system call: revived_step() refuses to execute one, and a filter kills it if it does. Where the system
 * allows neither namespace nor filter, no process is made. It dies with us. */
#ifndef RUN_REVIVE_H
#define RUN_REVIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

struct dump;
struct err;
struct revived;

struct err *revive(const struct dump *d, size_t thread, struct revived **ret);
void revived_free(struct revived *r); /* NULL is fine; ends the process */

bool revived_write(struct revived *r, uint64_t address, const void *data, size_t len);
bool revived_read(struct revived *r, uint64_t address, void *data, size_t len);
bool revived_registers(struct revived *r, struct user_regs_struct *ret);
bool revived_set_registers(struct revived *r, const struct user_regs_struct *registers);
/* The vector registers, as XSAVE writes them. */
bool revived_extended(struct revived *r, void *ret, size_t cap, size_t *len);
bool revived_set_extended(struct revived *r, const void *data, size_t len);

enum revived_stop {
	REVIVED_STEPPED,
	REVIVED_SIGNAL,	 /* the instruction failed: *signal says how */
	REVIVED_SYSCALL, /* a system call: not executed */
	REVIVED_GONE,	 /* there is no process any more */
};

/* One instruction. */
enum revived_stop revived_step(struct revived *r, int *signal);
/* Go on to an address, at most `most` instructions; REVIVED_STEPPED when it is there. */
enum revived_stop revived_run_to(struct revived *r, uint64_t address, uint64_t most, int *signal);

/* Does the memory equal the dump's? *ret is the first address that differs, 0 when none does. Up to 128
 * KiB below `floor` may differ (0 = nothing may): dead frames. */
bool revived_equals(struct revived *r, const struct dump *d, uint64_t floor, uint64_t *ret);

#endif
