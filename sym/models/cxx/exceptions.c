/* C++ exceptions, as far as they can be written in C: their memory, who has caught which, and the
 * classes of the library that are thrown most. The way to the handler is the machine's
 * (sym/machine/unwind.c), which knows the first three words of the header. */
#include "../libc/model.h"

#include <stdlib.h>
#include <string.h>

struct header { /* stands 128 bytes in front of the object */
	void *type;
	void (*destroy)(void *);
	void *adjusted;
	struct header *next; /* caught before */
	int handlers;	     /* that have it */
};

static _Thread_local struct header *caught;

static struct header *header_of(void *exception)
{
	return (struct header *)((char *)exception - 128);
}

static void *object_of(struct header *h)
{
	return (char *)h + 128;
}

void *__cxa_allocate_exception(size_t n);
void *__cxa_allocate_exception(size_t n)
{
	return (char *)calloc(1, n + 128) + 128;
}
void __cxa_free_exception(void *e);
void __cxa_free_exception(void *e)
{
	free(header_of(e));
}

_Noreturn void __cxa_throw(void *e, void *type, void (*destroy)(void *));
_Noreturn void __cxa_throw(void *e, void *type, void (*destroy)(void *))
{
	header_of(e)->type = type;
	header_of(e)->destroy = destroy;
	sym_unwind(e);
}

void *__cxa_begin_catch(void *e);
void *__cxa_begin_catch(void *e)
{
	struct header *h = header_of(e);

	if (!h->handlers++) {
		h->next = caught;
		caught = h;
	}
	return h->adjusted;
}
void *__cxa_get_exception_ptr(void *e);
void *__cxa_get_exception_ptr(void *e)
{
	return header_of(e)->adjusted;
}
void __cxa_end_catch(void);
void __cxa_end_catch(void)
{
	struct header *h = caught;

	if (!h)
		return;
	if (h->handlers < 0) { /* thrown again from here: somebody else has it now */
		h->handlers = -h->handlers - 1;
		if (!h->handlers)
			caught = h->next;
		return;
	}
	if (--h->handlers)
		return;
	caught = h->next;
	if (h->destroy)
		h->destroy(object_of(h));
	free(h);
}
_Noreturn void __cxa_rethrow(void);
_Noreturn void __cxa_rethrow(void)
{
	if (!caught)
		abort();
	caught->handlers = -caught->handlers;
	sym_unwind(object_of(caught));
}
int __cxa_uncaught_exceptions(void) __asm__("_ZSt19uncaught_exceptionsv");
int __cxa_uncaught_exceptions(void)
{
	return 0;
}
_Bool uncaught(void) __asm__("_ZSt18uncaught_exceptionv");
_Bool uncaught(void)
{
	return 0;
}
_Noreturn void _ZSt9terminatev(void);
_Noreturn void _ZSt9terminatev(void)
{
	abort();
}

/* What typeid says of types that every program shares. */
struct type_info {
	void *table;
	const char *name;
};
static void *type_table[8];
#define TYPE(name) struct type_info type_##name __asm__("_ZTI" #name) = { type_table, #name };
TYPE(v)
TYPE(b)
TYPE(c)
TYPE(a)
TYPE(h)
TYPE(w)
TYPE(s)
TYPE(t)
TYPE(i)
TYPE(j)
TYPE(l)
TYPE(m)
TYPE(x)
TYPE(y)
TYPE(f)
TYPE(d)
TYPE(e)
TYPE(Pv)
TYPE(PKv)
TYPE(Pc)
TYPE(PKc)
TYPE(Pi)
TYPE(NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)

/* Of the types above. */
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status)
{
	static const char *const names[] = {
		['v' - 'a'] = "void",	       ['b' - 'a'] = "bool",
		['c' - 'a'] = "char",	       ['a' - 'a'] = "signed char",
		['h' - 'a'] = "unsigned char", ['w' - 'a'] = "wchar_t",
		['s' - 'a'] = "short",	       ['t' - 'a'] = "unsigned short",
		['i' - 'a'] = "int",	       ['j' - 'a'] = "unsigned int",
		['l' - 'a'] = "long",	       ['m' - 'a'] = "unsigned long",
		['x' - 'a'] = "long long",     ['y' - 'a'] = "unsigned long long",
		['f' - 'a'] = "float",	       ['d' - 'a'] = "double",
		['e' - 'a'] = "long double",   ['z' - 'a'] = "...",
	};
	const char *text = *name >= 'a' && *name <= 'z' && !name[1] ? names[*name - 'a'] : NULL;

	if (!strcmp(name, "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"))
		text = "std::__cxx11::basic_string<char, std::char_traits<char>, "
		       "std::allocator<char> >";
	if (!text || buffer || size)
		sym_refuse("the name of this type, demangled, has no model");
	if (status)
		*status = 0;
	return strdup(text);
}
