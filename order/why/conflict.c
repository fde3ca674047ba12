#include "order/why/conflict.h"

#include "base/err.h"

const char *order_family_name(enum order_family family)
{
	static const char *const names[] = {
		[ORDER_FAMILY_FAILURE] = "the outcome",
		[ORDER_FAMILY_CONDITIONS] = "decisions taken and addresses used",
		[ORDER_FAMILY_LOCKS] = "locks",
		[ORDER_FAMILY_SIGNALS] = "signals and wakes",
		[ORDER_FAMILY_COUNTS] = "semaphores and barriers",
	};

	return names[family];
}

static bool in_family(uint8_t kind, enum order_family family)
{
	switch (order_kind_object((enum order_kind)kind)) {
	case ORDER_OBJECT_MUTEX:
	case ORDER_OBJECT_RWLOCK:
		return family == ORDER_FAMILY_LOCKS;
	case ORDER_OBJECT_COND: /* without its mutex a wait means nothing */
		return family == ORDER_FAMILY_LOCKS || family == ORDER_FAMILY_SIGNALS;
	case ORDER_OBJECT_SEM:
	case ORDER_OBJECT_BARRIER:
		return family == ORDER_FAMILY_COUNTS;
	default:
		return false;
	}
}

/* A copy of the model without one family. A wake without signals still takes its mutex. */
static struct order_model *without(const struct order_model *m, enum order_family family)
{
	struct order_model *c = order_model_copy(m);

	for (size_t i = 0; i < c->events.len; i++) {
		struct order_event *e = &c->events.data[i];

		if (!in_family(e->kind, family))
			continue;
		if (family == ORDER_FAMILY_SIGNALS) {
			if (e->kind == ORDER_WAKE)
				e->kind = ORDER_WAKE_TIMEOUT;
			continue;
		}
		e->kind = ORDER_POINT;
		e->object = e->mutex = ORDER_NONE;
	}
	if (family == ORDER_FAMILY_CONDITIONS)
		c->conditions.len = 0;
	return c;
}

struct err *order_conflicts(const struct order_model *m, enum order_want want,
			    const struct order_budget *budget, bool ret[ORDER_FAMILIES])
{
	struct err *err = NULL;

	for (int f = 0; f < ORDER_FAMILIES && !err; f++) {
		struct order_model *c = without(m, (enum order_family)f);
		struct order_answer a = { 0 };

		err = order_solve(c, f == ORDER_FAMILY_FAILURE ? ORDER_ANY : want, budget, &a);
		ret[f] = !err && a.status == ORDER_SAT;
		order_answer_deinit(&a);
		order_model_free(c);
	}
	return err;
}
