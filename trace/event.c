/* trace/event.c - kinds of events, and the bytes of a record back into an event.
 * The layout of each kind is its `fields` string in events.def: one decoder for all of them. */
#include "trace/format.h"

#include "base/mem.h"

#include <string.h>

/* What get_access relies on. */
_Static_assert(PLAIT_EV_READ == 1 && PLAIT_EV_ATOMIC_WRITE == 4, "the first four kinds are sanv");

static const struct {
	const char *name, *fields;
} kinds[] = {
	{ "?", "" },
#define EVENT(id, name, fields, effects) { name, fields },
#include "unplait/events.def"
#undef EVENT
};

const char *event_kind_name(uint32_t kind)
{
	return kind < ARRAY_SIZE(kinds) ? kinds[kind].name : "?";
}

const char *event_kind_fields(uint32_t kind)
{
	return kind < ARRAY_SIZE(kinds) ? kinds[kind].fields : "";
}

enum plait_event_kind event_kind_find(const char *name)
{
	for (size_t i = 1; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (enum plait_event_kind)i;
	return PLAIT_EV_NONE;
}

bool event_is_write(const struct event *ev)
{
	return plait_is_access(ev->kind) && plait_writes(ev->kind) &&
	       !(ev->kind == PLAIT_EV_ATOMIC_RMW && ev->value == ev->value2);
}

static const char *const mode_names[] = PLAIT_MODE_NAMES;
static const char *const outcome_names[] = PLAIT_OUTCOME_NAMES;

const char *mode_name(uint32_t mode)
{
	return mode < ARRAY_SIZE(mode_names) ? mode_names[mode] : "?";
}

uint32_t mode_find(const char *name)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(mode_names); i++)
		if (strcmp(mode_names[i], name) == 0)
			return i;
	return UINT32_MAX;
}

const char *outcome_name(uint32_t kind)
{
	return kind < ARRAY_SIZE(outcome_names) ? outcome_names[kind] : "?";
}

enum plait_outcome_kind outcome_find(const char *name)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(outcome_names); i++)
		if (strcmp(outcome_names[i], name) == 0)
			return (enum plait_outcome_kind)i;
	return PLAIT_OUTCOME_UNKNOWN;
}

static inline bool get_varint(struct decoder *d, uint64_t *ret)
{
	uint64_t v = 0;

	if (d->next < d->end && *d->next < 0x80) {
		*ret = *d->next++;
		return true;
	}
	for (unsigned shift = 0; shift < 64 && d->next < d->end; shift += 7) {
		uint8_t byte = *d->next++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static bool get_bytes(struct decoder *d, uint64_t n, struct event *ev)
{
	if (n > (uint64_t)(d->end - d->next))
		return false;
	ev->bytes = d->next;
	ev->nbytes = n;
	d->next += n;
	return true;
}

static bool get_field(struct decoder *d, char field, struct event *ev, uint8_t seen[16])
{
	uint64_t v;
	unsigned nth = seen[(unsigned char)field & 15]++;

	if (!get_varint(d, &v))
		return false;
	switch (field) {
	case 's':
		d->site += (uint32_t)unzigzag(v);
		ev->site = d->site;
		return true;
	case 'a':
		d->address += (uint64_t)unzigzag(v);
		*(nth ? &ev->address2 : &ev->address) = d->address;
		return true;
	case 'n':
		*(nth ? &ev->n2 : &ev->n) = v;
		return true;
	case 'v':
		*(nth ? &ev->value2 : &ev->value) = v;
		return true;
	case 'r':
		ev->result = unzigzag(v);
		return true;
	case 't':
		ev->other = (uint32_t)v;
		return true;
	case 'b':
		return get_bytes(d, v, ev);
	}
	BUG("events.def: unknown field '%c'", field);
}

/* "sanv", the bulk of most traces, without looking at the letters. */
static bool get_access(struct decoder *d, struct event *ev)
{
	uint64_t site, address;

	if (!get_varint(d, &site) || !get_varint(d, &address) || !get_varint(d, &ev->n) ||
	    !get_varint(d, &ev->value))
		return false;
	ev->site = d->site += (uint32_t)unzigzag(site);
	ev->address = d->address += (uint64_t)unzigzag(address);
	return true;
}

static bool get_fields(struct decoder *d, struct event *ev)
{
	uint8_t seen[16] = { 0 };

	if (ev->kind <= PLAIT_EV_ATOMIC_WRITE)
		return get_access(d, ev);
	for (const char *f = kinds[ev->kind].fields; *f; f++)
		if (!get_field(d, *f, ev, seen))
			return false;
	return true;
}

/* PLAIT_TAG_SHORT */
static bool get_short(struct decoder *d, uint32_t tag, struct event *ev)
{
	uint64_t site, address;
	size_t size = 1u << (tag & 3);

	if (!get_varint(d, &site) || !get_varint(d, &address) || (size_t)(d->end - d->next) < size)
		return false;
	ev->kind = tag & 4 ? PLAIT_EV_WRITE : PLAIT_EV_READ;
	ev->site = d->site += (uint32_t)unzigzag(site);
	ev->address = d->address += (uint64_t)unzigzag(address);
	ev->n = size;
	memcpy(&ev->value, d->next, size); /* little-endian, like the file */
	d->next += size;
	return true;
}

static bool is_short(uint32_t tag)
{
	return tag - PLAIT_TAG_SHORT < PLAIT_TAG_SHORT_COUNT;
}

_Static_assert(PLAIT_EV_COUNT <= PLAIT_TAG_SHORT, "kinds and short forms are apart");

static void finish(struct decoder *d, struct event *ev)
{
	if (!d->clock_seen && d->clock_kind == PLAIT_CLOCK_STEPS)
		d->clock++;
	ev->thread = d->thread;
	ev->index = d->index++;
	ev->clock = d->clock;
	ev->lost = d->lost;
	d->clock_seen = false;
	d->lost = 0;
}

enum decoded decoder_next(struct decoder *d, struct event *ev)
{
	while (d->next < d->end && *d->next != 0) {
		uint32_t kind = *d->next++;

		if (kind >= PLAIT_EV_COUNT && !is_short(kind))
			return DECODED_DAMAGED;
		*ev = (struct event){ .kind = (uint8_t)kind };
		if (is_short(kind) ? !get_short(d, kind, ev) : !get_fields(d, ev))
			return DECODED_DAMAGED;
		if (kind == PLAIT_EV_CLOCK) {
			d->clock += ev->value;
			d->clock_seen = true;
		} else if (kind == PLAIT_EV_LOST) {
			d->lost += ev->n;
		} else {
			finish(d, ev);
			return DECODED_EVENT;
		}
	}
	return DECODED_END;
}
