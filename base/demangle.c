#include "base/demangle.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_ARGUMENTS = 24 };

typedef char *(*demangler)(const char *, char *, size_t *, int *);

/* We are C; a C++ runtime is there whenever there are C++ names to read. */
static demangler find_demangler(void)
{
	static demangler found;
	static int looked;

	if (!looked) {
		void *cxx = dlopen("libstdc++.so.6", RTLD_LAZY);

		found = cxx ? (demangler)dlsym(cxx, "__cxa_demangle") : NULL;
		looked = 1;
	}
	return found;
}

/* The bracket that closes the one at p; NULL: none before the end. */
static const char *closing(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		depth += *p == '<' ? 1 : *p == '>' ? -1 : 0;
		if (!depth)
			return p;
	}
	return NULL;
}

static bool is_operator(const char *start, const char *p)
{
	return p - start >= 8 && strncmp(p - 8, "operator", 8) == 0;
}

void name_shorten(const char *name, size_t len, struct strbuf *out)
{
	const char *end = name + len;

	for (const char *p = name; p < end; p++) {
		const char *close = *p == '<' && !is_operator(name, p) ? closing(p, end) : NULL;

		if (!close || close - p <= LONGEST_ARGUMENTS) {
			strbuf_addc(out, *p);
			continue;
		}
		strbuf_adds(out, "<…>");
		p = close;
	}
}

/* "operator()()" says no more than "operator()". */
static void drop_empty_list(char *text)
{
	char *at = strstr(text, "operator()()");

	if (at)
		memmove(at + 10, at + 12, strlen(at + 12) + 1);
}

const char *call_brackets(const char *function)
{
	return strchr(function, '(') ? "" : "()";
}

char *demangle(const char *name)
{
	demangler f = strncmp(name, "_Z", 2) == 0 ? find_demangler() : NULL;
	char *text = f ? f(name, NULL, NULL, NULL) : NULL;
	struct strbuf out = { 0 };

	if (!text)
		return xstrdup(name);
	drop_empty_list(text);
	name_shorten(text, strlen(text), &out);
	free(text);
	return strbuf_detach(&out);
}

/* Behind the scopes and the result's type: what follows the last "::" or space outside of brackets. */
static const char *behind_scopes(const char *from, const char *end)
{
	const char *begin = from;
	int depth = 0;

	for (const char *p = from; p < end; p++) {
		depth += *p == '<' || *p == '(' || *p == '{' || *p == '[' ? 1 : 0;
		depth -= *p == '>' || *p == ')' || *p == '}' || *p == ']' ? 1 : 0;
		if (!depth && (*p == ' ' || *p == ':'))
			begin = p + 1;
	}
	return begin;
}

/* The bracket of the parameters: the first one outside of "<>" that does not begin a scope. */
static const char *parameters(const char *text)
{
	const char *p = text;
	int depth = 0;

	for (; *p; p++) {
		depth += *p == '<' ? 1 : *p == '>' ? -1 : 0;
		if (*p != '(' || depth)
			continue;
		if (strncmp(p, "(anonymous namespace)", 21) != 0)
			break;
		p += 20;
	}
	return p;
}

char *function_own_name(const char *name)
{
	char *text = demangle(name), *own;
	const char *begin = strstr(text, "operator"), *end;

	if (begin && (begin == text || begin[-1] == ':' || begin[-1] == ' ')) {
		end = begin + 8;
		end += strncmp(end, "()", 2) == 0 ? 2 : strcspn(end, "(");
	} else {
		end = parameters(text);
		begin = behind_scopes(text, end);
		end = begin + strcspn(begin, "<(.["); /* "[abi:cxx11]" */
	}
	own = xstrndup(begin, (size_t)(end - begin));
	free(text);
	return own;
}
