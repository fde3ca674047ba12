/* solve/propose.h - the symbolic machine as the engine that proposes schedules to a hunt. */
#ifndef SOLVE_PROPOSE_H
#define SOLVE_PROPOSE_H

#include "solve/carry.h"

struct sym_end;
struct sym_program;

struct sym_proposer {
	struct proposer proposer;
	bool available; /* built with the machine */
	const struct target *target;
	struct sym_program *program; /* of the process that searches */
	struct strbuf input;
	bool fail_on_exit; /* a non-zero status is a failure, as the hunt judges now */
};

/* target is borrowed until deinit. */
void proposer_init(struct sym_proposer *p, const struct target *target);
void proposer_deinit(struct sym_proposer *p);

/* A schedule of the machine as operations of native threads; ret->ops is the caller's. */
void propose_schedule(const struct sym_end *e, struct carry_schedule *ret);
/* A native run that does this, and then goes on without preemptions. *followed: it did all of it;
 * *ret is that run, or the nearest. */
struct err *propose_carry_out(struct session *session, const struct carry_schedule *schedule,
			      struct run_result *ret, bool *followed);

#endif
