/* rt/log/futex.c - mode sync: raw futexes, and other calls that are made by number.
 *
 * A wait is two operations on the word, as the control engine makes it (rt/interpose/sync-futex.c): the look at
 * the word, in one order with all atomics on it, and the end of the wait. A wait that finds another value is one.
 * When the kernel found another value after our look, the look is written down as one that failed. */
#include "rt/interpose/world.h"
#include "rt/log/order.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

static long futex_wait(const long *a)
{
	const uint32_t *word = (const uint32_t *)a[0];
	long r;
	int e;

	if (log_word_operation(word) != (uint32_t)a[2]) {
		errno = EAGAIN;
		return -1;
	}
	r = real.syscall(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
	e = errno;
	if (r < 0 && e == EAGAIN) {
		log_result(EAGAIN);
	} else {
		log_word_operation(word);
		if (r < 0)
			log_result(e);
	}
	errno = e;
	return r;
}

static long noted_syscall(long nr, ...)
{
	long a[6], r;
	va_list ap;

	plait_call_site = 0;
	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long); /* reads a little more than was passed: harmless */
	va_end(ap);
	if (recorded() && nr == SYS_futex) {
		switch ((int)a[1] & FUTEX_CMD_MASK) {
		case FUTEX_WAIT:
		case FUTEX_WAIT_BITSET:
			return futex_wait(a);
		case FUTEX_WAKE:
		case FUTEX_WAKE_BITSET:
			log_word_operation((const uint32_t *)a[0]);
			break;
		}
	} else if (recorded() && calls_by_name(nr, a, &r)) {
		return r;
	}
	return real.syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void futex_init(void)
{
	if (real.syscall)
		interpose_syscall = noted_syscall;
}
