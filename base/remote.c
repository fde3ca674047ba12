/* base/remote.c - see remote.h. */
#include "base/remote.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART_MOST = 1024 };

void remote_deinit(struct remote *r)
{
	free(r->buffer);
	r->buffer = NULL;
}

/* ---- bytes ---- */

static bool is_ready(const struct remote *r)
{
	struct pollfd wait = { .fd = r->in, .events = POLLIN };

	return r->at < r->have || poll(&wait, 1, 0) > 0;
}

/* False when the debugger is gone. */
static bool fill(struct remote *r)
{
	ssize_t n;

	if (!r->buffer)
		r->buffer = xmalloc(REMOTE_PACKET);
	if (r->at < r->have)
		return true;
	do
		n = read(r->in, r->buffer, REMOTE_PACKET);
	while (n < 0 && errno == EINTR);
	r->at = 0;
	r->have = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static int next_byte(struct remote *r)
{
	return fill(r) ? r->buffer[r->at++] : -1;
}

bool remote_is_interrupted(struct remote *r)
{
	if (!is_ready(r))
		return false;
	if (!fill(r))
		return true;
	if (r->buffer[r->at] != REMOTE_INTERRUPT)
		return false;
	r->at++;
	return true;
}

/* ---- packets ---- */

bool remote_receive(struct remote *r, struct strbuf *ret)
{
	int c;

	strbuf_clear(ret);
	do
		c = next_byte(r);
	while (c >= 0 && c != '$');
	while (c >= 0 && (c = next_byte(r)) >= 0 && c != '#' && ret->len < REMOTE_PACKET)
		strbuf_addc(ret, (char)c);
	if (c < 0 || next_byte(r) < 0 || next_byte(r) < 0)
		return false;
	return r->no_ack || write(r->out, "+", 1) == 1;
}

void remote_drop_repetitions(struct remote *r, const struct strbuf *packet)
{
	size_t len = packet->len + 4; /* $...#xx */

	if (!is_ready(r) || !fill(r))
		return;
	while (r->have - r->at >= len && r->buffer[r->at] == '$' &&
	       memcmp(r->buffer + r->at + 1, packet->data, packet->len) == 0 &&
	       r->buffer[r->at + 1 + packet->len] == '#')
		r->at += len;
}

bool remote_reply(struct remote *r, const struct strbuf *text)
{
	struct strbuf sb = { 0 };
	uint8_t sum = 0;
	bool good;

	for (size_t i = 0; i < text->len; i++)
		sum = (uint8_t)(sum + (uint8_t)text->data[i]);
	strbuf_addc(&sb, '$'); /* may contain zero bytes */
	strbuf_add(&sb, strbuf_str(text), text->len);
	strbuf_addf(&sb, "#%02x", sum);
	good = write(r->out, sb.data, sb.len) == (ssize_t)sb.len;
	strbuf_deinit(&sb);
	return good;
}

/* ---- contents ---- */

void remote_add_hex(struct strbuf *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes)
			strbuf_addf(out, "%02x", bytes[i]);
		else
			strbuf_adds(out, "xx");
}

size_t remote_read_hex(const char *text, uint8_t *to, size_t most)
{
	size_t n = 0;
	unsigned byte;

	for (; n < most && sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
		to[n] = (uint8_t)byte;
	return n;
}

void remote_add_part(struct strbuf *out, const char *asked, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t from = 0, n = 0;

	sscanf(asked, "%" SCNx64 ",%" SCNx64, &from, &n);
	n = MIN(n, (uint64_t)PART_MOST);
	strbuf_addc(out, from + n >= len ? 'l' : 'm');
	for (uint64_t i = from; i < len && i < from + n; i++) {
		if (p[i] == '#' || p[i] == '$' || p[i] == '}' || p[i] == '*') {
			strbuf_addc(out, '}');
			strbuf_addc(out, (char)(p[i] ^ 0x20));
		} else {
			strbuf_add(out, &p[i], 1);
		}
	}
}
