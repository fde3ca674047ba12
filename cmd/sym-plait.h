/* cmd/sym-plait.h - `unplait sym trace FILE.plait`. */
#ifndef CMD_SYM_PLAIT_H
#define CMD_SYM_PLAIT_H

#include <stdbool.h>
#include <stdint.h>

struct cmd_common;
struct err;

struct sym_plait_options {
	const char *path, *check; /* check: a full recording of the same schedule, or NULL */
	bool stats, summary;	  /* summary: no steps */
	uint64_t max_ops;
	double seconds;
};

struct err *sym_plait_trace(const struct sym_plait_options *o, const struct cmd_common *common,
			    int *status);

#endif
