/* rt/interpose/controlled.c - how the control engine calls the taken-over functions. */
#include "rt/interpose/controlled.h"

#include "rt/interpose/world.h"

static void begin(void)
{
	signals_reset();
	timers_reset();
	ids_reset();
	random_reset();
	maps_reset();
}

void interpose_control_init(void)
{
	threads_init();
	keys_init();
	random_init();
}

const struct control_world interpose_world = {
	.begin = begin,
	.watch_end = threads_watch_end,
	.thread_ended = mutex_owner_ended,
	.deliver = signals_deliver,
	.handle = signals_handle,
	.wait_outside = io_wait,
	.timers_patient = timers_patient,
	.timers_periodic = timers_periodic,
	.timers_rested = timers_rested,
	.forget_timers = timers_reset,
	.wait_for_children = children_wait_for,
};
