/* Characters in the C locale. glibc's macros read the three tables below. */
#define _CTYPE_MODEL
#include "model.h"

#include <ctype.h>
#undef isalpha
#undef toupper
#undef tolower

/* The bits of glibc's <ctype.h> on little-endian machines. */
static unsigned short classify(int c)
{
	unsigned short m = 0;

	if (c < 0 || c > 127)
		return 0;
	if (c >= 'A' && c <= 'Z')
		m |= _ISupper;
	if (c >= 'a' && c <= 'z')
		m |= _ISlower;
	if (m)
		m |= _ISalpha;
	if (c >= '0' && c <= '9')
		m |= _ISdigit;
	if (m & (_ISalpha | _ISdigit))
		m |= _ISalnum;
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
		m |= _ISxdigit;
	if (c == ' ' || (c >= 9 && c <= 13))
		m |= _ISspace;
	if (c == ' ' || c == 9)
		m |= _ISblank;
	if (c < 32 || c == 127)
		m |= _IScntrl;
	if (c > 32 && c < 127)
		m |= _ISgraph;
	if (c >= 32 && c < 127)
		m |= _ISprint;
	if ((m & _ISgraph) && !(m & _ISalnum))
		m |= _ISpunct;
	return m;
}

static unsigned short class_table[384];
static int upper_table[384], lower_table[384];
static const unsigned short *class_ptr;
static const int *upper_ptr, *lower_ptr;

static void fill(void)
{
	for (int i = -128; i < 256; i++) {
		class_table[i + 128] = classify(i);
		upper_table[i + 128] = i >= 'a' && i <= 'z' ? i - 32 : i;
		lower_table[i + 128] = i >= 'A' && i <= 'Z' ? i + 32 : i;
	}
	upper_ptr = upper_table + 128;
	lower_ptr = lower_table + 128;
	class_ptr = class_table + 128;
}

const unsigned short **__ctype_b_loc(void)
{
	if (!class_ptr)
		fill();
	return &class_ptr;
}

const int **__ctype_toupper_loc(void)
{
	if (!class_ptr)
		fill();
	return &upper_ptr;
}

const int **__ctype_tolower_loc(void)
{
	if (!class_ptr)
		fill();
	return &lower_ptr;
}

int toupper(int c)
{
	return c >= 'a' && c <= 'z' ? c - 32 : c;
}
int tolower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}
int(isupper)(int c)
{
	return c >= 'A' && c <= 'Z';
}
int(islower)(int c)
{
	return c >= 'a' && c <= 'z';
}
int isalpha(int c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
int(isdigit)(int c)
{
	return c >= '0' && c <= '9';
}
int(isalnum)(int c)
{
	return isalpha(c) || (c >= '0' && c <= '9');
}
int(isspace)(int c)
{
	return c == ' ' || (c >= 9 && c <= 13);
}
int(isblank)(int c)
{
	return c == ' ' || c == 9;
}
int(iscntrl)(int c)
{
	return (c >= 0 && c < 32) || c == 127;
}
int(isprint)(int c)
{
	return c >= 32 && c < 127;
}
int(isgraph)(int c)
{
	return c > 32 && c < 127;
}
int(ispunct)(int c)
{
	return c > 32 && c < 127 && !isalpha(c) && !(c >= '0' && c <= '9');
}
int(isxdigit)(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
int(isascii)(int c)
{
	return c >= 0 && c < 128;
}
