/* Wide characters in the C locale, where a character is a byte below 128. */
#include "model.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#undef mbsinit
#undef btowc
#undef wctob

int mbsinit(const mbstate_t *state)
{
	(void)state;
	return 1;
}

size_t mbrtowc(wchar_t *to, const char *s, size_t n, mbstate_t *state)
{
	unsigned char c;

	(void)state;
	if (!s)
		return 0;
	if (!n)
		return (size_t)-2;
	c = (unsigned char)*s;
	if (c > 127) {
		errno = EILSEQ;
		return (size_t)-1;
	}
	if (to)
		*to = c;
	return c != 0;
}
int mbtowc(wchar_t *to, const char *s, size_t n)
{
	size_t used = mbrtowc(to, s, n, NULL);

	return used > 1 ? -1 : (int)used;
}
size_t mbrlen(const char *s, size_t n, mbstate_t *state)
{
	return mbrtowc(NULL, s, n, state);
}
size_t wcrtomb(char *s, wchar_t c, mbstate_t *state)
{
	(void)state;
	if (!s)
		return 1;
	if (c > 127) {
		errno = EILSEQ;
		return (size_t)-1;
	}
	*s = (char)c;
	return 1;
}
wint_t btowc(int c)
{
	return c >= 0 && c < 128 ? (wint_t)c : WEOF;
}
int wctob(wint_t c)
{
	return c < 128 ? (int)c : EOF;
}

#define CLASS(name)                                                                                \
	int isw##name(wint_t c)                                                                    \
	{                                                                                          \
		return c < 128 ? is##name((int)c) : 0;                                             \
	}
CLASS(alnum)
CLASS(alpha)
CLASS(cntrl)
CLASS(digit)
CLASS(graph)
CLASS(lower)
CLASS(print)
CLASS(punct)
CLASS(space)
CLASS(upper)
CLASS(xdigit)
wint_t towlower(wint_t c)
{
	return c < 128 ? (wint_t)tolower((int)c) : c;
}
wint_t towupper(wint_t c)
{
	return c < 128 ? (wint_t)toupper((int)c) : c;
}
int wcwidth(wchar_t c)
{
	return !c ? 0 : iswprint((wint_t)c) ? 1 : -1;
}

char *nl_langinfo(nl_item item)
{
	return item == CODESET	   ? "ANSI_X3.4-1968"
	       : item == RADIXCHAR ? "."
	       : item == YESEXPR   ? "^[yY]"
	       : item == NOEXPR	   ? "^[nN]"
				   : "";
}
