/* rt/core/streams.c - the standard streams of C++ are nobody's race.
 *
 * The standard says that threads may use std::cout and its siblings at the same time ([iostream.objects.
 * overview]: "does not result in a data race"). libstdc++ sets their width and fill character without
 * a lock all the same, in functions that are compiled into the program. So the memory of these objects
 * is named benign, as a program could do itself with AnnotateBenignRaceSized, before its second thread
 * begins. Streams that the program makes are its own affair.
 *
 * The names are weak: a program in C has none of them. */
#include "rt/core/rt.h"

/* clang-format off: name, and the size that the library's binary interface has fixed */
#define STREAMS(X)                                                                                 \
	X(_ZSt3cin, 280)                                                                           \
	X(_ZSt4cout, 272)                                                                          \
	X(_ZSt4cerr, 272)                                                                          \
	X(_ZSt4clog, 272) X(_ZSt4wcin, 280) X(_ZSt5wcout, 272) X(_ZSt5wcerr, 272)                  \
		X(_ZSt5wclog, 272) X(_ZNSt3__13cinE, 168) X(_ZNSt3__14coutE, 160)                  \
			X(_ZNSt3__14cerrE, 160) X(_ZNSt3__14clogE, 160)
/* clang-format on */

#define DECLARE(name, bytes) extern const char name[] __attribute__((weak));
STREAMS(DECLARE)

#define ROW(name, bytes) { name, bytes },
void rt_streams_benign(void)
{
	const struct {
		const char *object;
		uint64_t bytes;
	} streams[] = { STREAMS(ROW) };

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		if (streams[i].object)
			rt_record_sa_n(PLAIT_EV_BENIGN, 0, streams[i].object, streams[i].bytes);
}
