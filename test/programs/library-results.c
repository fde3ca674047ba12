/* What functions of libc return and write, on memory that two threads share. Prints one line per
 * call; the expanded calls of a controlled run must print what the real ones do. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static char a[512], b[512], c[512];
static const char *const texts[] = { "", "a", "abc", "abd", "ABC", "hello, world", "hello, WORLD!",
				     "the quick brown fox jumps over the lazy dog",
				     "0123456789012345678901234567890123456789" };
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static void *touch(void *arg)
{
	a[500] = b[500] = c[500] = 1; /* so that they are shared */
	memset(a, 0, 4);
	memset(b, 0, 4);
	memset(c, 0, 4);
	return arg;
}

static void reset(int i, int k)
{
	memset(a, '#', sizeof(a));
	memset(b, '.', sizeof(b));
	memset(c, '-', sizeof(c));
	strcpy(a, texts[i]);
	strcpy(b, texts[k]);
}

static int sign(int n) { return (n > 0) - (n < 0); }
static long place(const char *p, const char *in) { return p ? p - in : -1; }

static void show(const char *what, long result)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < sizeof(a); i++)
		sum = sum * 31 + (unsigned char)a[i] + 7ul * (unsigned char)b[i] + 3ul * (unsigned char)c[i];
	printf("%s %ld %lx\n", what, result, sum);
}
#define SHOW(call)                    \
	do {                          \
		long r = (long)(call); \
		show(#call, r);       \
	} while (0)

static void strings(int i, int k)
{
	size_t n = (size_t)(k * 3), len = strlen(texts[k]);

	reset(i, k);
	SHOW(strlen(a) + 100 * strnlen(b, n));
	SHOW(sign(strcmp(a, b)) + 3 * sign(strncmp(a, b, n)));
	SHOW(sign(strcasecmp(a, b)) + 3 * sign(strncasecmp(a, b, n)));
	SHOW(sign(memcmp(a, b, n + 5)) + 3 * (bcmp(a, b, n) != 0));
	SHOW(place(strchr(a, 'o'), a) + 1000 * place(strrchr(a, 'o'), a));
	SHOW(place(strchrnul(a, 'l'), a) + 1000 * place(strchr(a, 0), a));
	SHOW(place(strstr(a, b), a) + 1000 * place(strpbrk(a, "xyz,"), a));
	SHOW(strspn(a, b) + 1000 * strcspn(a, b));
	SHOW(place(memchr(a, 'b', n), a) + 1000 * place(memrchr(a, 'b', n + 1), a));
	SHOW(place(memmem(a, strlen(a), b, len), a) + 1000 * place(rawmemchr(a, 0), a));
	SHOW(place(strcpy(c, a), c) + 1000 * place(stpcpy(c + 100, b), c));
	SHOW(place(strncpy(c, a, n), c) + 1000 * place(stpncpy(c + 100, b, n), c));
	strcpy(c, "start:");
	SHOW(place(strcat(c, a), c) + 1000 * place(strncat(c, b, n), c));
	SHOW(place(memcpy(c, a, n * 7), c) + 1000 * place(mempcpy(c, b, n), c));
	SHOW(place(memmove(a + 5, a, n * 9 + 1), a));
	SHOW(place(memmove(a, a + 3, n * 9 + 2), a));
	SHOW(place(memset(b + n, i, n * 8 + 1), b));
	bcopy(a, b + 2, n);
	bzero(c + n, n + 3);
	show("bcopy, bzero", 0);
	char *d = strdup(a), *e = strndup(a, n);
	SHOW(strlen(d) + 1000 * strlen(e));
	free(d);
	free(e);
}

static void numbers(void)
{
	static const char *const all[] = { "12", " -345xyz", "0x1f", "077", "", "abc", "99999999999999999999", "3.25e2,",
					   "  +7 8" };
	char *end;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		strcpy(a, all[i]);
		SHOW(atoi(a) + atol(a));
		SHOW(strtol(a, &end, 0) % 1000003 + 7 * place(end, a));
		SHOW(strtoul(a, &end, 16) % 1000003 + 7 * place(end, a));
		SHOW(strtod(a, &end) + 1000 * place(end, a));
		SHOW(atof(a));
	}
}

static void formats(void)
{
	int x = 0, y = 0;
	char word[8] = "";
	double f = 0;

	strcpy(b, "shared text");
	SHOW(snprintf(a, 20, "%d %s|%5.3s|%-14s|", 42, b, b, b));
	SHOW(snprintf(a, sizeof(a), "%s %.*s %c%% %5.2f %p", b, 4, b, 'x', 2.5, (void *)0));
	SHOW(sprintf(a, "<%s:%08lx>", b, 255ul));
	SHOW(snprintf(a, 0, "%s", b));
	strcpy(a, "10 20.5 wordy");
	SHOW(sscanf(a, "%d %lf %7s", &x, &f, word) + x + (long)(f * 2) + word[4]);
	strcpy(a, "7 x");
	SHOW(sscanf(a, "%d %d", &x, &y) + x + y);
	printf("%s|%.3s|%*d\n", b, b, 5, 7);
	puts(b);
	fputs(b, stdout);
	fwrite(b, 1, 6, stdout);
	puts("");
}

static int by_value(const void *x, const void *y) { return *(const char *)x - *(const char *)y; }

static void rest(void)
{
	time_t t = 86400 * 365;
	struct tm tm;
	char *p;
	int fds[2], n = 0;

	strcpy(a, "split this,please  now");
	for (p = strtok(a, " ,"); p; p = strtok(NULL, " ,"))
		printf("%d %s\n", n++, p);
	printf("%s", asctime(gmtime(&t)));
	gmtime_r(&t, &tm);
	SHOW(strftime(a, sizeof(a), "%Y-%m-%d", &tm));
	SHOW(strftime(a, 3, "%Y-%m-%d", &tm));
	if (pipe(fds))
		return;
	SHOW(write(fds[1], b, 11));
	SHOW(read(fds[0], a, 64));
	strcpy(a, "sortme");
	qsort(a, 6, 1, by_value);
	SHOW(place(bsearch("r", a, 6, 1, by_value), a));
	srand(7);
	n = rand();
	srand(7);
	SHOW(n == rand());
	setenv("LIBRARY_RESULTS", "yes", 1);
	SHOW(strcmp(getenv("LIBRARY_RESULTS"), "yes"));
}

static void *all(void *arg)
{
	for (int i = 0; i < TEXTS; i++)
		for (int k = 0; k < TEXTS; k++)
			strings(i, k);
	numbers();
	formats();
	rest();
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, touch, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, all, NULL);
	pthread_join(t, NULL);
	return 0;
}
