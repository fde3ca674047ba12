/* Debugging fidelity, efficiency and utility (base/fidelity.h) against the text's own examples. */
#include "base/fidelity.h"

#include <criterion/criterion.h>

static double df(unsigned original, unsigned other, unsigned wrong, unsigned causes)
{
	struct executions e = { original, other, wrong, causes };

	return fidelity_of(&e, 1, 1).df;
}

Test(fidelity, examples)
{
	cr_assert_eq(df(1, 0, 0, 1), 1);
	cr_assert_eq(df(0, 0, 1, 1), 0);
	cr_assert_eq(df(0, 1, 0, 2), 0.5);
	cr_assert_eq(df(1, 1, 0, 2), 0.75);
	cr_assert_eq(df(2, 0, 2, 0), 0.5);
}

Test(fidelity, nothing)
{
	struct executions none = { 0 }, one = { .original = 1 };
	struct fidelity f = fidelity_of(&none, 1, 1);

	cr_assert(f.df == 0 && f.de == 0 && f.du == 0);
	f = fidelity_of(&one, 1, 0);
	cr_assert(f.df == 1 && f.de == 0 && f.du == 0);
	f = fidelity_of(&(struct executions){ .original = 1, .wrong = 1 }, 1, 4);
	cr_assert(f.df == 0.5 && f.de == 0.25 && f.du == 0.125);
}
