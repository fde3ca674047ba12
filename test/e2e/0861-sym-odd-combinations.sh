#!/usr/bin/env bash
# More code that is hard to run: jumps across frames, structures as variable arguments, 80-bit and 128-bit numbers, vectors
# of bits, growing frames, packed and bit fields, thread-locals, weak names, ifuncs, constructors, destructors, C++ threads.
# It runs like natively at -O0 and -O2 (what needs intrinsics only there), or is refused at its line with what to do.
# level: check
. "$(dirname "$0")/lib.sh"

agrees() { # FILE WHAT [LEVELS]
	local cc=clang-19 level
	case $1 in *.cc) cc=clang++-19 ;; esac
	for level in ${3:-0 2}; do
		$cc -w -O$level -pthread -g -emit-llvm -c -o p.bc "$1" && $cc -w -O$level -pthread -o native p.bc -lm && ./native >want
		if timeout 100 "$UNPLAIT" sym run p.bc >got 2>err && cmp -s want got; then
			ok "$2, -O$level"
		else
			not_ok "$2, -O$level" "$(diff want got | head -4)" "$(head -3 err)"
		fi
	done
}
refused() { # FILE LINE REASON WHAT
	local cc=clang-19
	case $1 in *.cc) cc=clang++-19 ;; esac
	$cc -w -O1 -pthread -g -emit-llvm -c -o p.bc "$1"
	timeout 100 "$UNPLAIT" sym run p.bc >got 2>err
	if [ $? -eq 3 ] && grep -q "$1:$2" err && grep -qF "$3" err && grep -q 'compile the portable\|give it a model\|one process' err; then
		ok "$4 is refused at its line, with what to do"
	else
		not_ok "$4 is refused at its line, with what to do" "$(head -4 err)"
	fi
}

cat >jump.c <<'C'
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf outer, inner;
__attribute__((noinline)) static void deep(int n)
{
	char buf[64];
	snprintf(buf, 64, "%d", n);
	if (n > 3)
		longjmp(n & 1 ? outer : inner, n);
	deep(n + 1);
	printf("never %s\n", buf);
}
__attribute__((noinline)) static int middle(int n)
{
	volatile int k = n;
	int r = setjmp(inner);
	if (r == 0) {
		k += 10;
		deep(n);
	}
	printf("inner %d %d\n", r, k);
	if (k < 100) {
		k = 100;
		longjmp(outer, 9);
	}
	return k;
}
__attribute__((noinline)) static void first(int n)
{
	int *p = malloc(4 * n);
	for (int i = 0; i < n; i++)
		p[i] = i;
	middle(n);
	free(p);
}
int main(void)
{
	volatile int tries = 0;
	int r = setjmp(outer);
	printf("outer %d tries %d\n", r, tries);
	tries++;
	if (tries == 1) first(2);
	if (tries == 2) first(4);
	if (tries == 3) deep(5);
	return 0;
}
C
agrees jump.c "longjmp across frames, twice into the same one"

cat >rest.c <<'C'
#include <stdarg.h>
#include <stdio.h>
struct s1 { char c; };
struct s2 { int a, b; };
struct s3 { double d; int i; };
struct s4 { long a, b, c; };
struct s5 { float x, y; };
struct s6 { char t[17]; };
static void show(const char *k, ...)
{
	va_list ap;
	va_start(ap, k);
	for (; *k; k++)
		switch (*k) {
		case 'i': printf(" %d", va_arg(ap, int)); break;
		case 'l': printf(" %ld", va_arg(ap, long)); break;
		case 'd': printf(" %g", va_arg(ap, double)); break;
		case 'L': printf(" %Lg", va_arg(ap, long double)); break;
		case '1': printf(" %c", va_arg(ap, struct s1).c); break;
		case '2': { struct s2 s = va_arg(ap, struct s2); printf(" {%d %d}", s.a, s.b); break; }
		case '3': { struct s3 s = va_arg(ap, struct s3); printf(" {%g %d}", s.d, s.i); break; }
		case '4': { struct s4 s = va_arg(ap, struct s4); printf(" {%ld %ld %ld}", s.a, s.b, s.c); break; }
		case '5': { struct s5 s = va_arg(ap, struct s5); printf(" {%g %g}", s.x, s.y); break; }
		case '6': { struct s6 s = va_arg(ap, struct s6); printf(" {%s}", s.t); break; }
		case 'q': { __int128 s = va_arg(ap, __int128); printf(" {%ld %ld}", (long)(s >> 64), (long)s); break; }
		case 's': printf(" %s", va_arg(ap, char *)); break;
		}
	va_end(ap);
	putchar('\n');
}
int main(void)
{
	struct s1 a = { 'x' };
	struct s2 b = { 1, -2 };
	struct s3 c = { 2.5, 3 };
	struct s4 d = { 4, 5, 6 };
	struct s5 e = { 1.5f, 2.5f };
	struct s6 g = { "sixteen chars ok" };
	show("iLd1i2d3l4L5d6sqdi", 1, 2.5L, 3.5, a, 7, b, 4.5, c, 99L, d, 5.5L, e, 6.5, g, "str", ((__int128)7 << 64) + 8, 7.5, 8);
	show("33333333", c, c, c, c, c, c, c, c);
	show("5555555555", e, e, e, e, e, e, e, e, e, e);
	show("i1i1i1i1qqq", 1, a, 2, a, 3, a, 4, a, (__int128)1, (__int128)-1, (__int128)3);
	return 0;
}
C
agrees rest.c "structures of every class, long double and 128 bits as variable arguments"

cat >wide.c <<'C'
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
typedef unsigned __int128 u128;
typedef __int128 i128;
struct __attribute__((packed)) odd { char c; long double l; };
static void show(u128 x) { printf("%016lx%016lx\n", (unsigned long)(x >> 64), (unsigned long)x); }
__attribute__((noinline)) static u128 mulmod(u128 a, u128 b, u128 m)
{
	u128 r = 0;
	for (; b; b >>= 1) {
		if (b & 1)
			r = (r + a) % m;
		a = (a << 1) % m;
	}
	return r;
}
int main(int argc, char **argv)
{
	u128 a = ((u128)0x123456789abcdefULL << 64) | 0xfedcba9876543210ULL;
	i128 b = -(i128)a;
	a += argc;
	show(a * a), show(a / 12345), show(a % 1234567890123ULL), show(b / 7), show(b % 7);
	show(a << (argc + 70)), show(a >> (argc + 5)), show(b >> (argc + 65));
	show(a / ((u128)3 << 66)), show(b / ((i128)-3 << 66)), show(mulmod(a, a, ((u128)1 << 100) + 7));
	printf("%d %d\n", a > (u128)b, (i128)a > b);
	long double x = 1.0L / 3 * argc, y = 1e4000L * argc, z = LDBL_MIN / 1024;
	unsigned long u = ~0ul * (unsigned)argc;
	unsigned char raw[16] = { 0 };
	struct odd p = { 'a', x };
	printf("%.20Lg %Lg %Lg %d %d\n", x, y, z, x < y, z > 0);
	printf("%ld %lu %g %.0Lf\n", (long)(x * 1e15L), (unsigned long)(x * 3e18L), (double)x, (long double)u + 1);
	memcpy(raw, &x, 10);
	for (int i = 0; i < 10; i++)
		printf("%02x", raw[i]);
	printf(" %zu %.20Lg\n", sizeof(p), p.l * 2);
	return 0;
}
C
agrees wide.c "128-bit integers and 80-bit floating point"

cat >lanes.c <<'C'
#include <emmintrin.h>
#include <stdio.h>
#include <string.h>
typedef int v4 __attribute__((vector_size(16)));
typedef unsigned char b16 __attribute__((vector_size(16)));
typedef double d2 __attribute__((vector_size(16)));
typedef long l2 __attribute__((vector_size(16)));
int main(int argc, char **argv)
{
	v4 a = { 1, -2, 3, argc }, b = { 7, 8, -9, 10 }, arr[4] = { a, b, a + b, a - b };
	unsigned char d[64];
	unsigned m = 0;
	int sum = 0;
	b16 x;
	for (int i = 0; i < 16; i++)
		x[i] = i * argc * 7;
	b16 y = __builtin_shufflevector(x, x, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	for (int i = 0; i < 16; i++)
		printf("%d ", y[i]);
	v4 less = a < b, q = (a & less) | (b & ~less), r = b / (a | 1), t = b % (a | 1), u = a << (b & 3);
	for (int i = 0; i < 4; i++)
		printf("%d %d %d %d|", q[i], r[i], t[i], u[i]);
	d2 f = { 1.5, -2.5 };
	l2 l = __builtin_convertvector(f, l2), c = f > 0;
	printf("%ld %ld %ld %ld\n", l[0], l[1], c[0], c[1]);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			sum += arr[i][(j + argc) & 3] * (j + 1);
	for (int i = 0; i < 64; i++)
		d[i] = i * 37 + argc;
	for (int k = 0; k < 4; k++) {
		__m128i w = _mm_loadu_si128((const __m128i *)(d + 16 * k));
		m = m * 3 + _mm_movemask_epi8(_mm_cmpgt_epi8(w, _mm_set1_epi8(20)));
		m ^= _mm_movemask_ps(_mm_castsi128_ps(w));
	}
	printf("%d %d %u\n", sum, __builtin_reduce_max(b), m);
	return 0;
}
C
agrees lanes.c "shuffles, lanes by index, masks of bits" 2

cat >frames.c <<'C'
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int v; char pad[20]; };
__attribute__((noinline)) static int vla(int n)
{
	int a[n], s = 0;
	for (int i = 0; i < n; i++)
		a[i] = i * n;
	for (int i = 0; i < n; i++) {
		char b[i + 1];
		memset(b, i, sizeof(b));
		s += b[i] + a[i] + sizeof(b);
	}
	return s;
}
int main(int argc, char **argv)
{
	char text[64] = "abcdefghijklmnopqrstuvwxyz";
	struct node *l = NULL;
	int s = 0;
	for (int i = 0; i < 1000; i++) {
		struct node *n = alloca(sizeof(*n));
		n->next = l;
		n->v = i;
		l = n;
	}
	for (; l; l = l->next)
		s = s * 3 + l->v;
	for (int i = 1; i < 30; i++)
		s += vla(i);
	printf("%d\n", s);
	memmove(text + 3, text, 20), puts(text);
	memmove(text, text + 5, 20), puts(text);
	memmove(text + 1, text, argc * 7), puts(text);
	return 0;
}
C
agrees frames.c "alloca in loops, arrays of variable length, overlapping copies"

cat >fields.c <<'C'
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
struct bf { unsigned a : 3, b : 13; signed c : 5; long d : 40; unsigned : 0; _Bool f : 1; unsigned char g : 7; };
struct __attribute__((packed)) pk { char c; int i; short s; double d; struct __attribute__((packed)) { char x; long y; } in; };
struct __attribute__((packed)) pb { unsigned a : 7; unsigned long b : 43; unsigned c : 14; };
union both { struct bf b; unsigned char raw[24]; };
static _Thread_local int n = 5;
static __thread struct { char name[16]; int *p; } t = { "start" };
static void *work(void *arg)
{
	n += (long)arg;
	t.name[0] = 'A' + (long)arg;
	t.p = &n;
	*t.p += 10;
	return (void *)(long)(n * 100 + t.name[0]);
}
int main(int argc, char **argv)
{
	union both u;
	memset(&u, 0, sizeof(u));
	u.b.a = argc + 9, u.b.b = 0x1fff - argc, u.b.c = -argc, u.b.d = -(1L << 38) + argc, u.b.f = argc, u.b.g = 100;
	for (int i = 0; i < 20; i++)
		u.b.a++, u.b.c += 3, u.b.d *= 3;
	for (unsigned i = 0; i < sizeof(u.b); i++)
		printf("%02x", u.raw[i]);
	printf(" %d %d %d %ld %d %d\n", u.b.a, u.b.b, u.b.c, (long)u.b.d, u.b.f, u.b.g);
	struct pk p[2] = { { 'a', 1, 2, 3.5, { 'x', 1L << 40 } }, { 'b', argc, 3, 4.5, { 'y', 7 } } };
	printf("%zu %zu %d %g %ld %ld\n", sizeof(p), offsetof(struct pk, in), p[1].i, p[1].d, p[0].in.y, p[1].in.y);
	struct pb b = { 100, 1L << 42 | argc, 9999 };
	printf("%zu %u %ld %u\n", sizeof(b), b.a, (long)b.b, b.c);
	pthread_t one, two;
	void *r1, *r2;
	n = 50;
	pthread_create(&one, 0, work, (void *)1), pthread_create(&two, 0, work, (void *)2);
	pthread_join(one, &r1), pthread_join(two, &r2);
	printf("%ld %ld %d %s\n", (long)r1, (long)r2, n, t.name);
	return 0;
}
C
agrees fields.c "bit fields, packed structures, thread-locals"

cat >names.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static int order[10], n;
__attribute__((constructor(300))) static void c3(void) { order[n++] = 3; }
__attribute__((constructor(101))) static void c1(void) { order[n++] = 1; }
__attribute__((constructor(200))) static void c2(void) { order[n++] = 2; }
__attribute__((constructor)) static void c4(void) { order[n++] = 4; }
__attribute__((destructor(101))) static void d1(void) { puts("d1"); }
__attribute__((destructor(200))) static void d2(void) { puts("d2"); }
__attribute__((destructor)) static void d3(void) { puts("d3"); }
static void e1(void) { puts("e1"); }
static void e2(void) { puts("e2"); }
__attribute__((weak)) int hook(int x);
__attribute__((weak)) int own(int x) { return x + 1; }
extern int missing __attribute__((weak));
static int impl(int x) { return x * 3; }
int target(int x) { return x - 1; }
int aliased(int x) __attribute__((alias("target")));
int main(int argc, char **argv)
{
	atexit(e1);
	atexit(e2);
	for (int i = 0; i < n; i++)
		printf("%d ", order[i]);
	printf("%d %d %d %d\n", hook ? hook(1) : -1, own(argc), &missing ? missing : -2, aliased(argc));
	exit(0);
}
C
agrees names.c "constructors and destructors by priority, weak names, aliases"

cat >labels.c <<'C'
#include <stdio.h>
#define GO goto *(&&add + off[*pc++])
static int run(const unsigned char *pc, int x)
{
	static const int off[] = { &&add - &&add, &&mul - &&add, &&dec - &&add, &&jnz - &&add, &&halt - &&add };
	int acc = 1;
	void *next;
	GO;
add: acc += *pc++; GO;
mul: acc *= *pc++; GO;
dec: x--; GO;
jnz: { int d = *pc++; if (x) pc -= d; GO; }
halt:
	next = acc & 1 ? &&odd : &&even;
	goto *next;
odd: return -acc;
even: return acc;
}
int main(int argc, char **argv)
{
	unsigned char prog[] = { 0, 3, 1, 2, 2, 3, 7, 4 };
	printf("%d %d\n", run(prog, 5), run(prog, argc + 2));
	return 0;
}
C
agrees labels.c "a table of differences of labels"

cat >threads.cc <<'C'
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
struct queue { std::mutex m; std::condition_variable c; std::vector<int> v; bool done = false; };
int main()
{
	queue q;
	std::atomic<int> sum{ 0 };
	std::vector<std::thread> ts;
	for (int i = 0; i < 3; i++)
		ts.emplace_back([&, i] {
			for (;;) {
				std::unique_lock<std::mutex> l(q.m);
				q.c.wait(l, [&] { return q.done || !q.v.empty(); });
				if (q.v.empty())
					return;
				int x = q.v.back();
				q.v.pop_back();
				l.unlock();
				try {
					if (x % 5 == 0)
						throw std::runtime_error("five");
					sum += x;
				} catch (const std::exception &e) {
					sum += 1000;
				}
			}
		});
	for (int i = 1; i <= 20; i++) {
		std::lock_guard<std::mutex> l(q.m);
		q.v.push_back(i);
		q.c.notify_one();
	}
	{
		std::lock_guard<std::mutex> l(q.m);
		q.done = true;
	}
	q.c.notify_all();
	for (auto &t : ts)
		t.join();
	printf("%d\n", sum.load());
	return 0;
}
C
agrees threads.cc "std::thread, a condition, exceptions caught in threads"

# unknown values in them: one value is followed, and that is said
cat >unknown.c <<'C'
int main(int argc, char **argv)
{
	long double l = argv[1][0];
	unsigned __int128 x = (unsigned char)argv[1][0];
	if (argv[1][0] * 1.5 == 96.0)
		__builtin_trap();
	return (l * 2.5L > 200.0L) + (x * x % 97 == 5);
}
C
run 1 unplait sym explore --sym-args 1 --sym-arg-len 1 unknown.c
has out "long double arithmetic depended on symbolic input and was given one value"
has out "128-bit arithmetic depended on symbolic input and was given one value"
has out "not every path was followed to its end" "the answer is not called complete"
has out "native run: confirmed, Illegal instruction" "a trap behind floating point is found and confirmed"

refuse() { # NAME REASON WHAT <<code: what is refused stands on line 4
	cat >"$1"
	refused "$1" 4 "$2" "$3"
}
refuse data.c "in6addr_loopback" "data of another library" <<'C'
#include <netinet/in.h>
int main(void)
{
	return in6addr_loopback.s6_addr[15];
}
C
refuse pair.c "compare-and-exchange of 128 bits" "an atomic of 16 bytes" <<'C'
static unsigned __int128 x __attribute__((aligned(16)));
int main(int argc, char **argv)
{
	return __sync_bool_compare_and_swap(&x, 0, argc);
}
C
refuse frame.c "the address of a stack frame" "a return address" <<'C'
__attribute__((noinline)) int known(void)
{
	void *p =
		__builtin_return_address(0);
	return p != 0;
}
int main(void) { return known(); }
C
refuse intrinsic.c "llvm.x86.sse42.crc32" "an instruction of one processor" <<'C'
#include <nmmintrin.h>
__attribute__((target("sse4.2"))) int main(int argc, char **argv)
{
	return _mm_crc32_u32(7, argc);
}
C
refuse long.c "sqrtl" "mathematics on long double" <<'C'
#include <math.h>
int main(int argc, char **argv)
{
	return sqrtl(argc * 4.0L);
}
C
refuse convert.c "128-bit" "a 128-bit integer from floating point" <<'C'
int main(int argc, char **argv)
{
	double d = argc * 1e25;
	return (__int128)d >> 80;
}
C
refuse carry.c "wider than 64 bits" "overflow of 128 bits" <<'C'
int main(int argc, char **argv)
{
	unsigned __int128 a = argc, b;
	return __builtin_add_overflow(a, ~a, &b);
}
C
refuse context.c "getcontext" "another stack" <<'C'
#include <ucontext.h>
int main(void)
{
	ucontext_t c; return getcontext(&c);
}
C
refuse process.c "one process" "fork" <<'C'
#include <unistd.h>
int main(void)
{
	return fork() < 0;
}
C
cat >quiet.c <<'C'
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <termios.h>
int main(void)
{
	struct termios t;
	FILE *f = fopen("names", "w");
	printf("%d %d\n", prctl(PR_SET_NAME, "worker"), tcgetattr(fileno(f), &t) == -1 && errno == ENOTTY);
	return 0;
}
C
agrees quiet.c "names of threads, and no terminal" 2
refuse ask.c "inline assembly" "cpuid" <<'C'
int main(int argc, char **argv)
{
	unsigned a = 0, b, c, d;
	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return a == 0;
}
C
refuse locale.cc "_ZNSt6localeC1EPKc" "a locale of the C++ library" <<'C'
#include <locale>
int main()
{
	std::locale here("");
	return here == std::locale::classic();
}
C
finish
