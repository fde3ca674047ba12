/* base/remote.h - packets of gdb's remote protocol over two descriptors.
 *
 *	struct remote r = { .in = 0, .out = 1 };
 *
 *	while (remote_receive(&r, &packet)) {
 *		...
 *		remote_reply(&r, &answer);      // empty: not supported
 *	}
 *	remote_deinit(&r);
 *
 * Only the framing: what packets mean is the caller's. */
#ifndef BASE_REMOTE_H
#define BASE_REMOTE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REMOTE_PACKET = 1 << 14, REMOTE_INTERRUPT = 3 };

struct remote {
	int in, out;
	bool no_ack; /* after QStartNoAckMode */
	uint8_t *buffer;
	size_t at, have;
};

void remote_deinit(struct remote *r); /* closes nothing */
/* The contents of the next packet; false when the debugger is gone. */
bool remote_receive(struct remote *r, struct strbuf *ret);
bool remote_reply(struct remote *r, const struct strbuf *text);
/* The debugger repeats a packet when the answer takes long: drop what is waiting and says the same. */
void remote_drop_repetitions(struct remote *r, const struct strbuf *packet);
/* Has the debugger asked to interrupt what runs, or left? Does not wait. */
bool remote_is_interrupted(struct remote *r);

/* "1f00" for bytes; xx for those that are not known (NULL). */
void remote_add_hex(struct strbuf *out, const uint8_t *bytes, size_t len);
/* Hexadecimal into at most `most` bytes; how many. */
size_t remote_read_hex(const char *text, uint8_t *to, size_t most);
/* Part of an object, as qXfer wants it: "m" or "l" and the bytes. asked: "0,1000". */
void remote_add_part(struct strbuf *out, const char *asked, const void *data, size_t len);

#endif
