/* cmd/pinned.c - see pinned.h. */
#include "cmd/pinned.h"

#include "base/err.h"
#include "base/log.h"
#include "run/pin.h"

struct err *pinned(const char *plait, char *const *command, double timeout)
{
	struct pin_options o = { .command = command, .timeout = timeout };
	struct pin_report r;
	struct err *err = pin_plait(plait, &o, &r);

	if (!err && r.state == PIN_DONE)
		log_note("%s: replayed with the recorded inputs and order, in attempt %u; it has "
			 "its "
			 "schedule now",
			 plait, r.attempts);
	if (!err && r.state == PIN_DIVERGED)
		err = err_new(
			ERR_INCONCLUSIVE,
			"%s: none of %u attempts ended as the recorded run did; the first: %s",
			plait, r.attempts, r.text);
	pin_report_deinit(&r);
	return err;
}
