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

#define WEAK __attribute__((weak))
/* libstdc++ */
extern const char _ZSt3cin[] WEAK;
extern const char _ZSt4cout[] WEAK;
extern const char _ZSt4cerr[] WEAK;
extern const char _ZSt4clog[] WEAK;
extern const char _ZSt4wcin[] WEAK;
extern const char _ZSt5wcout[] WEAK;
extern const char _ZSt5wcerr[] WEAK;
extern const char _ZSt5wclog[] WEAK;
/* libc++ */
extern const char _ZNSt3__13cinE[] WEAK;
extern const char _ZNSt3__14coutE[] WEAK;
extern const char _ZNSt3__14cerrE[] WEAK;
extern const char _ZNSt3__14clogE[] WEAK;

void rt_streams_benign(void)
{
	const struct {
		const char *object;
		uint64_t bytes; /* the libraries' binary interfaces have fixed it */
	} streams[] = {
		{ _ZSt3cin, 280 },	  { _ZSt4cout, 272 },	    { _ZSt4cerr, 272 },
		{ _ZSt4clog, 272 },	  { _ZSt4wcin, 280 },	    { _ZSt5wcout, 272 },
		{ _ZSt5wcerr, 272 },	  { _ZSt5wclog, 272 },	    { _ZNSt3__13cinE, 168 },
		{ _ZNSt3__14coutE, 160 }, { _ZNSt3__14cerrE, 160 }, { _ZNSt3__14clogE, 160 },
	};

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		if (streams[i].object)
			rt_record_sa_n(PLAIT_EV_BENIGN, 0, streams[i].object, streams[i].bytes);
}
