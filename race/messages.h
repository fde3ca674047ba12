/* race/messages.h - which events hand something on from thread to thread, beside locks, forks and joins.
 *
 * For predictions: sync-preserving ones (predict.c) and WCP (wcp.c). They keep more order than
 * unplait/happens.def, because what they propose must be a run: who was woken stays behind the signal, and
 * who leaves a barrier behind all arrivals. */
#ifndef RACE_MESSAGES_H
#define RACE_MESSAGES_H

#include "unplait/abi.h"

#include <stdint.h>

enum message { MESSAGE_NONE, MESSAGE_SENT, MESSAGE_RECEIVED };

static inline enum message message_of_kind(uint32_t kind)
{
	switch (kind) {
	case PLAIT_EV_SIGNAL:
	case PLAIT_EV_BROADCAST:
	case PLAIT_EV_SEM_POST:
	case PLAIT_EV_BARRIER_WAIT:
	case PLAIT_EV_ONCE_END:
	case PLAIT_EV_FUTEX_WAKE:
	case PLAIT_EV_RELEASE:
		return MESSAGE_SENT;
	case PLAIT_EV_SEM_WAIT:
	case PLAIT_EV_SEM_TRYWAIT:
	case PLAIT_EV_BARRIER_LEAVE:
	case PLAIT_EV_ONCE_BEGIN:
	case PLAIT_EV_ONCE_PASS:
	case PLAIT_EV_FUTEX_WAIT:
	case PLAIT_EV_ACQUIRE:
		return MESSAGE_RECEIVED;
	default:
		return MESSAGE_NONE;
	}
}

#endif
