/* Races inside functions of libc, one family by name: library-races NAME [cured]. Two threads do the
 * same at once; a lock cures it. A family fails by an assertion. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int cured;

static void begin(void)
{
	if (cured)
		pthread_mutex_lock(&mutex);
}

static void end(void)
{
	if (cured)
		pthread_mutex_unlock(&mutex);
}

/* ---- strings ---- */

static char cat_text[64];
static void *do_strcat(void *arg)
{
	begin();
	strcat(cat_text, arg ? "abc" : "defg");
	end();
	return NULL;
}
static void check_strcat(void) { assert(strlen(cat_text) == 7); }

static char cpy_text[64];
static void *do_strcpy(void *arg)
{
	begin();
	strcpy(cpy_text, arg ? "aaaa" : "bb");
	end();
	return NULL;
}
static void check_strcpy(void) { assert(!strcmp(cpy_text, "aaaa") || !strcmp(cpy_text, "bb")); }

static char number[16] = "111";
static void *do_atoi(void *arg)
{
	begin();
	if (arg) {
		strcpy(number, "222");
	} else {
		int n = atoi(number);

		assert(n == 111 || n == 222);
	}
	end();
	return NULL;
}

/* ---- memory: by words, in pieces, as a struct ---- */

static char words[40], filled[2][40];
static size_t nwords = sizeof(words);
static void *do_memcpy(void *arg)
{
	begin();
	memcpy(words, filled[arg != NULL], nwords);
	end();
	return NULL;
}
static void check_memcpy(void) { assert(words[0] == words[sizeof(words) - 1]); }

static char large[40000], filled_large[2][40000];
static void *do_pieces(void *arg)
{
	begin();
	memcpy(large, filled_large[arg != NULL], sizeof(large));
	end();
	return NULL;
}
static void check_pieces(void) { assert(large[0] == large[sizeof(large) - 1]); }

static struct three {
	long a, b, c;
} three;
static void *do_struct(void *arg)
{
	struct three own = { arg != NULL, arg != NULL, arg != NULL };

	begin();
	three = own;
	end();
	return NULL;
}
static void check_struct(void)
{
	struct three own = three;

	assert(own.a == own.b && own.b == own.c);
}

static char set[32];
static void *do_memset(void *arg)
{
	begin();
	memset(set, arg ? 1 : 2, sizeof(set));
	end();
	return NULL;
}
static void check_memset(void) { assert(set[0] == set[31]); }

static char same[16] = "aaaaaaaaaaaaaaa";
static void *do_memcmp(void *arg)
{
	begin();
	if (arg)
		memset(same, 'x', 15);
	else
		assert(memcmp(same, "aaaaaaaaxxxxxxx", 15) && memcmp(same, "xxxxxxxxaaaaaaa", 15));
	end();
	return NULL;
}

/* ---- formats ---- */

static char line[64];
static void *do_snprintf(void *arg)
{
	begin();
	snprintf(line, sizeof(line), "%s=%d;%d", "wwwwwwww", arg != NULL, arg ? 1111111 : 2222222);
	end();
	return NULL;
}
static void check_snprintf(void)
{
	assert(!strcmp(line, "wwwwwwww=1;1111111") || !strcmp(line, "wwwwwwww=0;2222222"));
}

static char printed[64];
static void *do_sprintf(void *arg)
{
	begin();
	sprintf(printed, "%d%d%d", arg != NULL, 77777777, arg != NULL);
	end();
	return NULL;
}
static void check_sprintf(void) { assert(printed[0] == printed[9]); }

static char name[64] = "xx";
static void *do_text_argument(void *arg)
{
	char own[64] = "xx";

	begin();
	if (arg)
		strcpy(name, "yyy");
	else
		snprintf(own, sizeof(own), "%s", name);
	end();
	assert(!strcmp(own, "xx") || !strcmp(own, "yyy"));
	return NULL;
}

static char pair[16] = "1 1";
static void *do_sscanf(void *arg)
{
	int x = 0, y = 0;

	begin();
	if (arg)
		strcpy(pair, "2 2");
	else
		assert(sscanf(pair, "%d %d", &x, &y) == 2 && x == y);
	end();
	return NULL;
}

/* ---- the world ---- */

static char input[16], output[16] = "aaaaaaaaaaaaaaa";
static int fds[2];
static void *do_read(void *arg)
{
	begin();
	if (arg)
		assert(read(fds[0], input, 16) == 16);
	else
		memset(input, 'x', 16);
	end();
	return NULL;
}
static void check_read(void) { assert((input[0] == 'x') == (input[15] == 'x')); }

static void *do_write(void *arg)
{
	begin();
	if (arg)
		assert(write(fds[1], output, 15) == 15);
	else
		memset(output, 'x', 15);
	end();
	return NULL;
}
static void check_write(void)
{
	char own[16];

	assert(read(fds[0], own, 15) == 15);
	assert((own[0] == 'x') == (own[14] == 'x'));
}

/* ---- what libc keeps ---- */

static void *do_strtok(void *arg)
{
	char own[16] = "a b c";
	int n = 0;

	(void)arg;
	begin();
	for (char *p = strtok(own, " "); p; p = strtok(NULL, " "))
		n++;
	end();
	assert(n == 3);
	return NULL;
}

static void *do_gmtime(void *arg)
{
	time_t t = arg ? 0 : 400000000;

	begin();
	assert(gmtime(&t)->tm_year == (arg ? 70 : 82));
	end();
	return NULL;
}

static void *do_ctime(void *arg)
{
	time_t t = arg ? 0 : 400000000;
	char own[64];

	begin();
	strcpy(own, ctime(&t));
	end();
	assert(strstr(own, arg ? "19" : "1982"));
	assert(!strstr(own, arg ? "1982" : "1970"));
	return NULL;
}

static const struct family {
	const char *name;
	void *(*run)(void *arg);
	void (*check)(void);
} families[] = {
	{ "strcat", do_strcat, check_strcat },
	{ "strcpy", do_strcpy, check_strcpy },
	{ "atoi", do_atoi, NULL },
	{ "memcpy", do_memcpy, check_memcpy },
	{ "pieces", do_pieces, check_pieces },
	{ "struct", do_struct, check_struct },
	{ "memset", do_memset, check_memset },
	{ "memcmp", do_memcmp, NULL },
	{ "snprintf", do_snprintf, check_snprintf },
	{ "sprintf", do_sprintf, check_sprintf },
	{ "text-argument", do_text_argument, NULL },
	{ "sscanf", do_sscanf, NULL },
	{ "read", do_read, check_read },
	{ "write", do_write, check_write },
	{ "strtok", do_strtok, NULL },
	{ "gmtime", do_gmtime, NULL },
	{ "ctime", do_ctime, NULL },
};

int main(int argc, char **argv)
{
	pthread_t one, two;

	cured = argc > 2;
	memset(filled[1], 1, sizeof(filled[1]));
	memset(filled_large[1], 1, sizeof(filled_large[1]));
	for (size_t i = 0; argc > 1 && i < sizeof(families) / sizeof(families[0]); i++) {
		if (strcmp(families[i].name, argv[1]))
			continue;
		if (pipe(fds) || (!strcmp(argv[1], "read") && write(fds[1], "aaaaaaaabbbbbbbb", 16) < 0))
			return 3;
		pthread_create(&one, NULL, families[i].run, NULL);
		pthread_create(&two, NULL, families[i].run, argv);
		pthread_join(one, NULL);
		pthread_join(two, NULL);
		if (families[i].check)
			families[i].check();
		return 0;
	}
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		puts(families[i].name);
	return 2;
}
