/* race/predict.h - races that a recorded run did not have, but another order of its events has.
 *
 * In the run the two accesses were ordered, by a lock that was passed on, say. If a reordering of the
 * same events (each thread does what it did, each read sees the same write, sections of one lock stay
 * in their order) has both of them next, they race there. What is predicted is a candidate: only a
 * native run shows a race. */
#ifndef RACE_PREDICT_H
#define RACE_PREDICT_H

#include "race/detect.h"

struct event;

/* Pairs of sites that do not race in this run, as instances of it. *ret must be empty. `lost` counts
 * pairs for which there was no time. */
struct err *race_predict(struct trace *t, struct race_instances *ret);

/* The same, event by event: for tests. Events come in the order of the run. */
struct predictor;
struct predictor *predictor_new(void);
void predictor_free(struct predictor *p);
void predictor_add(struct predictor *p, const struct event *ev);
/* Can the two accesses (numbers in the order of predictor_add, from 0) be next at once? */
bool predictor_meet(struct predictor *p, uint32_t first, uint32_t second);

#endif
