/* run/area.h - private to run/: the control area (unplait/control.h) as seen from the tool: write
 * down what a run is to do, read what it did, and what all runs have learned. */
#ifndef RUN_AREA_H
#define RUN_AREA_H

#include "run/run.h"

struct area {
	int fd;
	struct plait_control *control; /* mapped; the regions lie behind it */
	char path[40];		       /* as other processes can open it while we live */
};

struct err *area_open(struct area *a);
void area_close(struct area *a); /* also when area_open has failed */

/* extra: PLAIT_CONTROL_* flags that the session adds. Empties the result. */
struct err *area_write_request(struct area *a, const struct target *t,
			       const struct run_request *req, uint32_t extra, uint64_t run_number);
/* Everything but the outcome. r must be empty. */
void area_read_result(const struct area *a, const struct run_request *req, struct run_result *r);

/* Facts about the process of the last run that was not recorded into a folder. */
const struct plait_run *area_process(const struct area *a);
struct plait_inputs *area_inputs(const struct area *a);
struct plait_log_place *area_log(const struct area *a);
struct plait_predicate *area_predicate(const struct area *a);
const struct plait_stack *area_stacks(const struct area *a);  /* by constraint of the last run */
const struct plait_races *area_races(const struct area *a);   /* of the last run */
const struct plait_prints *area_prints(const struct area *a); /* likewise */
struct knowledge area_knowledge(const struct area *a);
/* Take over the sites and pairs that `from` has learned. Returns the number of new pairs. */
uint32_t area_learn(struct area *a, const struct area *from);
/* From now on accesses at this site are points of runs with PLAIT_POINTS_LEARNED. */
void area_add_point(struct area *a, uint32_t site);
uint64_t area_npoints(const struct area *a);

#endif
