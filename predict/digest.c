/* predict/digest.c - recordings with equal decisions, recognised without following them.
 *
 * What a thread does follows from its program, its inputs and what was recorded of its path. So two
 * recordings in which every thread has the same records, clocks aside, are of equal paths. (Equal
 * paths may have different records: addresses of the heap. Those are found out by following.) */
#include "predict/round.h"

#include "base/err.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

static bool counts(uint32_t kind)
{
	switch (kind) {
	case PLAIT_EV_PATH_BITS:
	case PLAIT_EV_PATH_SWITCH:
	case PLAIT_EV_PATH_VALUE:
	case PLAIT_EV_PATH_VALUES:
	case PLAIT_EV_INPUT:
	case PLAIT_EV_INPUT_BYTES:
	case PLAIT_EV_FORK:
	case PLAIT_EV_JOIN:
	case PLAIT_EV_ONCE_BEGIN:
	case PLAIT_EV_ONCE_PASS:
	case PLAIT_EV_ALLOC:
	case PLAIT_EV_FREE:
	case PLAIT_EV_EXIT:
		return true;
	default:
		return false;
	}
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ hash_u64(x + 0x9e37));
}

struct err *predict_digest(struct trace *t, uint64_t *ret)
{
	const struct trace_meta *meta = trace_meta(t);
	uint64_t *thread = xcalloc(meta->nthreads + 1, sizeof(*thread));
	const struct event *ev;
	struct cursor c;
	struct err *err;

	*ret = 0;
	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		uint64_t *h = &thread[ev->thread];

		if (ev->thread >= meta->nthreads || !counts(ev->kind))
			continue;
		*h = mix(mix(mix(*h, (uint64_t)ev->kind << 32 | ev->site), ev->n), ev->value);
		*h = mix(mix(mix(*h, ev->address), ev->other), (uint64_t)ev->result);
		if (ev->nbytes)
			*h = mix(*h, hash_bytes(ev->bytes, ev->nbytes, 1));
	}
	cursor_deinit(&c);
	for (size_t i = 0; i < meta->nthreads; i++)
		*ret += mix(thread[i],
			    hash_bytes(meta->threads[i].name, strlen(meta->threads[i].name), 2));
	free(thread);
	return err;
}
