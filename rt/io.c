/* rt/io.c - waiting for the outside world under control. */
#include "rt/control/control.h"

/* Nobody can run. Nothing outside is waited for yet: what blocks in the kernel holds the
 * processor, and the watchdog in the tool ends the run. */
bool io_wait(void)
{
	return false;
}
