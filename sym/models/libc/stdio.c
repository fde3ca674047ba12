/* Streams (print.c has formatted output, scan.c formatted input). They are unbuffered over the file descriptors; the FILE
 * structure is glibc's own, so that the inline functions of its headers see empty buffers and call
 * us. */
#include "files.h"
#include "model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define EOF_SEEN 0x10
#define ERR_SEEN 0x20

static FILE streams[3] = { { ._fileno = 0 }, { ._fileno = 1 }, { ._fileno = 2 } };
FILE *stdin = &streams[0], *stdout = &streams[1], *stderr = &streams[2];

/* One pushed-back character per stream lives in _unused2[0..1]: flag, character. */
static int *pushed(FILE *f)
{
	return (int *)(void *)&f->_offset;
}

FILE *fdopen(int fd, const char *mode)
{
	FILE *f = calloc(1, sizeof(*f));

	(void)mode;
	if (f)
		f->_fileno = fd;
	return f;
}

static int mode_flags(const char *mode)
{
	int flags = *mode == 'r'   ? O_RDONLY
		    : *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
				   : O_WRONLY | O_CREAT | O_APPEND;

	for (mode++; *mode; mode++) {
		if (*mode == '+')
			flags = (flags & ~3) | O_RDWR;
		if (*mode == 'x')
			flags |= O_EXCL;
	}
	return flags;
}

FILE *fopen(const char *path, const char *mode)
{
	int fd = open(path, mode_flags(mode), 0666);

	return fd < 0 ? NULL : fdopen(fd, mode);
}
FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

FILE *freopen(const char *path, const char *mode, FILE *f)
{
	int fd = open(path, mode_flags(mode), 0666);

	if (fd < 0)
		return NULL;
	close(f->_fileno);
	dup2(fd, f->_fileno);
	close(fd);
	return f;
}

int fclose(FILE *f)
{
	int r = close(f->_fileno);

	if (f != stdin && f != stdout && f != stderr)
		free(f);
	return r;
}

int fflush(FILE *f)
{
	(void)f;
	return 0;
}
size_t __fpending(FILE *f)
{
	(void)f;
	return 0;
}
int fileno(FILE *f)
{
	return f->_fileno;
}
int feof(FILE *f)
{
	return (f->_flags & EOF_SEEN) != 0;
}
int ferror(FILE *f)
{
	return (f->_flags & ERR_SEEN) != 0;
}
void clearerr(FILE *f)
{
	f->_flags &= ~(EOF_SEEN | ERR_SEEN);
}
void setbuf(FILE *f, char *b)
{
	(void)f;
	(void)b;
}
void setlinebuf(FILE *f)
{
	(void)f;
}
int setvbuf(FILE *f, char *b, int m, size_t n)
{
	(void)f;
	(void)b;
	(void)m;
	(void)n;
	return 0;
}
void flockfile(FILE *f)
{
	(void)f;
}
void funlockfile(FILE *f)
{
	(void)f;
}

size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
	long r;

	if (!size || !n)
		return 0;
	r = sym_fd_write(f->_fileno, p, size * n);
	if (r < 0) {
		f->_flags |= ERR_SEEN;
		return 0;
	}
	return (size_t)r / size;
}

int fgetc(FILE *f)
{
	unsigned char c;
	long r;

	if (pushed(f)[0]) {
		pushed(f)[0] = 0;
		return pushed(f)[1];
	}
	r = sym_fd_read(f->_fileno, &c, 1);
	if (r == 1)
		return c;
	f->_flags |= r ? ERR_SEEN : EOF_SEEN;
	return EOF;
}

size_t fread(void *p, size_t size, size_t n, FILE *f)
{
	char *out = p;
	size_t want = size * n, got = 0;
	long r;

	if (!want)
		return 0;
	if (pushed(f)[0]) {
		pushed(f)[0] = 0;
		out[got++] = (char)pushed(f)[1];
	}
	while (got < want) {
		r = sym_fd_read(f->_fileno, out + got, want - got);
		if (r <= 0) {
			f->_flags |= r ? ERR_SEEN : EOF_SEEN;
			break;
		}
		got += (size_t)r;
	}
	return got / size;
}

int getc(FILE *f)
{
	return fgetc(f);
}
int getchar(void)
{
	return fgetc(stdin);
}
int __uflow(FILE *f)
{
	return fgetc(f);
}
int _IO_getc(FILE *f)
{
	return fgetc(f);
}
int getc_unlocked(FILE *f)
{
	return fgetc(f);
}
int getchar_unlocked(void)
{
	return fgetc(stdin);
}
int ungetc(int c, FILE *f)
{
	if (c == EOF)
		return EOF;
	pushed(f)[0] = 1;
	pushed(f)[1] = (unsigned char)c;
	f->_flags &= ~EOF_SEEN;
	return c;
}

int fputc(int c, FILE *f)
{
	unsigned char b = (unsigned char)c;

	return fwrite(&b, 1, 1, f) == 1 ? b : EOF;
}
int putc(int c, FILE *f)
{
	return fputc(c, f);
}
int putchar(int c)
{
	return fputc(c, stdout);
}
int putc_unlocked(int c, FILE *f)
{
	return fputc(c, f);
}
int putchar_unlocked(int c)
{
	return fputc(c, stdout);
}
int __overflow(FILE *f, int c)
{
	return fputc(c, f);
}
int fputs(const char *s, FILE *f)
{
	return fwrite(s, 1, strlen(s), f) || !*s ? 1 : EOF;
}
int fputs_unlocked(const char *s, FILE *f)
{
	return fputs(s, f);
}
size_t(fwrite_unlocked)(const void *p, size_t s, size_t n, FILE *f)
{
	return fwrite(p, s, n, f);
}
size_t(fread_unlocked)(void *p, size_t s, size_t n, FILE *f)
{
	return fread(p, s, n, f);
}
int fflush_unlocked(FILE *f)
{
	(void)f;
	return 0;
}
int puts(const char *s)
{
	fputs(s, stdout);
	fputc('\n', stdout);
	return 1;
}

char *fgets(char *s, int n, FILE *f)
{
	int i = 0, c = 0;

	while (i + 1 < n && c != '\n') {
		c = fgetc(f);
		if (c == EOF)
			break;
		s[i++] = (char)c;
	}
	if (!i)
		return NULL;
	s[i] = 0;
	return s;
}

ssize_t getdelim(char **line, size_t *cap, int delim, FILE *f)
{
	size_t n = 0;
	int c;

	do {
		c = fgetc(f);
		if (c == EOF)
			break;
		if (n + 2 > *cap || !*line) {
			*cap = *cap < 120 ? 120 : *cap * 2;
			*line = realloc(*line, *cap);
		}
		(*line)[n++] = (char)c;
	} while (c != delim);
	if (!n)
		return -1;
	(*line)[n] = 0;
	return (ssize_t)n;
}
ssize_t __getdelim(char **line, size_t *cap, int delim, FILE *f)
{
	return getdelim(line, cap, delim, f);
}
ssize_t getline(char **line, size_t *cap, FILE *f)
{
	return getdelim(line, cap, '\n', f);
}

int fseek(FILE *f, long at, int whence)
{
	pushed(f)[0] = 0;
	f->_flags &= ~EOF_SEEN;
	return lseek(f->_fileno, at, whence) < 0 ? -1 : 0;
}
int fseeko(FILE *f, off_t at, int whence)
{
	return fseek(f, at, whence);
}
long ftell(FILE *f)
{
	return lseek(f->_fileno, 0, SEEK_CUR) - pushed(f)[0];
}
off_t ftello(FILE *f)
{
	return ftell(f);
}
void rewind(FILE *f)
{
	fseek(f, 0, SEEK_SET);
	f->_flags = 0;
}
FILE *tmpfile(void)
{
	static int n;
	char name[32] = "(tmp 0)";

	name[5] = (char)('0' + n++ % 10);
	return fopen(name, "w+");
}
