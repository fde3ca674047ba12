/* test-predicate.c - C expressions over global variables: the compiler itself says what they are. */
#include "base/err.h"
#include "debug/predicate.h"
#include "sched/predicate.h"

#include <criterion/criterion.h>
#include <link.h>
#include <string.h>

enum predicate_test_colour { PT_RED, PT_GREEN = 7 };
struct predicate_test_node {
	struct predicate_test_node *next;
	struct {
		short low, high;
	} range;
	union {
		unsigned long whole;
		unsigned char bytes[8];
	};
	unsigned bits : 3;
};

/* the optimiser leaves them in memory */
#define KEPT __attribute__((used)) static
KEPT volatile int pt_minus = -3, pt_seven = 7, pt_zero;
KEPT volatile unsigned pt_unsigned = 5, pt_top = 0xfffffff0;
KEPT volatile unsigned long pt_long = ~0ul;
KEPT volatile long pt_low = -0x7fffffffffffffffl - 1;
KEPT volatile unsigned char pt_byte = 250;
KEPT volatile signed char pt_signed = -6;
KEPT volatile _Bool pt_true = 1;
KEPT volatile enum predicate_test_colour pt_colour = PT_GREEN;
KEPT volatile double pt_real = 1.5;
KEPT int pt_grid[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } };
KEPT struct predicate_test_node pt_second = { .range = { -9, 9 }, .whole = 0x0102030405060708 };
KEPT struct predicate_test_node pt_first = { .next = &pt_second, .range = { -2, 2 }, .bits = 5 };
KEPT struct predicate_test_node *pt_head = &pt_first, *pt_none;
KEPT void *volatile pt_bad = (void *)8;

static bool read_own(uint64_t address, void *to, size_t n)
{
	if (address < 4096)
		return false;
	memcpy(to, (const void *)address, n);
	return true;
}

static int take_first(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

static enum predicate_answer answer(const char *text)
{
	struct predicate_memory m = { .read = read_own };
	struct plait_predicate p;
	struct err *err = predicate_compile(text, "/proc/self/exe", &p);

	cr_assert_null(err, "%s", err ? err_message(err) : "");
	dl_iterate_phdr(take_first, &m.load_address);
	return predicate_evaluate(&p, &m);
}

#pragma GCC diagnostic ignored "-Wsign-compare" /* C's own answer is what we want */
#define SAME(e)                                                                                    \
	cr_expect_eq(answer(#e), (e) ? PREDICATE_HOLDS : PREDICATE_BROKEN, "%s: %s", #e,           \
		     (e) ? "true" : "false")
/* its value in every bit, not only whether it is 0 */
#define EXACT(e)                                                                                   \
	do {                                                                                       \
		char text[256];                                                                    \
		snprintf(text, sizeof(text), "(%s) == %lldll", #e, (long long)(e));                \
		cr_expect_eq(answer(text), PREDICATE_HOLDS, "%s", text);                           \
	} while (0)

Test(predicate, operators)
{
	EXACT(pt_minus + pt_seven * 2 - 1);
	EXACT(pt_seven / 2 % 2 + -pt_minus);
	EXACT(pt_minus / 2);
	EXACT(pt_minus % 2);
	EXACT(pt_minus >> 1);
	EXACT(pt_seven << 3 | pt_zero ^ 5 & 6);
	EXACT(~pt_seven & 0xff);
	EXACT(pt_low / 3);
	EXACT((pt_seven + 1) * (pt_seven - 1));
	SAME(!pt_zero && !!pt_seven);
	SAME(pt_zero || pt_seven && pt_zero);
	SAME((pt_zero || pt_seven) && pt_zero);
	SAME(pt_seven == 7 != pt_zero);
	SAME(pt_minus < pt_zero == 1);
	SAME(pt_seven >= 7 && pt_seven <= 7 && !(pt_seven > 7) && !(pt_seven < 7));
	EXACT(pt_zero ? 1 / pt_zero : 4);
	EXACT(pt_seven ? pt_zero ? 1 : 2 : 3);
}

Test(predicate, types)
{
	SAME(pt_minus < pt_unsigned); /* false in C: -3 becomes unsigned */
	SAME(pt_byte + pt_byte == 500);
	SAME(pt_signed < 0 && pt_byte > 0);
	SAME(pt_unsigned - 6 > 0);
	SAME(pt_top + 16 == 0);
	SAME(pt_top * 2 > pt_top);
	SAME(pt_long > 5);
	SAME(pt_long == -1);
	SAME(pt_long / 2 > pt_long / 4);
	SAME(pt_low < 0 && pt_low - 0 < pt_minus);
	SAME(-1 < 1u);
	SAME(0x80000000 > 0);
	SAME(2147483648 > 0);
	SAME(pt_true == 1 && pt_colour == 7);
	SAME('a' == 97 && '\n' == 10);
	EXACT(pt_byte << 24 >> 24);
	EXACT(pt_true ? pt_unsigned : pt_minus);
	EXACT(pt_zero ? pt_unsigned : pt_minus);
}

Test(predicate, ways_into_variables)
{
	EXACT(pt_grid[2][1]);
	EXACT(*pt_grid[1]);
	EXACT(pt_grid[pt_unsigned - 4][pt_first.range.high]);
	EXACT(pt_head->next->range.low);
	EXACT((*pt_head).range.low);
	EXACT(pt_second.bytes[2]);
	EXACT(pt_second.whole);
	SAME(pt_head == &pt_first);
	SAME(pt_head->next != &pt_first && !pt_none);
	SAME(!pt_none || pt_none->range.low == 4);
	SAME(&pt_head->next->range != &pt_first.range);
}

Test(predicate, what_cannot_be_known)
{
	cr_expect_eq(answer("pt_none->range.low == 0"), PREDICATE_UNKNOWN);
	cr_expect_eq(answer("1 / pt_zero"), PREDICATE_UNKNOWN);
	cr_expect_eq(answer("pt_zero && pt_none->range.low"), PREDICATE_BROKEN);
	cr_expect_eq(answer("pt_bad == 8 || pt_none->range.low"), PREDICATE_HOLDS);
}

static void is_refused(const char *text, const char *why)
{
	struct plait_predicate p;
	struct err *err = predicate_compile(text, "/proc/self/exe", &p);

	cr_assert_not_null(err, "%s", text);
	cr_expect(strstr(err_message(err), why), "%s: %s", text, err_message(err));
	err_free(err);
}

Test(predicate, bad_expressions)
{
	char deep[400], *at = deep;

	is_refused("", "something is missing at its end");
	is_refused("pt_seven +", "something is missing at its end");
	is_refused("pt_seven = 3", "cannot be understood");
	is_refused("pt_nothing", "pt_nothing is no global variable");
	is_refused("(pt_seven", ") is missing");
	is_refused("pt_seven.low", "low is no member there");
	is_refused("pt_head.range", "range is no member there");
	is_refused("pt_first.bits == 5", "bits is a bit-field");
	is_refused("pt_real > 1", "neither an integer nor a pointer");
	is_refused("pt_first", "neither an integer nor a pointer");
	is_refused("pt_seven == 1.5", "is not an integer");
	is_refused("*pt_seven", "used as a pointer and is none");
	is_refused("*pt_bad", "used as a pointer and is none");
	is_refused("pt_head + 1", "reckons with a pointer");
	is_refused("pt_seven(3)", "calls a function");
	memset(at, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	is_refused(deep, "too deep");
	for (at = deep; at < deep + 390; at += 2)
		memcpy(at, "-+", 3);
	is_refused(deep, "too deep");
}
