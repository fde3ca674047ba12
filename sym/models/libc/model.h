/* sym/models/libc/model.h - what the machine provides to the models (sym/ir/builtins.def). The models
 * are compiled to bitcode and run inside the machine: plain C, no libc underneath. */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>
#include <stdint.h>

_Noreturn void sym_exit(int code);
void *sym_memalign(size_t size);
/* SIZE_MAX when the bytes are not all known. */
size_t sym_strlen(const char *s);
void sym_output(int fd, const void *data, size_t len);
long sym_host_size(const char *path);
long sym_host_read(const char *path, void *buf, size_t len);
int sym_format_double(char *buf, size_t len, const char *format, double d);
int sym_format_ldouble(char *buf, size_t len, const char *format, const long double *d);
double sym_parse_double(const char *text);
int sym_is_symbolic(uint64_t value);
void sym_symbolic(void *at, size_t len, const char *name);
void sym_assume(int condition);
uint64_t sym_concrete(uint64_t value);
/* A value it can have, without deciding for it: only for what nobody looks at again. */
uint64_t sym_peek(uint64_t value);
void sym_note(const char *text);
_Noreturn void sym_refuse(const char *text);
_Noreturn void sym_unwind(void *exception);
uint64_t sym_clock(void);
void sym_sleep(uint64_t ns);
int sym_mutex_init(void *mutex, int kind);
int sym_once_begin(void *control);
void sym_once_end(void *control);

#endif
