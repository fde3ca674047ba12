/* sym/follow/access.c - reads and writes of shared memory on a recorded path.
 *
 * A read is a fresh symbol; if it fed an address, the recording has its value and the machine goes
 * on with that. A write is a step with the expression that was written. A wide access or a copy is
 * one event natively: the range is announced, its words follow as parts. */
#include "sym/follow/follow.h"

static const struct plait_site *site_info(struct machine *m, uint32_t *site)
{
	*site = site_here(current_thread(m)->top);
	return recorded_site(&follow_of(m)->r, *site);
}

/* What the recording says was read, or a fresh symbol for it. */
static enum stop recorded_read(struct machine *m, const struct plait_site *s, uint64_t address,
			       unsigned w, struct val *v, struct sym_step *step)
{
	struct follow *fo = follow_of(m);
	struct follow_thread *t = follow_thread(m);
	struct val symbol;

	step->address = address;
	step->w = (uint8_t)w;
	step->held = val_expr(m, *v, w);
	if (s->flags & PLAIT_SITE_FEEDS_ADDRESS) {
		struct rec_value rec;

		if (t->rec->left) { /* the nearest guess: what this thread would see alone */
			step->known = true;
			step->concrete = v->x ? machine_value(m, m->s, v->x) : v->c;
		} else if (!recorded_value(t->rec, s->size, &rec)) {
			return follow_halt(m, SYM_RECORDING_END,
					   "the recording of this thread ends here");
		} else {
			step->known = true;
			step->concrete =
				w < 64 ? rec.value & mask_of(w)
				       : follow_translate(m, rec.value, rec.clock, rec.until, *v);
		}
	}
	symbol = follow_symbol(m, w, sites_string(fo->r.sites, s->object), &step->symbol);
	*v = step->known ? (struct val){ step->concrete, 0 } : symbol;
	step->old = step->value = symbol.x;
	return STOP_NONE;
}

/* A wide access (struct, vector) is one event natively and several operations here: the first of
 * them announces the range. */
static bool is_part(struct machine *m, const struct plait_site *s, unsigned w, uint64_t address,
		    uint8_t event)
{
	const struct frame *f = current_thread(m)->top;
	uint32_t bytes = (w + 7) / 8;

	if (s->size == bytes && (bytes & (bytes - 1)) == 0)
		return false;
	if (!f->pc || f->f->sites[f->pc - 1] != f->f->sites[f->pc])
		follow_emit(m, (struct sym_step){ .kind = SYM_STEP_RANGE,
						  .event = event,
						  .address = address,
						  .n = s->size });
	return true;
}

enum stop follow_read(struct machine *m, uint64_t address, unsigned w, struct val *v)
{
	uint32_t site;
	const struct plait_site *s = site_info(m, &site);
	struct sym_step step = { .kind = SYM_STEP_READ, .symbol = UINT32_MAX };
	enum stop st;

	if (!(s->flags & PLAIT_SITE_POINT)) /* private, but filled by nobody we can repeat */
		return recorded_read(m, s, address, w, v, &step);
	step.part = is_part(m, s, w, address, PLAIT_EV_READ_RANGE);
	step.event = s->kind == PLAIT_SITE_ATOMIC_READ ? PLAIT_EV_ATOMIC_READ : PLAIT_EV_READ;
	st = recorded_read(m, s, address, w, v, &step);
	if (!st)
		follow_emit(m, step);
	return st;
}

void follow_write(struct machine *m, uint64_t address, unsigned w, struct val v)
{
	uint32_t site;
	const struct plait_site *s = site_info(m, &site);
	bool part = is_part(m, s, w, address, PLAIT_EV_WRITE_RANGE);

	follow_emit(m, (struct sym_step){ .kind = SYM_STEP_WRITE,
					  .event = s->kind == PLAIT_SITE_ATOMIC_WRITE
							   ? PLAIT_EV_ATOMIC_WRITE
							   : PLAIT_EV_WRITE,
					  .address = address,
					  .w = (uint8_t)w,
					  .part = part,
					  .value = val_expr(m, v, w) });
}

/* The two halves of an atomic: the step is handed out with the second. */
enum stop follow_rmw_read(struct machine *m, uint64_t address, unsigned w, struct val *v)
{
	struct follow *fo = follow_of(m);
	uint32_t site;
	const struct plait_site *s = site_info(m, &site);

	fo->rmw = (struct sym_step){ .kind = SYM_STEP_RMW,
				     .event = PLAIT_EV_ATOMIC_RMW,
				     .symbol = UINT32_MAX };
	return recorded_read(m, s, address, w, v, &fo->rmw);
}

void follow_rmw_write(struct machine *m, uint64_t address, unsigned w, struct val v)
{
	struct follow *fo = follow_of(m);

	(void)address;
	fo->rmw.value = val_expr(m, v, w);
	follow_emit(m, fo->rmw);
}

/* The words of a range: fresh symbols for a read, except that a word which holds a pointer here
 * keeps it (the recording has no values for ranges). */
static enum stop range_words(struct machine *m, uint64_t at, uint64_t n, bool reads)
{
	const struct object *o = memory_find(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff);
	bool kept = false, constant = o && o->readonly; /* those nobody writes */

	for (uint64_t i = 0; i < n;) {
		uint64_t size = n - i >= 8 && (at + i) % 8 == 0	  ? 8
				: n - i >= 4 && (at + i) % 4 == 0 ? 4
								  : 1;
		struct sym_step step = { .kind = reads ? SYM_STEP_READ : SYM_STEP_WRITE,
					 .event = reads ? PLAIT_EV_READ : PLAIT_EV_WRITE,
					 .symbol = UINT32_MAX,
					 .address = at + i,
					 .w = (uint8_t)(8 * size),
					 .part = true };
		struct val v;
		enum stop st = mem_load(m, (struct val){ at + i, 0 }, step.w, &v);

		if (st)
			return st;
		if (reads) {
			struct val s = follow_symbol(m, step.w, "range", &step.symbol);

			step.held = val_expr(m, v, step.w);
			step.value = s.x;
			step.known = !v.x && (constant || (size == 8 && follow_is_pointer(v.c)));
			step.concrete = v.c;
			kept |= step.known && !constant;
			if (!step.known)
				st = mem_store(m, (struct val){ at + i, 0 }, step.w, s);
		} else {
			step.value = val_expr(m, v, step.w);
		}
		if (st)
			return st;
		follow_emit(m, step);
		i += size;
	}
	if (kept)
		follow_gap(m, "pointers in a copied structure, which are not recorded");
	return STOP_NONE;
}

#define MAX_RANGE_WORDS 65536

enum stop follow_copy(struct machine *m, uint64_t to, uint64_t from, uint64_t n, bool after)
{
	uint32_t site, next;
	const struct plait_site *s = site_info(m, &site), *other;
	bool reads = s->kind == PLAIT_SITE_READ, writes = s->kind == PLAIT_SITE_WRITE;

	other = recorded_site(&follow_of(m)->r, next = site + 1);
	if (reads && other && other->kind == PLAIT_SITE_WRITE &&
	    other->ir_function == s->ir_function && other->ir_instruction == s->ir_instruction)
		writes = true;
	if (after ? !writes : !reads && !writes)
		return STOP_NONE;
	if (!after && reads) {
		follow_emit(m, (struct sym_step){ .kind = SYM_STEP_RANGE,
						  .event = PLAIT_EV_READ_RANGE,
						  .site = site,
						  .address = from,
						  .n = n });
		if (n <= MAX_RANGE_WORDS) {
			enum stop st = range_words(m, from, n, true);

			if (st)
				return st;
		} else {
			follow_gap(m, "a copy of more than %u shared bytes", MAX_RANGE_WORDS);
		}
	}
	if (!after && writes)
		follow_emit(m, (struct sym_step){ .kind = SYM_STEP_RANGE,
						  .event = PLAIT_EV_WRITE_RANGE,
						  .site = reads ? next : site,
						  .address = to,
						  .n = n });
	if (after && writes && n <= MAX_RANGE_WORDS)
		return range_words(m, to, n, false);
	return STOP_NONE;
}
