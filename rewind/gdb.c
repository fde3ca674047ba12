/* rewind/gdb.c - see gdb.h.
 *
 * A position is a number: 0 is the suffix's beginning, the last one is the dump. Each step of the
 * suffix has as many positions as instructions. bs and s move by one, bc and c to the next
 * breakpoint or to the end. A register that is not known is sent as x's, which gdb shows as
 * <unavailable>; memory that is not known is an error at that address. */
#include "rewind/gdb.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "rewind/rewind.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MEMORY = 4096, PACKET = 1 << 14 };

struct server {
	struct rewind *r;
	int in, out;
	bool no_ack;
	VEC(const struct step *) steps; /* oldest first */
	uint32_t position, last;	/* last: the dump */
	const struct past *now;
	VEC(uint64_t) breakpoints;
	uint8_t buffer[PACKET];
	size_t at, have;
};

/* ---- positions ---- */

static const struct past *past_at(struct server *s, uint32_t position)
{
	for (size_t i = 0; i < s->steps.len; i++) {
		if (position < s->steps.data[i]->ninsns)
			return step_inside(&s->r->h, s->r->best->past, s->steps.data[i], position);
		position -= s->steps.data[i]->ninsns;
	}
	return s->r->start;
}

static uint64_t pc_at(struct server *s, uint32_t position)
{
	for (size_t i = 0; i < s->steps.len; i++) {
		const struct step *t = s->steps.data[i];

		if (position >= t->ninsns) {
			position -= t->ninsns;
			continue;
		}
		for (uint32_t k = 0; k < t->npieces; k++) {
			const struct piece *p = &t->pieces[k];

			if (position < p->n)
				return p->function->insns.data[p->first + position].address;
			position -= p->n;
		}
	}
	return s->r->start->pc;
}

static void go_to(struct server *s, uint32_t position)
{
	s->position = position;
	s->now = past_at(s, position);
}

static bool is_breakpoint(const struct server *s, uint64_t pc)
{
	for (size_t i = 0; i < s->breakpoints.len; i++)
		if (s->breakpoints.data[i] == pc)
			return true;
	return false;
}

/* Why it stopped, as gdb wants it. */
static void move(struct server *s, int by, bool on, struct strbuf *out)
{
	uint32_t p = s->position;

	do {
		if ((by < 0 && p == 0) || (by > 0 && p == s->last)) {
			go_to(s, p);
			strbuf_addf(out, "T05replaylog:%s;", by < 0 ? "begin" : "end");
			return;
		}
		p = by < 0 ? p - 1 : p + 1;
	} while (on && !is_breakpoint(s, pc_at(s, p)));
	go_to(s, p);
	strbuf_adds(out, "T05");
}

/* ---- state ---- */

static void add_number(struct strbuf *out, bool known, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		if (known)
			strbuf_addf(out, "%02x", (unsigned)(v >> 8 * i & 0xff));
		else
			strbuf_adds(out, "xx");
}

/* rax rbx rcx rdx rsi rdi rbp rsp r8-r15 rip, then eflags and six segments of 32 bits. */
static void add_register(struct server *s, unsigned n, struct strbuf *out)
{
	static const uint8_t ours[16] = { LIFT_RAX, LIFT_RBX, LIFT_RCX, LIFT_RDX,
					  LIFT_RSI, LIFT_RDI, LIFT_RBP, LIFT_RSP,
					  LIFT_R8,  LIFT_R9,  LIFT_R10, LIFT_R11,
					  LIFT_R12, LIFT_R13, LIFT_R14, LIFT_R15 };
	static const uint8_t at[] = { 0, 2, 4, 6, 7, 11, 10 };
	const struct user_regs_struct *d = &s->r->dump.threads.data[s->r->thread].registers;
	const uint64_t segments[6] = { d->cs, d->ss, d->ds, d->es, d->fs, d->gs };
	uint64_t v = 0, bit;
	bool known = true;

	if (n < 16) {
		known = past_value(&s->r->h, s->now, s->now->registers[ours[n]], &v);
		add_number(out, known, v, 8);
	} else if (n == 16) {
		add_number(out, true, pc_at(s, s->position), 8);
	} else if (n == 17) {
		v = 0x202;
		for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
			known &= past_value(&s->r->h, s->now, s->now->registers[LIFT_CF + i], &bit);
			v |= (known ? bit : 0) << at[i];
		}
		add_number(out, known, v, 4);
	} else {
		add_number(out, true, segments[n - 18], 4);
	}
}

static void add_memory(struct server *s, uint64_t at, uint64_t len, struct strbuf *out)
{
	uint64_t v;

	for (uint64_t i = 0; i < MIN(len, (uint64_t)MOST_MEMORY); i++) {
		if (!past_value(&s->r->h, s->now, past_byte(&s->r->h, s->now, at + i), &v))
			break;
		strbuf_addf(out, "%02x", (unsigned)v);
	}
	if (!out->len)
		strbuf_adds(out, "E14");
}

/* ---- packets ---- */

static int next_byte(struct server *s)
{
	ssize_t n;

	if (s->at == s->have) {
		do
			n = read(s->in, s->buffer, sizeof(s->buffer));
		while (n < 0 && errno == EINTR);
		if (n <= 0)
			return -1;
		s->at = 0;
		s->have = (size_t)n;
	}
	return s->buffer[s->at++];
}

/* The contents of the next packet; false when the debugger is gone. */
static bool receive(struct server *s, struct strbuf *ret)
{
	int c;

	strbuf_clear(ret);
	do
		c = next_byte(s);
	while (c >= 0 && c != '$');
	while (c >= 0 && (c = next_byte(s)) >= 0 && c != '#' && ret->len < PACKET)
		strbuf_addc(ret, (char)c);
	if (c < 0 || next_byte(s) < 0 || next_byte(s) < 0)
		return false;
	return s->no_ack || write(s->out, "+", 1) == 1;
}

/* The debugger repeats a packet when the answer takes long (the walk back comes before the first one):
 * drop what is waiting and says the same. */
static void drop_repetitions(struct server *s, const struct strbuf *packet)
{
	struct pollfd wait = { .fd = s->in, .events = POLLIN };
	size_t len = packet->len + 4; /* $...#xx */

	if (s->at == s->have && poll(&wait, 1, 0) <= 0)
		return;
	if (s->at == s->have) {
		ssize_t n = read(s->in, s->buffer, sizeof(s->buffer));

		s->at = 0;
		s->have = n > 0 ? (size_t)n : 0;
	}
	while (s->have - s->at >= len && s->buffer[s->at] == '$' &&
	       memcmp(s->buffer + s->at + 1, packet->data, packet->len) == 0 &&
	       s->buffer[s->at + 1 + packet->len] == '#')
		s->at += len;
}

static bool reply(struct server *s, const struct strbuf *text)
{
	struct strbuf sb = { 0 };
	uint8_t sum = 0;
	bool good;

	for (size_t i = 0; i < text->len; i++)
		sum = (uint8_t)(sum + (uint8_t)text->data[i]);
	strbuf_addc(&sb, '$'); /* may contain zero bytes */
	strbuf_add(&sb, strbuf_str(text), text->len);
	strbuf_addf(&sb, "#%02x", sum);
	good = write(s->out, sb.data, sb.len) == (ssize_t)sb.len;
	strbuf_deinit(&sb);
	return good;
}

/* "qXfer:auxv:read::0,1000": where the program lies, in binary. */
static void add_auxv(struct server *s, const char *arguments, struct strbuf *out)
{
	const uint8_t *p = (const uint8_t *)s->r->dump.auxv.data;
	uint64_t len = s->r->dump.auxv.len * sizeof(uint64_t), from = 0, n = 0;

	sscanf(arguments, "%" SCNx64 ",%" SCNx64, &from, &n);
	n = MIN(n, 1024u);
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

static void breakpoint(struct server *s, const char *packet, struct strbuf *out)
{
	uint64_t at;

	if (sscanf(packet + 2, ",%" SCNx64, &at) != 1 || packet[1] > '1') {
		return; /* watchpoints: gdb steps by itself */
	}
	for (size_t i = 0; i < s->breakpoints.len; i++)
		if (s->breakpoints.data[i] == at)
			s->breakpoints.data[i] = 0;
	if (packet[0] == 'Z')
		vec_push(&s->breakpoints, at);
	strbuf_adds(out, "OK");
}

static void query(struct server *s, const char *q, struct strbuf *out)
{
	if (strncmp(q, "qSupported", 10) == 0)
		strbuf_adds(out, "PacketSize=2000;ReverseStep+;ReverseContinue+;"
				 "qXfer:auxv:read+;QStartNoAckMode+");
	else if (strcmp(q, "QStartNoAckMode") == 0) {
		strbuf_adds(out, "OK");
		s->no_ack = true;
	} else if (strncmp(q, "qXfer:auxv:read::", 17) == 0)
		add_auxv(s, q + 17, out);
	else if (strcmp(q, "qAttached") == 0)
		strbuf_adds(out, "1");
	else if (strcmp(q, "qC") == 0)
		strbuf_adds(out, "QC1");
	else if (strcmp(q, "qfThreadInfo") == 0)
		strbuf_adds(out, "m1");
	else if (strcmp(q, "qsThreadInfo") == 0)
		strbuf_adds(out, "l");
}

/* The answer to a packet; false: the debugger leaves. Empty means "not supported". */
static bool answer(struct server *s, const char *p, struct strbuf *out)
{
	uint64_t at, len;

	if (p[0] == '?')
		strbuf_addf(out, "T%02x", s->r->dump.signal & 0xff);
	else if (p[0] == 'g')
		for (unsigned i = 0; i < 24; i++)
			add_register(s, i, out);
	else if (p[0] == 'p' && sscanf(p + 1, "%" SCNx64, &at) == 1 && at < 24)
		add_register(s, (unsigned)at, out);
	else if (p[0] == 'm' && sscanf(p + 1, "%" SCNx64 ",%" SCNx64, &at, &len) == 2)
		add_memory(s, at, len, out);
	else if (strcmp(p, "bs") == 0 || strcmp(p, "bc") == 0)
		move(s, -1, p[1] == 'c', out);
	else if (p[0] == 's' || p[0] == 'c')
		move(s, 1, p[0] == 'c', out);
	else if (p[0] == 'H' || p[0] == 'T' || p[0] == '!')
		strbuf_adds(out, p[0] == '!' ? "" : "OK");
	else if (p[0] == 'Z' || p[0] == 'z')
		breakpoint(s, p, out);
	else if (p[0] == 'q' || p[0] == 'Q')
		query(s, p, out);
	else if (p[0] == 'M' || p[0] == 'X' || p[0] == 'G' || p[0] == 'P')
		strbuf_adds(out, "E01"); /* the past cannot be changed */
	else if (p[0] == 'D')
		strbuf_adds(out, "OK");
	return p[0] != 'D' && p[0] != 'k';
}

struct err *gdb_serve(struct rewind *r, int in, int out)
{
	struct server *s = xcalloc(1, sizeof(*s));
	struct strbuf packet = { 0 }, text = { 0 };
	bool more = true;

	*s = (struct server){ .r = r, .in = in, .out = out };
	for (const struct node *n = r->best; n && n->parent; n = n->parent)
		if (n->step.npieces) {
			vec_push(&s->steps, &n->step);
			s->last += n->step.ninsns;
		}
	go_to(s, s->last);
	while (more && receive(s, &packet)) {
		strbuf_clear(&text);
		more = answer(s, strbuf_str(&packet), &text);
		drop_repetitions(s, &packet);
		if (strbuf_str(&packet)[0] != 'k' && !reply(s, &text))
			break;
	}
	strbuf_deinit(&packet);
	strbuf_deinit(&text);
	vec_deinit(&s->steps);
	vec_deinit(&s->breakpoints);
	free(s);
	return NULL;
}
