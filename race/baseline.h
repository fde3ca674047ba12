/* race/baseline.h - races that are known: only new ones, and such that became worse, fail a build. */
#ifndef RACE_BASELINE_H
#define RACE_BASELINE_H

struct err;
struct races_result;

/* path: what `unplait races --json=FILE' wrote at another time. Marks every race that it has with
 * the same or a worse verdict as known. Lines may have moved: a race is known by its object, files
 * and functions. */
struct err *baseline_apply(const char *path, struct races_result *r);

#endif
