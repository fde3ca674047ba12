/* Conversions, sorting, random numbers (glibc's own sequence), the environment, the end. */
#include "model.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <locale.h>

static _Thread_local int errno_value;
int *__errno_location(void)
{
	return &errno_value;
}

char **environ;
char **__environ;
char *program_invocation_name = "program", *program_invocation_short_name = "program";

#define AT_EXIT_MAX 1024
static struct {
	void (*plain)(void);
	void (*with)(void *);
	void *arg;
} at_exit[AT_EXIT_MAX];
static int at_exit_count;

static int at_exit_add(void (*plain)(void), void (*with)(void *), void *arg)
{
	if (at_exit_count == AT_EXIT_MAX)
		sym_refuse("more than 1024 functions to be called at exit");
	at_exit[at_exit_count].plain = plain;
	at_exit[at_exit_count].with = with;
	at_exit[at_exit_count++].arg = arg;
	return 0;
}

int atexit(void (*fn)(void))
{
	return at_exit_add(fn, NULL, NULL);
}

int __cxa_atexit(void (*fn)(void *), void *arg, void *dso)
{
	(void)dso;
	return at_exit_add(NULL, fn, arg);
}

/* A destructor of the program, before anything else runs. */
void sym_at_end(void (*fn)(void));
void sym_at_end(void (*fn)(void))
{
	at_exit_add(fn, NULL, NULL);
}
void *__dso_handle;

void exit(int code)
{
	while (at_exit_count > 0) {
		at_exit_count--;
		if (at_exit[at_exit_count].plain)
			at_exit[at_exit_count].plain();
		else
			at_exit[at_exit_count].with(at_exit[at_exit_count].arg);
	}
	sym_exit(code);
}

void _exit(int code)
{
	sym_exit(code);
}
void _Exit(int code)
{
	sym_exit(code);
}
void quick_exit(int code)
{
	sym_exit(code);
}

/* Where thread 0 begins. */
void sym_start(int (*main)(int, char **, char **), int nparams, int argc, char **argv, char **envp);
void sym_start(int (*main)(int, char **, char **), int nparams, int argc, char **argv, char **envp)
{
	environ = __environ = envp;
	if (argc > 0) {
		char *slash = strrchr(argv[0], '/');

		program_invocation_name = argv[0];
		program_invocation_short_name = slash ? slash + 1 : argv[0];
	}
	if (nparams == 0)
		exit(((int (*)(void))main)());
	if (nparams == 2)
		exit(((int (*)(int, char **))main)(argc, argv));
	exit(main(argc, argv, envp));
}

char *getenv(const char *name)
{
	size_t n = strlen(name);

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}
char *secure_getenv(const char *name)
{
	return getenv(name);
}

int putenv(char *text)
{
	size_t n = 0, len = strcspn(text, "=");
	char **fresh;

	for (; environ && environ[n]; n++)
		if (!strncmp(environ[n], text, len) && environ[n][len] == '=') {
			environ[n] = text;
			return 0;
		}
	fresh = malloc((n + 2) * sizeof(*fresh));
	for (size_t i = 0; i < n; i++)
		fresh[i] = environ[i];
	fresh[n] = text;
	fresh[n + 1] = NULL;
	environ = __environ = fresh;
	return 0;
}

int setenv(const char *name, const char *value, int over)
{
	size_t n = strlen(name), v = strlen(value);
	char *text;

	if (!over && getenv(name))
		return 0;
	text = malloc(n + v + 2);
	memcpy(text, name, n);
	text[n] = '=';
	memcpy(text + n + 1, value, v + 1);
	return putenv(text);
}

int unsetenv(const char *name)
{
	size_t n = strlen(name);
	char **to = environ;

	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, name, n) || (*e)[n] != '=')
			*to++ = *e;
	if (to)
		*to = NULL;
	return 0;
}

/* --- numbers --- */

static int digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	return 99;
}

static unsigned long parse(const char *s, char **end, int base, int is_signed)
{
	const char *start = s;
	int negative = 0, any = 0, over = 0, digits = 0;
	unsigned long v = 0, limit;

	while (*s == ' ' || (*s >= 9 && *s <= 13))
		s++;
	if (*s == '-' || *s == '+')
		negative = *s++ == '-';
	if ((base == 0 || base == 16) && s[0] == '0' && (s[1] | 32) == 'x' &&
	    digit((unsigned char)s[2]) < 16) {
		s += 2;
		base = 16;
	} else if (base == 0) {
		base = *s == '0' ? 8 : 10;
	}
	limit = is_signed ? (unsigned long)LONG_MAX + (unsigned)negative : ULONG_MAX;
	for (; digit((unsigned char)*s) < base; s++) {
		unsigned long d = (unsigned long)digit((unsigned char)*s);

		any = 1;
		/* fifteen digits fit in any base up to 16; beyond, divide known numbers only:
		 * solvers are slow at multiplication and division */
		if ((++digits > 15 || base > 16) &&
		    (v > limit / (unsigned long)base ||
		     (v == limit / (unsigned long)base && d > limit % (unsigned long)base)))
			over = 1;
		else
			v = v * (unsigned long)base + d;
	}
	if (end)
		*end = (char *)(any ? s : start);
	if (over) {
		errno = ERANGE;
		return limit;
	}
	return negative ? 0 - v : v;
}

long strtol(const char *s, char **end, int base)
{
	return (long)parse(s, end, base, 1);
}
long long strtoll(const char *s, char **end, int base)
{
	return (long long)parse(s, end, base, 1);
}
unsigned long strtoul(const char *s, char **end, int base)
{
	return parse(s, end, base, 0);
}
unsigned long long strtoull(const char *s, char **end, int base)
{
	return parse(s, end, base, 0);
}
long __isoc23_strtol(const char *s, char **end, int base)
{
	return strtol(s, end, base);
}
long long __isoc23_strtoll(const char *s, char **end, int base)
{
	return strtoll(s, end, base);
}
unsigned long __isoc23_strtoul(const char *s, char **end, int base)
{
	return strtoul(s, end, base);
}
unsigned long long __isoc23_strtoull(const char *s, char **end, int base)
{
	return strtoull(s, end, base);
}
intmax_t strtoimax(const char *s, char **end, int base)
{
	return strtol(s, end, base);
}
uintmax_t strtoumax(const char *s, char **end, int base)
{
	return strtoul(s, end, base);
}
int atoi(const char *s)
{
	return (int)strtol(s, NULL, 10);
}
long atol(const char *s)
{
	return strtol(s, NULL, 10);
}
long long atoll(const char *s)
{
	return strtoll(s, NULL, 10);
}

/* How much of the text is a number; the value itself is the host's to compute. */
double strtod(const char *s, char **end)
{
	const char *start = s;
	int any = 0;

	while (*s == ' ' || (*s >= 9 && *s <= 13))
		s++;
	if (*s == '-' || *s == '+')
		s++;
	if (!strncasecmp(s, "nan", 3) || !strncasecmp(s, "inf", 3)) {
		any = 1;
		s += !strncasecmp(s, "infinity", 8) ? 8 : 3;
	} else {
		for (; *s >= '0' && *s <= '9'; s++)
			any = 1;
		if (*s == '.')
			for (s++; *s >= '0' && *s <= '9'; s++)
				any = 1;
		if (any && (*s | 32) == 'e') {
			const char *e = s + 1;

			if (*e == '-' || *e == '+')
				e++;
			if (*e >= '0' && *e <= '9')
				for (s = e; *s >= '0' && *s <= '9'; s++)
					;
		}
	}
	if (end)
		*end = (char *)(any ? s : start);
	return any ? sym_parse_double(start) : 0;
}
float strtof(const char *s, char **end)
{
	return (float)strtod(s, end);
}
double atof(const char *s)
{
	return strtod(s, NULL);
}

int abs(int v)
{
	return v < 0 ? -v : v;
}
long labs(long v)
{
	return v < 0 ? -v : v;
}
long long llabs(long long v)
{
	return v < 0 ? -v : v;
}
div_t div(int a, int b)
{
	return (div_t){ a / b, a % b };
}
ldiv_t ldiv(long a, long b)
{
	return (ldiv_t){ a / b, a % b };
}

/* --- sorting: a merge sort, which is what glibc does while memory lasts --- */

static void merge_sort(char *base, size_t n, size_t size,
		       int (*cmp)(const void *, const void *, void *), void *arg, char *tmp)
{
	size_t half = n / 2, i = 0, j = half, k = 0;

	if (n < 2)
		return;
	merge_sort(base, half, size, cmp, arg, tmp);
	merge_sort(base + half * size, n - half, size, cmp, arg, tmp);
	while (i < half && j < n) {
		if (cmp(base + i * size, base + j * size, arg) <= 0)
			memcpy(tmp + k++ * size, base + i++ * size, size);
		else
			memcpy(tmp + k++ * size, base + j++ * size, size);
	}
	memcpy(tmp + k * size, base + i * size, (half - i) * size);
	memcpy(base, tmp, (k + half - i) * size);
}

void qsort_r(void *base, size_t n, size_t size, int (*cmp)(const void *, const void *, void *),
	     void *arg)
{
	char *tmp = malloc(n * size + 1);

	merge_sort(base, n, size, cmp, arg, tmp);
	free(tmp);
}

static int plain_compare(const void *a, const void *b, void *fn)
{
	return ((int (*)(const void *, const void *))fn)(a, b);
}

void qsort(void *base, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	qsort_r(base, n, size, plain_compare, (void *)cmp);
}

void *bsearch(const void *key, const void *base, size_t n, size_t size,
	      int (*cmp)(const void *, const void *))
{
	const char *p = base;

	while (n) {
		const char *mid = p + n / 2 * size;
		int d = cmp(key, mid);

		if (!d)
			return (void *)mid;
		if (d > 0) {
			p = mid + size;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return NULL;
}

/* --- random: glibc's additive feedback generator --- */

static int32_t random_state[34];
static int random_at = -1;

void srandom(unsigned seed)
{
	int32_t word = (int32_t)(seed ? seed : 1);

	random_state[0] = word;
	for (int i = 1; i < 31; i++) {
		long hi = word / 127773, lo = word % 127773;

		word = (int32_t)(16807 * lo - 2836 * hi);
		if (word < 0)
			word += 2147483647;
		random_state[i] = word;
	}
	random_at = 3;
	for (int i = 0; i < 310; i++)
		(void)random();
}
void srand(unsigned seed)
{
	srandom(seed);
}

long random(void)
{
	uint32_t v;

	if (random_at < 0)
		srandom(1);
	/* r[i] = r[i-3] + r[i-31], kept in a ring of 31 */
	v = (uint32_t)random_state[random_at] + (uint32_t)random_state[(random_at + 28) % 31];
	random_state[random_at] = (int32_t)v;
	random_at = (random_at + 1) % 31;
	return (long)(v >> 1);
}
int rand(void)
{
	return (int)random();
}

int rand_r(unsigned *seed)
{
	unsigned next = *seed;
	int result;

	next = next * 1103515245 + 12345;
	result = (int)(next / 65536 % 2048);
	next = next * 1103515245 + 12345;
	result = (result << 10) ^ (int)(next / 65536 % 1024);
	next = next * 1103515245 + 12345;
	result = (result << 10) ^ (int)(next / 65536 % 1024);
	*seed = next;
	return result;
}

static uint64_t rand48_state = 0x1234abcd330e;
static long rand48(uint64_t *s)
{
	*s = (*s * 0x5deece66dull + 0xb) & 0xffffffffffffull;
	return (long)*s;
}
void srand48(long seed)
{
	rand48_state = ((uint64_t)(uint32_t)seed << 16) | 0x330e;
}
long lrand48(void)
{
	return rand48(&rand48_state) >> 17;
}
long mrand48(void)
{
	return (int32_t)(rand48(&rand48_state) >> 16);
}
double drand48(void)
{
	return (double)rand48(&rand48_state) / 281474976710656.0;
}

int posix_memalign(void **out, size_t align, size_t size)
{
	(void)align;
	*out = sym_memalign(size);
	return *out ? 0 : ENOMEM;
}
void *aligned_alloc(size_t align, size_t size)
{
	(void)align;
	return sym_memalign(size);
}
void *memalign(size_t align, size_t size)
{
	(void)align;
	return sym_memalign(size);
}
void *reallocarray(void *p, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, all);
}
void cfree(void *p)
{
	free(p);
}

/* C++ in so far as it needs no exceptions. */
void *_Znwm(size_t n)
{
	return malloc(n);
}
void *_Znam(size_t n)
{
	return malloc(n);
}
void _ZdlPv(void *p)
{
	free(p);
}
void _ZdaPv(void *p)
{
	free(p);
}
void _ZdlPvm(void *p, size_t n)
{
	(void)n;
	free(p);
}
void _ZdaPvm(void *p, size_t n)
{
	(void)n;
	free(p);
}
int __cxa_guard_acquire(uint64_t *g)
{
	return sym_once_begin(g);
}
void __cxa_guard_release(uint64_t *g)
{
	*(char *)g = 1;
	sym_once_end(g);
}
void __cxa_pure_virtual(void)
{
	abort();
}
char *setlocale(int category, const char *name)
{
	(void)category;
	(void)name;
	return "C";
}
char *textdomain(const char *d)
{
	return (char *)d;
}
char *bindtextdomain(const char *d, const char *p)
{
	(void)d;
	return (char *)p;
}
char *gettext(const char *s)
{
	return (char *)s;
}
char *dcgettext(const char *d, const char *s, int c)
{
	(void)d;
	(void)c;
	return (char *)s;
}
char *ngettext(const char *one, const char *many, unsigned long n)
{
	return (char *)(n == 1 ? one : many);
}
char *dcngettext(const char *d, const char *one, const char *many, unsigned long n, int c)
{
	(void)d;
	(void)c;
	return ngettext(one, many, n);
}
size_t __ctype_get_mb_cur_max(void)
{
	return 1;
}
int system(const char *command)
{
	(void)command;
	sym_refuse("system() runs another program");
}

struct __jmp_buf_tag;
void longjmp(struct __jmp_buf_tag *b, int v) __attribute__((noreturn));
void _longjmp(struct __jmp_buf_tag *b, int v) __attribute__((noreturn));
void siglongjmp(struct __jmp_buf_tag *b, int v) __attribute__((noreturn));
void __longjmp_chk(struct __jmp_buf_tag *b, int v) __attribute__((noreturn));
void _longjmp(struct __jmp_buf_tag *b, int v)
{
	longjmp(b, v);
}
void siglongjmp(struct __jmp_buf_tag *b, int v)
{
	longjmp(b, v);
}
void __longjmp_chk(struct __jmp_buf_tag *b, int v)
{
	longjmp(b, v);
}

/* The rest of mathematics is the machine's (sym/ir/fmath.def). */
double modf(double d, double *whole)
{
	*whole = __builtin_trunc(d);
	return __builtin_isinf(d) ? __builtin_copysign(0.0, d) : __builtin_copysign(d - *whole, d);
}
float modff(float f, float *whole)
{
	*whole = __builtin_truncf(f);
	return __builtin_isinf(f) ? __builtin_copysignf(0.0f, f)
				  : __builtin_copysignf(f - *whole, f);
}

struct lconv *localeconv(void)
{
	static struct lconv plain;

	plain = (struct lconv){ .decimal_point = (char *)".",
				.thousands_sep = (char *)"",
				.grouping = (char *)"",
				.int_curr_symbol = (char *)"",
				.currency_symbol = (char *)"",
				.mon_decimal_point = (char *)"",
				.mon_thousands_sep = (char *)"",
				.mon_grouping = (char *)"",
				.positive_sign = (char *)"",
				.negative_sign = (char *)"",
				.int_frac_digits = CHAR_MAX,
				.frac_digits = CHAR_MAX };
	return &plain;
}
