#!/usr/bin/env bash
# Code that is hard to run symbolically: it runs like natively, or is refused at its line with what to do.
# level: check
. "$(dirname "$0")/lib.sh"

agrees() { # FILE WHAT [ARG...]: the machine prints what the native program prints
	local cc=clang-19 f=$1 what=$2
	shift 2
	case $f in *.cc) cc=clang++-19 ;; esac
	$cc -w -O1 -o native "$f" -lm && ./native "$@" >want
	"$UNPLAIT" sym run "$f" "$@" >got 2>err && cmp -s want got && ok "$what" || not_ok "$what" "$(diff want got)" "$(head -2 err)"
}

cat >asm.c <<'C'
#include <stdio.h>
int main(int argc, char **argv)
{
	int x = argc;
	__asm__ volatile("" : "+r"(x)::"memory");
	if (argc > 1)
		__asm__ volatile("bsr %1, %0" : "=r"(x) : "r"(argc));
	printf("%d\n", x);
	return 0;
}
C
agrees asm.c "assembly that only orders is fine"
run 3 unplait sym run asm.c 1
has err 'inline assembly "bsr' "assembly that computes is refused"
has err "asm.c:7" "at its line"
has err "portable C version" "with what to do"

cat >vectors.c <<'C'
#include <stdio.h>
typedef int v4 __attribute__((vector_size(16)));
int main(int argc, char **argv)
{
	v4 a = { 1, 2, 3, argc }, b = { 10, 20, 30, 40 };
	v4 c = a * b + a, m = c > 60, s = __builtin_shufflevector(a, b, 3, 4, 0, 7);
	printf("%d %d %d %d %d %d\n", c[0], c[1], c[2], c[3], m[3], s[1] + s[3]);
	return 0;
}
C
agrees vectors.c "vectors" 1 2 3

cat >varargs.c <<'C'
#include <stdarg.h>
#include <stdio.h>
struct p { long a, b, c; };
static double sum(int n, ...)
{
	va_list ap, aq;
	double s = 0;
	va_start(ap, n);
	va_copy(aq, ap);
	for (int i = 0; i < n; i++)
		s += i % 2 ? va_arg(ap, double) : va_arg(ap, int);
	struct p p = va_arg(ap, struct p);
	s += p.c + va_arg(aq, int);
	va_end(ap);
	va_end(aq);
	return s;
}
int main(void)
{
	struct p p = { 1, 2, 3 };
	printf("%g\n", sum(12, 1, 2.5, 3, 4.5, 5, 6.5, 7, 8.5, 9, 10.5, 11, 12.5, p));
	return 0;
}
C
agrees varargs.c "variable arguments, copied lists, structures among them"

cat >goto.c <<'C'
#include <stdio.h>
int main(int argc, char **argv)
{
	static void *const t[] = { &&inc, &&dbl, &&end };
	const char *p = argc > 1 ? argv[1] : "0102";
	int x = 1;
	goto *t[*p++ - '0'];
inc: x++; goto *t[*p ? *p++ - '0' : 2];
dbl: x *= 2; goto *t[*p ? *p++ - '0' : 2];
end: printf("%d\n", x);
	return 0;
}
C
agrees goto.c "computed goto" 0110011

cat >jump.c <<'C'
#include <setjmp.h>
#include <stdio.h>
static jmp_buf b;
static sigjmp_buf sb;
static void deep(int n) { if (n == 0) longjmp(b, 7); deep(n - 1); }
int main(void)
{
	volatile int k = 1;
	int r = setjmp(b);
	if (r == 0) { k = 5; deep(3); }
	printf("%d %d\n", r, k);
	if (sigsetjmp(sb, 1) == 0) siglongjmp(sb, 0);
	else puts("back");
	return 0;
}
C
agrees jump.c "setjmp and longjmp"
cat >gone.c <<'C'
#include <setjmp.h>
static jmp_buf b;
__attribute__((noinline)) static int set(void) { return setjmp(b); }
int main(void)
{
	if (set() == 0)
		longjmp(b, 1);
	return 0;
}
C
run 3 unplait sym run gone.c
has err "has returned" "a jump to a function that is gone is refused"
has err "gone.c:7"

cat >throw.cc <<'C'
#include <cstdio>
int main(int argc, char **argv)
{
	try {
		if (argc > 1)
			throw 42;
		std::puts("calm");
	} catch (int x) {
		std::printf("caught %d\n", x);
	}
	return 0;
}
C
agrees throw.cc "C++ that does not throw"
agrees throw.cc "C++ that throws" 1
cat >classes.cc <<'C'
#include <cstdio>
#include <cstring>
#include <pthread.h>
struct base { virtual ~base() {} int code = 7; };
struct other { virtual ~other() {} int more = 3; };
struct derived : base { derived() { code = 9; } };
struct both : base, other { both() { more = 11; } };
struct guard { const char *n; ~guard() { printf("leave %s\n", n); } };
static void thrower(int k)
{
	guard g{ "thrower" };
	switch (k) {
	case 0: throw 42;
	case 1: throw derived();
	case 2: throw both();
	case 3: throw "text";
	case 4: throw 2.5;
	}
	printf("no throw\n");
}
static int middle(int k)
{
	guard g{ "middle" };
	try {
		thrower(k);
	} catch (int i) {
		printf("int %d\n", i);
		return i;
	} catch (other &o) {
		printf("other %d\n", o.more);
		throw;
	}
	return -1;
}
static void *work(void *arg)
{
	for (int k = 0; k < 6; k++) {
		try {
			printf("%d -> %d\n", k, middle(k));
		} catch (base &b) {
			printf("base %d\n", b.code);
		} catch (const char *s) {
			printf("text %s\n", s);
		} catch (...) {
			printf("something\n");
			try { throw k; } catch (int i) { printf("nested %d\n", i); }
		}
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, nullptr, work, nullptr);
	pthread_join(t, nullptr);
	if (argc > 1)
		throw derived();
	return 0;
}
C
agrees classes.cc "handlers by class, clean-up on the way, throwing again, in a thread"
run 1 unplait sym run classes.cc 1
has err "an exception that nobody catches: _ZTI7derived"
cat >library.cc <<'C'
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#include <mutex>
struct mine : std::runtime_error { int n; mine(int n) : std::runtime_error("mine"), n(n) {} };
static std::mutex m;
static int f(int k)
{
	std::lock_guard<std::mutex> l(m);
	std::vector<int> v{ 1, 2, 3 };
	if (k == 0) throw std::runtime_error("first");
	if (k == 1) throw mine(5);
	if (k == 2) throw std::invalid_argument(std::string("arg"));
	return v.at(k);
}
int main()
{
	for (int k = 0; k < 6; k++) {
		try {
			printf("%d\n", f(k));
		} catch (const mine &e) {
			printf("mine %d %s\n", e.n, e.what());
		} catch (const std::logic_error &e) {
			printf("logic%s\n", k == 2 ? e.what() : "");
		} catch (const std::exception &e) {
			printf("std %s\n", e.what());
		}
	}
}
C
agrees library.cc "exceptions of the library, and classes derived from them"

cat >real.c <<'C'
#include <math.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	double x = argc * 0.1, z = 0;
	float f = 1.1f;
	long double l = 3.0L / argc;
	printf("%.17g %.9g %.15Lg %g %g %d\n", sqrt(x) + sin(x), f * f, l * l, floor(-0.5), 1 / z, isnan(z / z) != 0);
	return 0;
}
C
agrees real.c "floating point" 1 2

cat >huge.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static char big[600u << 20];
int main(int argc, char **argv)
{
	volatile size_t n = argc > 1 ? 5ull << 30 : 300u << 20;
	char *p = malloc(n);
	big[sizeof(big) - 1] = 3;
	if (!p) {
		puts("no");
		return 0;
	}
	p[n - 1] = 4;
	printf("%d %d\n", big[sizeof(big) - 1], p[n - 1]);
	return 0;
}
C
agrees huge.c "arrays of hundreds of megabytes"
run 0 unplait sym run huge.c 1
has out "no" "more than 2 GiB at once: malloc says no"

cat >unknown.c <<'C'
#include <search.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	if (argc > 1)
		return hcreate(10);
	puts("ok");
	return 0;
}
C
agrees unknown.c "an unknown function that is not called"
run 3 unplait sym run unknown.c 1
has err "hcreate" "an unknown function is named"
has err "unknown.c:6"
has err "give it a model"

# on a recorded path the same function returned something: the trace says that it does not know what it wrote
cat >path.c <<'C'
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
static int shared;
static void *work(void *arg)
{
	shared++;
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	char key[] = "key";
	ENTRY e = { key, NULL }, *found;
	if (!hcreate(10))
		return 3;
	pthread_create(&t, NULL, work, NULL);
	found = hsearch(e, ENTER);
	shared++;
	pthread_join(t, NULL);
	if (found && strcmp(found->key, "key") == 0)
		puts("found");
	if (argc > 1)
		*(volatile int *)(long)(argc - 2) = shared;
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o path path.c || exit 1
"$UNPLAIT" record -q --mode full -o p.plait -- ./path >/dev/null
run 0 unplait sym trace p.plait
has out "input from hcreate = 1" "what an unknown function returned is recorded"

# a run that crashes, recorded without control: the path ends where the program did
"$UNPLAIT" record -q --mode path -o crash.plait -- ./path x >/dev/null 2>&1
run 0 unplait sym trace crash.plait
has out "null-dereference: write through a null pointer (address 0) at path.c:25" "the path ends at the crash"

# killed from outside: what was not written yet is lost, the rest is followed
cat >killed.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static int shared;
static void *work(void *arg)
{
	for (;;)
		if (++shared % 1000 == 0 && shared > 100000)
			kill(getpid(), SIGKILL);
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o killed killed.c || exit 1
"$UNPLAIT" record -q --mode path -o killed.plait -- ./killed >/dev/null 2>&1
run 0 unplait sym trace --summary killed.plait
has out "end-of-recording" "a killed run is followed as far as it was written"
finish
