/* cc/expand/bodies/body.h - how the bodies of library functions are written.
 *
 * body_NAME is what NAME does, as far as memory that two threads may share is concerned. cc puts it
 * in the place of a call (cc/expand/expand.c), so that its accesses are accesses of the program, at
 * the line of the call.
 *
 * The rules:
 * - An address is an argument and an index (`s[i]`), never a pointer that walks: then the analysis
 *   knows what it points to. Links of lists and trees may be followed.
 * - Everything is always inlined. There are no variables of static storage here; those that
 *   functions of libc keep are in the runtime (rt/modes/state.c).
 * - The real function may be called, but only with memory that nobody shares.
 *
 * These files are compiled to bitcode without debug information: that gives every instruction the
 * line of the call. */
#ifndef CC_EXPAND_BODY_H
#define CC_EXPAND_BODY_H

#include <stddef.h>
#include <stdint.h>

#define BODY   __attribute__((always_inline))
#define INSIDE static inline __attribute__((always_inline))

typedef uint16_t any2 __attribute__((may_alias, aligned(1)));
typedef uint32_t any4 __attribute__((may_alias, aligned(1)));
typedef uint64_t any8 __attribute__((may_alias, aligned(1)));

/* A copy is not atomic. Up to this many bytes it is made word by word, a longer one in pieces. */
enum { BY_WORDS = 128, PIECES = 8 };

INSIDE size_t piece_of(size_t n)
{
	return (n / PIECES + 7) & ~(size_t)7;
}

/* Upwards: right for d below s, and for memory that does not overlap. */
INSIDE void copy_up(char *d, const char *s, size_t n)
{
	size_t i = 0, piece = piece_of(n);

	if (n > BY_WORDS) {
		for (; n - i > piece; i += piece)
			__builtin_memmove(d + i, s + i, piece);
		__builtin_memmove(d + i, s + i, n - i);
		return;
	}
	for (; n - i >= 8; i += 8)
		*(any8 *)(d + i) = *(const any8 *)(s + i);
	if (n - i >= 4) {
		*(any4 *)(d + i) = *(const any4 *)(s + i);
		i += 4;
	}
	if (n - i >= 2) {
		*(any2 *)(d + i) = *(const any2 *)(s + i);
		i += 2;
	}
	if (n - i)
		d[i] = s[i];
}

INSIDE size_t text_length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* Bytes on the stack that a call may have as memory of its own (cc/expand/arguments.c). */
enum { SMALL = 256 };
void *malloc(size_t n);
void free(void *p);

#endif
