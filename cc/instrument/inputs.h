/* cc/instrument/inputs.h - record what a call brings in from outside. */
#ifndef CC_INSTRUMENT_INPUTS_H
#define CC_INSTRUMENT_INPUTS_H

struct hooks;
struct plan;

/* After the call of one plan: its result and the memory it filled. */
void inputs_record(struct hooks *h, const struct plan *plan);

#endif
