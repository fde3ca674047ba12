/* cc/instrument/full.h - the full variant: a hook performs each access. */
#ifndef CC_INSTRUMENT_FULL_H
#define CC_INSTRUMENT_FULL_H

struct hooks;
struct plan;

/* The access of one plan; the builder stands before it. Other plans are left alone. */
void full_access(struct hooks *h, const struct plan *plan);

#endif
