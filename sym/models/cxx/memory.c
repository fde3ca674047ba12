/* The rarer forms of operator new and delete. */
#include "../libc/model.h"

#include <stdlib.h>

void *_ZnwmRKSt9nothrow_t(size_t n, const void *t);
void *_ZnwmRKSt9nothrow_t(size_t n, const void *t)
{
	(void)t;
	return malloc(n);
}
void *_ZnamRKSt9nothrow_t(size_t n, const void *t);
void *_ZnamRKSt9nothrow_t(size_t n, const void *t)
{
	(void)t;
	return malloc(n);
}
void *_ZnwmSt11align_val_t(size_t n, size_t align);
void *_ZnwmSt11align_val_t(size_t n, size_t align)
{
	return aligned_alloc(align, n);
}
void _ZdlPvmSt11align_val_t(void *p, size_t n, size_t align);
void _ZdlPvmSt11align_val_t(void *p, size_t n, size_t align)
{
	(void)n;
	(void)align;
	free(p);
}
void _ZdlPvRKSt9nothrow_t(void *p, const void *t);
void _ZdlPvRKSt9nothrow_t(void *p, const void *t)
{
	(void)t;
	free(p);
}
