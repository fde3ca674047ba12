/* rt/process.c - the ends of a process. Leaving with threads alive is a scheduling point: what they
 * would have done before the end, or not, is a difference that some bugs are made of. */
#include "rt/control/control.h"
#include "rt/interpose.h"
#include "rt/rt.h"

void hook_exit(int status)
{
	struct control_thread *me = control_self();
	uint32_t site;

	HOOK_ENTER;
	site = rt_take_site();
	if (me)
		control_point(me,
			      &(struct control_op){ .kind = PLAIT_EV_PROCESS_EXIT, .site = site });
	real.exit(status);
	__builtin_unreachable();
}
