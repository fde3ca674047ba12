// cc/expand/bodies/string.cpp - the members of std::string, which libstdc++ keeps in libstdc++.so.
//
// Compiled from libstdc++'s own headers; copies and searches are the bodies of memory.c and text.c.
// A member is a body under its own name. (The analysis sees the call with its summary: a string may
// point into itself, and its code would make one class of everything around it.)
#include <cstddef>

extern "C" {
void *body_memcpy(char *d, const char *s, size_t n);
void *body_memmove(char *d, const char *s, size_t n);
void *body_memset(char *d, int c, size_t n);
int body_memcmp(const char *a, const char *b, size_t n);
void *body_memchr(const char *s, int c, size_t n);
size_t body_strlen(const char *s);
}
#define __builtin_memcpy(d, s, n) body_memcpy((char *)(d), (const char *)(s), n)
#define __builtin_memmove(d, s, n) body_memmove((char *)(d), (const char *)(s), n)
#define __builtin_memset(d, c, n) body_memset((char *)(d), c, n)
#define __builtin_memcmp(a, b, n) body_memcmp((const char *)(a), (const char *)(b), n)
#define __builtin_memchr(s, c, n) body_memchr((const char *)(s), c, n)
#define __builtin_strlen(s) body_strlen((const char *)(s))
#include <string>

template class std::basic_string<char>;
