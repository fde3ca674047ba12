/* rt/modes/scopes.c - the life of local variables with locks in them; rt/control/gone.c uses it. */
#include "rt/control/control.h"
#include "rt/control/gone.h"

void plait_scope_begin(void *p, size_t size, uint32_t site)
{
	struct control_thread *me = control_self();

	if (me)
		gone_scope_begins(me, p, size, site);
}

void plait_scope_end(void *p, size_t size, const char *name, uint32_t site)
{
	struct control_thread *me = control_self();

	if (me)
		gone_scope_ends(me, p, size, name, site);
}
