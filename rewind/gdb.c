/* rewind/gdb.c - see gdb.h.
 *
 * A position is a number: 0 is the suffix's beginning, the last one is the dump. Each step of the
 * suffix has as many positions as instructions. bs and s move by one, bc and c to the next
 * breakpoint or to the end. A register that is not known is sent as x's, which gdb shows as
 * <unavailable>; memory that is not known is an error at that address.
 *
 * `monitor other` goes to another suffix that leads to the dump as well, at the same distance from it. */
#include "rewind/gdb.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/remote.h"
#include "base/strbuf.h"
#include "rewind/rewind.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MEMORY = 4096, MOST_SUFFIXES = 64 };

struct server {
	struct rewind *r;
	struct remote remote;
	struct node *suffixes[MOST_SUFFIXES]; /* their beginnings, the best one first */
	size_t nsuffixes, chosen;
	VEC(const struct step *) steps; /* of the chosen one, oldest first */
	uint32_t position, last;	/* last: the dump */
	const struct past *now;
	VEC(uint64_t) breakpoints;
};

/* ---- positions ---- */

static const struct past *past_at(struct server *s, uint32_t position)
{
	for (size_t i = 0; i < s->steps.len; i++) {
		if (position < s->steps.data[i]->ninsns)
			return step_inside(&s->r->h, s->suffixes[s->chosen]->past, s->steps.data[i],
					   position);
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

/* ---- suffixes ---- */

/* The best one is the one that was confirmed; the others by rank. */
static void find_suffixes(struct server *s)
{
	struct node *all[MOST_SUFFIXES];
	size_t n = tree_leaves(&s->r->tree, all, MOST_SUFFIXES);

	if (!s->r->best)
		return;
	s->suffixes[s->nsuffixes++] = s->r->best;
	for (size_t i = 0; i < n && s->nsuffixes < MOST_SUFFIXES; i++)
		if (all[i] != s->r->best && all[i]->parent)
			s->suffixes[s->nsuffixes++] = all[i];
}

/* To the suffix number n, as far before the dump as we are. */
static void choose(struct server *s, size_t n)
{
	uint32_t back = s->last - s->position;

	s->chosen = n;
	vec_clear(&s->steps);
	s->last = 0;
	for (const struct node *k = s->nsuffixes ? s->suffixes[n] : NULL; k && k->parent;
	     k = k->parent)
		if (k->step.npieces) {
			vec_push(&s->steps, &k->step);
			s->last += k->step.ninsns;
		}
	go_to(s, s->last - MIN(back, s->last));
}

static void describe(struct server *s, size_t n, struct strbuf *out)
{
	const struct node *k = s->suffixes[n];

	strbuf_addf(out, "%c suffix %zu of %zu: %u blocks, %u instructions, from ",
		    n == s->chosen ? '*' : ' ', n + 1, s->nsuffixes, k->depth, k->insns);
	dump_names_add_place(&s->r->names, k->pc, out);
	strbuf_addc(out, '\n');
}

/* "monitor other", "monitor other 3", "monitor suffixes": the text comes and goes in hex. */
static void monitor(struct server *s, const char *hex, struct strbuf *out)
{
	struct strbuf command = { 0 }, text = { 0 };
	unsigned byte, number = 0;

	for (; sscanf(hex, "%2x", &byte) == 1 && command.len < 64; hex += 2)
		strbuf_addc(&command, (char)byte);
	if (!s->nsuffixes) {
		strbuf_adds(&text, "there is no suffix: every way to this dump contradicts it\n");
	} else if (strcmp(strbuf_str(&command), "suffixes") == 0) {
		for (size_t i = 0; i < s->nsuffixes; i++)
			describe(s, i, &text);
	} else if (strcmp(strbuf_str(&command), "other") == 0 ||
		   (sscanf(strbuf_str(&command), "other %u", &number) == 1 && number >= 1 &&
		    number <= s->nsuffixes)) {
		if (s->nsuffixes == 1)
			strbuf_adds(&text, "there is no other suffix\n");
		choose(s, number ? number - 1 : (s->chosen + 1) % s->nsuffixes);
		describe(s, s->chosen, &text);
	} else {
		strbuf_addf(&text, "the commands are: other, other N (1 to %zu), suffixes\n",
			    s->nsuffixes);
	}
	remote_add_hex(out, (const uint8_t *)text.data, text.len);
	strbuf_deinit(&command);
	strbuf_deinit(&text);
}

/* ---- state ---- */

static void add_number(struct strbuf *out, bool known, uint64_t v, unsigned bytes)
{
	remote_add_hex(out, known ? (const uint8_t *)&v : NULL, bytes);
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
		s->remote.no_ack = true;
	} else if (strncmp(q, "qXfer:auxv:read::", 17) == 0)
		remote_add_part(out, q + 17, s->r->dump.auxv.data,
				s->r->dump.auxv.len * sizeof(uint64_t));
	else if (strncmp(q, "qRcmd,", 6) == 0)
		monitor(s, q + 6, out);
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
	else if (strcmp(p, "vCont?") == 0) /* lldb has no other way to go on */
		strbuf_adds(out, "vCont;c;C;s;S");
	else if (strncmp(p, "vCont;", 6) == 0)
		move(s, 1, tolower((unsigned char)p[6]) == 'c', out);
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

	*s = (struct server){ .r = r, .remote = { .in = in, .out = out } };
	find_suffixes(s);
	choose(s, 0);
	while (more && remote_receive(&s->remote, &packet)) {
		strbuf_clear(&text);
		more = answer(s, strbuf_str(&packet), &text);
		remote_drop_repetitions(&s->remote, &packet);
		if (strbuf_str(&packet)[0] != 'k' && !remote_reply(&s->remote, &text))
			break;
	}
	strbuf_deinit(&packet);
	strbuf_deinit(&text);
	remote_deinit(&s->remote);
	vec_deinit(&s->steps);
	vec_deinit(&s->breakpoints);
	free(s);
	return NULL;
}
