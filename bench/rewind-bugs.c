/* bench/rewind-bugs.c - nine bugs in one program, for bench/13-rewind-dumps.
 *
 *	rewind-bugs BUG WAY ITEMS
 *
 * A small directory of records. BUG (1 to 9) breaks a pointer of one record, each in a function of its own; WAY (0 to 3)
 * says which of four functions uses the pointer later and crashes. So one bug has several stacks, and one stack has
 * several bugs. ITEMS changes the input: how many records there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, NAME = 16 };

struct record {
	char name[NAME];
	long *amount;
	int kind;
	struct record *next;
};

static struct record records[MOST];
static long amounts[MOST];
static int items, victim;
static volatile long total;

static __attribute__((noinline)) void fill(void)
{
	for (int i = 0; i < items; i++) {
		snprintf(records[i].name, NAME, "record %d", i);
		amounts[i] = 10 * i;
		records[i].amount = &amounts[i];
		records[i].kind = i % 3;
		records[i].next = i + 1 < items ? &records[i + 1] : NULL;
	}
}

/* BUG 1: a number is taken for a pointer */
static __attribute__((noinline)) void set_amount(struct record *r, long v) { r->amount = (long *)v; }
/* BUG 2: the copy is longer than the name */
static __attribute__((noinline)) void rename_long(struct record *r, const char *name, size_t len)
{
	memcpy(r->name, name, len);
}
/* BUG 3: the loop runs over the end of the name */
static __attribute__((noinline)) void pad_name(struct record *r)
{
	for (int i = 0; i <= NAME + 7; i++)
		r->name[i] = '.';
}
/* BUG 4: the pointer is cut to 32 bits */
static __attribute__((noinline)) void move_amount(struct record *r, long *to)
{
	r->amount = (long *)(long)(int)(long)to;
}
/* BUG 5: cleared and used all the same */
static __attribute__((noinline)) void retire(struct record *r) { r->amount = NULL; }
/* BUG 6: the result of a search is not checked */
static __attribute__((noinline)) void attach(struct record *r, const char *variable)
{
	r->amount = (long *)getenv(variable);
}
/* BUG 7: the flag is kept in the pointer and never taken out */
static __attribute__((noinline)) void mark_dirty(struct record *r)
{
	r->amount = (long *)((unsigned long)r->amount | 1ul << 62);
}
/* BUG 8: all of the record is cleared, with a value that is no pointer */
static __attribute__((noinline)) void wipe(struct record *r) { memset(r, 0x5a, sizeof(*r) - 16); }
/* BUG 9: two pointers are exchanged by a trick that fails when both are the same */
static __attribute__((noinline)) void exchange(struct record *a, struct record *b)
{
	unsigned long *x = (unsigned long *)&a->amount, *y = (unsigned long *)&b->amount;

	*x ^= *y;
	*y ^= *x;
	*x ^= *y;
}

static __attribute__((noinline)) void break_it(int bug)
{
	struct record *r = &records[victim];

	switch (bug) {
	case 1: set_amount(r, 77); break;
	case 2: rename_long(r, "a name that is much too long", 24); break;
	case 3: pad_name(r); break;
	case 4: move_amount(r, &amounts[1]); break;
	case 5: retire(r); break;
	case 6: attach(r, "A_VARIABLE_THAT_IS_NOT_SET"); break;
	case 7: mark_dirty(r); break;
	case 8: wipe(r); break;
	case 9: exchange(r, r); break;
	}
}

static __attribute__((noinline)) long sum_up(struct record *r) { return *r->amount; }
static __attribute__((noinline)) void charge(struct record *r) { *r->amount -= 1; }
static __attribute__((noinline)) int compare(struct record *a, struct record *b)
{
	return *a->amount < *b->amount;
}
static __attribute__((noinline)) void list(struct record *r)
{
	if (r->kind >= 0)
		total += 2 * *r->amount;
}

int main(int argc, char **argv)
{
	int bug = argc > 1 ? atoi(argv[1]) : 0, way = argc > 2 ? atoi(argv[2]) : 0;

	items = argc > 3 ? atoi(argv[3]) : 10;
	if (items < 2 || items > MOST)
		return 2;
	victim = items / 2;
	fill();
	break_it(bug);
	for (int i = victim; i < items; i++) {
		if (way == 0)
			total += sum_up(&records[i]);
		else if (way == 1)
			charge(&records[i]);
		else if (way == 2)
			total += compare(&records[i], &records[0]);
		else
			list(&records[i]);
	}
	return 0;
}
