/* rt/control/inputs.c - files by name: those that are given to the target in place of others, and those
 * that it asked for. struct plait_inputs in unplait/control.h describes both lists.
 *
 * The list of names belongs to a session, not to a run: what constructors read before the fork server
 * stands is in it, too. */
#include "rt/control/engine.h"

#include <string.h>

static struct plait_inputs *inputs(void)
{
	return (struct plait_inputs *)((char *)control.area + PLAIT_CONTROL_INPUTS);
}

const char *control_input_find(const char *name)
{
	const struct plait_inputs *in = inputs();
	const char *at = in->given, *end = in->given + in->given_len, *path;

	while (at < end) {
		path = at + strlen(at) + 1;
		if (strcmp(at, name) == 0)
			return path;
		at = path + strlen(path) + 1;
	}
	return NULL;
}

static bool is_noted(const struct plait_inputs *in, char how, const char *name)
{
	const char *at = in->named, *end = in->named + in->named_len;

	while (at < end) {
		if (*at == how && strcmp(at + 1, name) == 0)
			return true;
		at += strlen(at) + 1;
		at += strlen(at) + 1;
	}
	return false;
}

void control_input_note(char how, const char *name, const char *path)
{
	struct plait_inputs *in = inputs();
	size_t n = strlen(name) + 1, m = strlen(path) + 1;

	if (__atomic_exchange_n(&in->lock, 1, __ATOMIC_ACQUIRE))
		return; /* a forked child is at it; a name is noted at its next use */
	if (is_noted(in, how, name)) {
	} else if (1 + n + m > sizeof(in->named) - in->named_len) {
		in->lost++;
	} else {
		char *at = in->named + in->named_len;

		*at = how;
		memcpy(at + 1, name, n);
		memcpy(at + 1 + n, path, m);
		in->named_len += (uint32_t)(1 + n + m);
	}
	__atomic_store_n(&in->lock, 0, __ATOMIC_RELEASE);
}
