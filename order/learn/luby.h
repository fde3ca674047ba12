/* order/learn/luby.h - how long to search before starting over: the sequence of Luby, Sinclair and
 * Zuckerman (1 1 2 1 1 2 4 ...), which is within a constant factor of the best for any search. */
#ifndef ORDER_LEARN_LUBY_H
#define ORDER_LEARN_LUBY_H

#include <assert.h>
#include <stdint.h>

/* The i-th number, counted from 1. */
static inline uint64_t luby(uint64_t i)
{
	assert(i > 0);
	for (;;) {
		uint64_t k = 1;

		while ((UINT64_C(1) << k) - 1 < i)
			k++;
		if ((UINT64_C(1) << k) - 1 == i)
			return UINT64_C(1) << (k - 1);
		i -= (UINT64_C(1) << (k - 1)) - 1;
	}
}

#endif
