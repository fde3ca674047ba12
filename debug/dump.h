/* debug/dump.h - read a core dump: memory, threads with their registers, files, modules.
 *
 * Kernel cores and gcore's, and minidumps (Breakpad, Crashpad, lldb) of Linux, x86-64; also packed by
 * zstd, lz4, xz or gzip. The file is mapped, never read whole, and never believed: every size and
 * offset is checked against the file before use. What is missing is a gap with a sentence of its own;
 * it never reads as zero. */
#ifndef DEBUG_DUMP_H
#define DEBUG_DUMP_H

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "debug/binary.h"

#include <sys/user.h>

struct err;

/* A range of the process's memory. Only the first `there` of its bytes are in the dump. */
struct dump_segment {
	uint64_t address, size, there;
	uint64_t at;	/* where they are in the file */
	uint32_t flags; /* PF_R, PF_W, PF_X */
};

struct dump_thread {
	uint32_t tid;
	struct user_regs_struct registers;
	bool number_unknown;	 /* orig_rax is not known: minidumps */
	bool base_unknown;	 /* fs_base is not, nor gs_base: minidumps */
	bool flags_unknown;	 /* eflags is not: minidumps of lldb */
	const uint8_t *extended; /* vector registers, as XSAVE writes them; NULL = not dumped */
	size_t extended_len;	 /* 512: those of FXSAVE alone */
};

/* A file that was mapped; its path is borrowed from the dump. */
struct dump_file {
	uint64_t start, end;
	uint64_t offset; /* of the mapping in the file, in bytes */
	const char *path;
	bool code; /* it is mapped to be executed */
};

/* A program or library that was loaded. */
struct dump_module {
	uint64_t low, high;
	uint64_t bias; /* run-time address minus the file's own */
	const char *path;
	char build_id[BUILD_ID_CHARS]; /* "" = it has none, or the dump does not tell */
};

/* Texts one behind the other, each with its 0. */
struct dump_list {
	const char *text; /* NULL = not dumped */
	size_t len;	  /* behind it is another 0 */
};

struct dump {
	struct file_map map;
	bool mini; /* it is a minidump */
	struct arena strings;
	VEC(struct dump_segment) segments;
	double seconds; /* processor time that it had used; 0 = the dump does not say */
	VEC(struct dump_thread) threads; /* the one that got the signal is first */
	VEC(struct dump_file) files;
	VEC(struct dump_module) modules;
	char program[17];    /* its name, as far as the kernel keeps it; "" = not known */
	int signal;	     /* that ended it; 0 = not known */
	int code;	     /* si_code: where the signal came from; 0 = a process, or not known */
	bool origin_unknown; /* si_code and si_addr are not dumped: minidumps of a debugger */
	uint64_t fault;	     /* si_addr of a fault; 0 = none, or not known */
	VEC(uint64_t) auxv;  /* pairs of type and value, as the kernel gave them to the program */
	struct dump_list words[2]; /* a minidump's own: the arguments, the environment */
	struct names gaps;
};

struct err *dump_open(const char *path, struct dump *ret);
void dump_close(struct dump *d); /* also after an error of dump_open */

/* The bytes from an address on, *len of them; NULL when they were not dumped. */
const uint8_t *dump_bytes(const struct dump *d, uint64_t address, size_t *len);
/* All of them, or false. */
bool dump_read(const struct dump *d, uint64_t address, void *buf, size_t len);
/* A text of at most `most` bytes; NULL when it has no end there. Borrowed. */
const char *dump_text(const struct dump *d, uint64_t address, size_t most);
/* A value of the auxiliary vector (AT_ENTRY ...); 0 when it is not there. */
uint64_t dump_auxv(const struct dump *d, uint64_t type);

/* The words that the program was started with, as it left them: arguments, or with `environment`
 * the variables. Borrowed from the dump. Empty when the stack's beginning was not dumped. */
struct dump_words VEC_FIELDS(const char *);
void dump_words(const struct dump *d, bool environment, struct dump_words *ret);

/* The module that an address lies in; NULL when there is none. */
const struct dump_module *dump_module_at(const struct dump *d, uint64_t address);
/* Does the dump say which build the module there is of? */
bool dump_identifies(const struct dump *d, uint64_t address);
/* The one of the program itself; NULL when the dump does not say. */
const struct dump_module *dump_program(const struct dump *d);

/* ---- for readers of a format ---- */

/* n bytes of the file from `at` on; NULL when it is not that long. */
const uint8_t *dump_file_bytes(const struct dump *d, uint64_t at, uint64_t n);
/* Fill in bias and build-id of the module whose ELF header was mapped at `start`; false when it was not dumped. */
bool dump_elf_at(struct dump *d, uint64_t start, struct dump_module *ret);
/* The same for a module whose headers are not there: a guess, nearly always right. */
uint64_t dump_bias_of(uint64_t low);
/* The auxiliary vector, as the kernel wrote it. */
void dump_take_auxv(struct dump *d, const uint8_t *p, size_t len);

#endif
