/* mode.c - "644", "u+x", "go-w", "a=r": as chmod has them, without the rarer letters. */
#include "mode.h"

static int octal(const char *text, int *mode)
{
	int value = 0;

	for (; *text; text++) {
		if (*text < '0' || *text > '7')
			return -1;
		value = value * 8 + (*text - '0');
		if (value > 07777)
			return -1;
	}
	*mode = value;
	return 0;
}

static int who_bits(char c)
{
	switch (c) {
	case 'u':
		return 0700;
	case 'g':
		return 0070;
	case 'o':
		return 0007;
	case 'a':
		return 0777;
	default:
		return 0;
	}
}

int mode_parse(const char *text, int *mode)
{
	int who = 0, bits = 0;
	char op;

	if (*text >= '0' && *text <= '7')
		return octal(text, mode);
	while (who_bits(*text))
		who |= who_bits(*text++);
	if (!who)
		who = 0777;
	op = *text++;
	if (op != '+' && op != '-' && op != '=')
		return -1;
	for (; *text; text++) {
		if (*text == 'r')
			bits |= 0444;
		else if (*text == 'w')
			bits |= 0222;
		else if (*text == 'x')
			bits |= 0111;
		else
			return -1;
	}
	bits &= who;
	if (op == '+')
		*mode |= bits;
	else if (op == '-')
		*mode &= ~bits;
	else
		*mode = (*mode & ~who) | bits;
	return 0;
}
