/* cc/expand/bodies/state.c - functions of libc that keep something from one call to the next.
 *
 * What they keep is an object that threads share. Where libc does not say where it is, an object of
 * the runtime stands for it (rt/modes/state.c), and is read and written as libc reads and writes its
 * own: rand and random lock theirs, so they are atomic; the others do not. */
#include "cc/expand/bodies/body.h"

#include <time.h>

extern char *plait_state_strtok;
extern uint64_t plait_state_rand, plait_state_rand48, plait_state_environ;
extern struct tm plait_state_tm;
extern char plait_state_asctime[64];

/* ---- strtok ---- */

INSIDE int is_one_of(const char *set, char c)
{
	size_t i = 0;

	while (set[i] && set[i] != c)
		i++;
	return set[i] != 0;
}

BODY char *body_strtok(char *s, const char *set)
{
	size_t from = 0, to;
	char c;

	if (!s)
		s = plait_state_strtok;
	if (!s)
		return NULL;
	while ((c = s[from]) && is_one_of(set, c))
		from++;
	if (!c) {
		plait_state_strtok = NULL;
		return NULL;
	}
	for (to = from; (c = s[to]) && !is_one_of(set, c); to++)
		;
	if (c) {
		s[to] = 0;
		plait_state_strtok = s + to + 1;
	} else {
		plait_state_strtok = NULL;
	}
	return s + from;
}

/* ---- chance ---- */

int rand(void);
void srand(unsigned seed);
long random(void);
void srandom(unsigned seed);
double drand48(void);
long lrand48(void);
long mrand48(void);
void srand48(long seed);

INSIDE void step(void)
{
	__atomic_fetch_add(&plait_state_rand, 1, __ATOMIC_SEQ_CST);
}

BODY int body_rand(void)
{
	step();
	return rand();
}

BODY void body_srand(unsigned seed)
{
	step();
	srand(seed);
}

BODY long body_random(void)
{
	step();
	return random();
}

BODY void body_srandom(unsigned seed)
{
	step();
	srandom(seed);
}

INSIDE void step48(void)
{
	volatile uint64_t *state = &plait_state_rand48;

	*state = *state + 1;
}

BODY double body_drand48(void)
{
	step48();
	return drand48();
}

BODY long body_lrand48(void)
{
	step48();
	return lrand48();
}

BODY long body_mrand48(void)
{
	step48();
	return mrand48();
}

BODY void body_srand48(long seed)
{
	step48();
	srand48(seed);
}

/* ---- time: localtime and gmtime share one struct, asctime and ctime one text ---- */

void tzset(void);
struct tm *localtime_r(const time_t *t, struct tm *to);
struct tm *gmtime_r(const time_t *t, struct tm *to);
char *asctime_r(const struct tm *t, char *to);

INSIDE struct tm *keep_tm(const struct tm *own, const void *good)
{
	if (!good)
		return NULL;
	copy_up((char *)&plait_state_tm, (const char *)own, sizeof(*own));
	return &plait_state_tm;
}

BODY struct tm *body_localtime(const time_t *t)
{
	time_t when = *t;
	struct tm own;

	tzset();
	return keep_tm(&own, localtime_r(&when, &own));
}

BODY struct tm *body_gmtime(const time_t *t)
{
	time_t when = *t;
	struct tm own;

	return keep_tm(&own, gmtime_r(&when, &own));
}

INSIDE char *print_tm(const struct tm *t)
{
	char text[64];

	if (!asctime_r(t, text))
		return NULL;
	copy_up(plait_state_asctime, text, text_length(text) + 1);
	return plait_state_asctime;
}

BODY char *body_asctime(const struct tm *t)
{
	struct tm own;

	copy_up((char *)&own, (const char *)t, sizeof(own));
	return print_tm(&own);
}

BODY char *body_ctime(const time_t *t)
{
	time_t when = *t;
	struct tm own;

	tzset();
	if (!keep_tm(&own, localtime_r(&when, &own)))
		return NULL;
	return print_tm(&own);
}

/* ---- the environment: setenv locks, getenv does not ---- */

char *getenv(const char *name);
int setenv(const char *name, const char *value, int replace);
int unsetenv(const char *name);
int putenv(char *text);

BODY char *body_getenv(const char *name)
{
	(void)*(volatile uint64_t *)&plait_state_environ;
	return getenv(name);
}

INSIDE void change_environment(void)
{
	volatile uint64_t *state = &plait_state_environ;

	*state = *state + 1;
}

BODY int body_setenv(const char *name, const char *value, int replace)
{
	change_environment();
	return setenv(name, value, replace);
}

BODY int body_unsetenv(const char *name)
{
	change_environment();
	return unsetenv(name);
}

BODY int body_putenv(char *text)
{
	change_environment();
	return putenv(text);
}
