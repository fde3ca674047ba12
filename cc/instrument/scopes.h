/* cc/instrument/scopes.h - say when local variables with locks in them come to life and end. */
#ifndef CC_INSTRUMENT_SCOPES_H
#define CC_INSTRUMENT_SCOPES_H

struct hooks;
struct plan;

/* At a plan of ACT_SCOPE_BEGIN or ACT_SCOPE_END. */
void scopes_at(struct hooks *h, const struct plan *plan);

#endif
