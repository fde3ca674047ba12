/* crumbs/branches.c - last-branch records and traces of branches, as perf and gdb print them.
 *
 * Three forms. `perf script -F brstack` prints a record as one line: FROM/TO/FLAGS words, the newest branch first, perhaps
 * behind fields that the user asked for, too; the last record of the file counts. `perf script --itrace=b` prints
 * one branch per line, FROM => TO, the oldest first. gdb's `record instruction-history` prints every instruction, the oldest
 * first; a jump or call was taken if the next instruction is where it leads. Symbols and files behind addresses are
 * passed over: the dump knows them better. Branches into and out of the kernel are left out, because it comes back to where it
 * was entered. Where a trace has a gap, what lies before it says nothing. */
#include "crumbs/kinds.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { BRANCHES_MOST = 1 << 16 };

static bool is_kernels(uint64_t address)
{
	return address >> 47;
}

/* ---- one record per line ---- */

/* "0x401136" or "0x401136(/bin/true)", up to the slash. */
static const char *read_address(const char *at, uint64_t *ret)
{
	char *end;

	if (at[0] != '0' || at[1] != 'x' || !isxdigit((unsigned char)at[2]))
		return NULL;
	*ret = strtoull(at, &end, 16);
	if (*end == '(') {
		end = strchr(end, ')');
		if (!end)
			return NULL;
		end++;
	}
	return *end == '/' ? end + 1 : NULL;
}

/* FROM/TO/FLAGS; flags are at least P, M, X or -, so that no path or date is taken for a branch. */
static bool read_branch(const char *word, struct crumb_branch *ret)
{
	const char *at = read_address(word, &ret->from);

	at = at ? read_address(at, &ret->to) : NULL;
	return at && *at && strchr("PMXN-", *at) && (at[1] == '/' || at[1] == ' ' || !at[1]) &&
	       (ret->from || ret->to);
}

static bool read_record(struct crumbs *c, const char *line)
{
	struct crumb_branch b;
	bool found = false;

	for (const char *at = line; *at && c->branches.len < BRANCHES_MOST;) {
		at += strspn(at, " \t");
		if (*at && read_branch(at, &b)) {
			if (!found)
				c->branches.len = 0;
			found = true;
			if (!is_kernels(b.from) && !is_kernels(b.to))
				vec_push(&c->branches, b);
		}
		at += strcspn(at, " \t");
	}
	return found;
}

/* ---- one branch per line ---- */

/* "401136" or "0x401136" up to a blank or the end. */
static bool read_number(const char *at, uint64_t *ret)
{
	char *end;

	if (at[0] == '0' && at[1] == 'x')
		at += 2;
	*ret = strtoull(at, &end, 16);
	return isxdigit((unsigned char)*at) && end - at >= 4 && /* no word of a sentence */
	       (!*end || *end == ' ');
}

/* The address in front of the arrow, with a symbol and a file between them. */
static bool read_source(const char *line, const char *arrow, uint64_t *ret)
{
	for (const char *at = arrow; at > line; at--)
		if ((at == line || at[-1] == ' ' || at[-1] == '\t') && read_number(at, ret))
			return true;
	return read_number(line, ret);
}

static void add_taken(struct branch_lines *h, struct crumb_branch b)
{
	if (is_kernels(b.from) || is_kernels(b.to))
		return;
	if (h->taken.len == 2 * BRANCHES_MOST) { /* the end is what counts */
		memmove(h->taken.data, h->taken.data + BRANCHES_MOST,
			BRANCHES_MOST * sizeof(*h->taken.data));
		h->taken.len = BRANCHES_MOST;
	}
	vec_push(&h->taken, b);
}

static bool read_arrow(struct crumbs *c, const char *line)
{
	const char *arrow = strstr(line, " => ");
	struct crumb_branch b;

	/* a log may have arrows, too */
	if (arrow && !strstr(line, "branches") && !read_number(line + strspn(line, " \t"), &b.to))
		return false;
	if (!arrow || !read_number(arrow + 4 + strspn(arrow + 4, " "), &b.to) ||
	    !read_source(line, arrow, &b.from))
		return false;
	add_taken(&c->by_line, b);
	return true;
}

/* ---- one instruction per line ---- */

/* Does the instruction change the flow, and where to? 0: it does not say. */
static bool read_jump(const char *text, uint64_t *target)
{
	static const char *const prefixes[] = { "bnd ", "notrack ", "repz ", "rep " };

	*target = 0;
	text += strspn(text, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			text += strlen(prefixes[i]);
	if (*text != 'j' && strncmp(text, "call", 4) != 0 && strncmp(text, "ret", 3) != 0 &&
	    strncmp(text, "loop", 4) != 0)
		return false;
	text += strcspn(text, " \t");
	text += strspn(text, " \t");
	if (text[0] == '0' && text[1] == 'x')
		*target = strtoull(text, NULL, 16);
	return true;
}

/* "12   0x0000000000401136 <main+4>:  jne  0x401150 <main+30>" */
static bool read_instruction(struct crumbs *c, const char *line)
{
	struct branch_lines *h = &c->by_line;
	uint64_t at, before = h->insn;
	const char *colon;
	char *end;

	if (!isdigit((unsigned char)*line))
		return false;
	strtoul(line, &end, 10);
	line = end + strspn(end, " \t?");
	if (line == end || strncmp(line, "0x", 2) != 0)
		return false;
	at = strtoull(line, &end, 16);
	colon = strchr(end, ':');
	if ((*end != ' ' && *end != ':') || !colon || (*end == ' ' && end[1] != '<') ||
	    (colon[1] != '\t' && colon[1] != ' '))
		return false;
	if (before && h->jumps && (!h->target || h->target == at))
		add_taken(h, (struct crumb_branch){ before, at });
	h->insn = at;
	h->jumps = read_jump(colon + 1, &h->target);
	return true;
}

static bool is_gap(const char *line)
{
	return (line[0] == '[' && (strstr(line, "disabled]") || strstr(line, "overflow]") ||
				   strstr(line, "decode error"))) ||
	       strstr(line, "instruction trace error");
}

bool crumbs_read_branches(struct crumbs *c, const char *line)
{
	if (is_gap(line)) {
		c->by_line.taken.len = 0;
		c->by_line.insn = 0;
		return true;
	}
	return read_record(c, line) || read_arrow(c, line) || read_instruction(c, line);
}

void crumbs_end_branches(struct crumbs *c)
{
	struct branch_lines *h = &c->by_line;

	if (h->taken.len)
		c->branches.len = 0;
	for (size_t i = h->taken.len; i-- > 0 && c->branches.len < BRANCHES_MOST;)
		vec_push(&c->branches, h->taken.data[i]);
	vec_deinit(&h->taken);
	*h = (struct branch_lines){ 0 };
}
