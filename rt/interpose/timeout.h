/* rt/interpose/timeout.h - deadlines in virtual time. */
#ifndef RT_INTERPOSE_TIMEOUT_H
#define RT_INTERPOSE_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* What the clocks show when a controlled run begins, in ns. */
#define VIRTUAL_REALTIME  1767225600000000000ull /* 2026-01-01 */
#define VIRTUAL_MONOTONIC 1000000000000ull

static inline uint64_t timespec_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000ull + (uint64_t)ts->tv_nsec;
}

static inline bool timespec_valid(const struct timespec *ts)
{
	return ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000;
}

static inline uint64_t virtual_base(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI
		       ? VIRTUAL_REALTIME
		       : VIRTUAL_MONOTONIC;
}

/* An absolute time of a clock as virtual time; never 0, which means "no deadline". */
static inline uint64_t timeout_at(clockid_t clock, const struct timespec *ts)
{
	uint64_t t = ts->tv_sec < 0 ? 0 : timespec_ns(ts), base = virtual_base(clock);

	return t > base ? t - base : 1;
}

#endif
