/* trace/stamp.c - whose plait is it?
 *
 * Replaying a plait runs the command and the oracle that it names. A plait that this user made here
 * holds nothing new; one from a stranger may name anything. So every plait of a run that we have
 * started gets a stamp in its header: SipHash of all that follows the header, with a key that only
 * the user has. Without the key nobody can make the stamp, and no byte can change under it. */
#include "trace/format.h"

#include "base/secret.h"

bool stamp_begin(struct siphash *ret)
{
	uint8_t key[SIPHASH_KEY];

	if (!secret_get(key, sizeof(key)))
		return false;
	siphash_init(ret, key);
	return true;
}

bool trace_made_here(const struct trace *t)
{
	const struct format_header *h;
	uint8_t want[SIPHASH_LEN], differs = 0;
	struct siphash hash;
	size_t len;

	h = (const void *)trace_bytes(t, &len);
	if (!stamp_begin(&hash))
		return false;
	siphash_add(&hash, h + 1, len - sizeof(*h));
	siphash_end(&hash, want);
	for (size_t i = 0; i < sizeof(want); i++)
		differs |= want[i] ^ h->stamp[i];
	return !differs;
}
