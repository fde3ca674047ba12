/* rt/control/ids.c - which process is which, for all processes of a run.
 *
 * The table is in the control area: a forked child maps it too, and finds its relatives. Entries are
 * only added; two processes that add at the same moment get an entry each. */
#include "rt/control/engine.h"

static struct plait_ids *table(void)
{
	return (struct plait_ids *)((char *)control.area + PLAIT_CONTROL_IDS);
}

static uint32_t length(const struct plait_ids *t)
{
	uint32_t n = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE);

	return n < PLAIT_CONTROL_IDS_MAX ? n : PLAIT_CONTROL_IDS_MAX;
}

void control_ids_reset(void)
{
	__atomic_store_n(&table()->n, 0, __ATOMIC_RELEASE);
}

void control_id_note(uint32_t id, uint32_t real)
{
	struct plait_ids *t = table();
	uint32_t i = __atomic_fetch_add(&t->n, 1, __ATOMIC_ACQ_REL);

	if (i < PLAIT_CONTROL_IDS_MAX)
		t->id[i] = (struct plait_id){ id, real };
}

uint32_t control_id_real(uint32_t id)
{
	const struct plait_ids *t = table();

	for (uint32_t i = length(t); i-- > 0;)
		if (t->id[i].id == id)
			return t->id[i].real;
	return id;
}

uint32_t control_id_virtual(uint32_t real)
{
	const struct plait_ids *t = table();

	for (uint32_t i = length(t); i-- > 0;)
		if (t->id[i].real == real)
			return t->id[i].id;
	return real;
}
