/* suite/result.h - private: verdicts from what `unplait hunt` and `unplait explain` wrote. */
#ifndef SUITE_RESULT_H
#define SUITE_RESULT_H

#include "suite/suite.h"

struct process;

/* The hunt has ended; json and complaints: the files it wrote, which need not be there. */
void result_take_hunt(struct suite_result *r, const struct process *p, const char *json,
		      const char *complaints);
void result_take_explanation(struct suite_result *r, const struct process *p, const char *json);

#endif
