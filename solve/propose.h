/* solve/propose.h - the symbolic machine as the engine that proposes schedules to a hunt. */
#ifndef SOLVE_PROPOSE_H
#define SOLVE_PROPOSE_H

#include "run/run.h"

struct sym_end;
struct sym_program;

struct sym_proposer {
	struct proposer proposer;
	bool available; /* built with the machine */
	const struct target *target;
	struct sym_program *program; /* of the process that searches */
	struct strbuf input;
};

/* target is borrowed until deinit. */
void proposer_init(struct sym_proposer *p, const struct target *target);
void proposer_deinit(struct sym_proposer *p);

/* A schedule of the machine as one for native runs; the caller's. */
struct walk_step *propose_steps(const struct sym_end *e);

#endif
