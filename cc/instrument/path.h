/* cc/instrument/path.h - outcomes of branches and values of loads, for path and full. */
#ifndef CC_INSTRUMENT_PATH_H
#define CC_INSTRUMENT_PATH_H

struct hooks;
struct plan;

/* A branch, a switch or a choice between two values: record which way it goes. */
void path_branch(struct hooks *h, const struct plan *plan);
/* A load that feeds an address: record what it read. */
void path_value(struct hooks *h, const struct plan *plan);

#endif
