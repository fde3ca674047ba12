/* synth/facts.c - what the dump knows about the program's inputs.
 *
 * The words that the program was started with lie at the beginning of the stack, as the program left
 * them (getopt may have changed their order). Of the environment we keep the variables that the
 * program or its libraries can ask for: those whose name is a string of the shipped binary. Standard
 * input is in stdio's buffer, as far as it was read. */
#include "synth/study.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"

#include "debug/unbound.h"

#include <elf.h>
#include <string.h>

enum { STDIO_MOST = 1 << 20 };

static void fact(struct study *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fact(struct study *s, const char *fmt, ...)
{
	struct strbuf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	names_intern(&s->r->facts, strbuf_str(&text));
	strbuf_deinit(&text);
}

static void read_args(struct study *s)
{
	struct dump_words words = { 0 };

	dump_words(&s->dump, false, &words);
	for (size_t i = 0; i < words.len; i++)
		vec_push(&s->known.args, xstrdup(words.data[i]));
	if (words.len)
		fact(s, "%zu arguments", words.len - 1);
	else
		names_intern(&s->r->notes, "the dump does not have the program's arguments");
	vec_deinit(&words);
}

/* Is the name one of the strings that the program has in memory? */
static bool has_string(const struct file_map *file, const char *name, size_t len)
{
	char *wanted = xcalloc(1, len + 2);
	const Elf64_Ehdr *eh = (const void *)file->data;
	bool found = false;
	Elf64_Phdr ph;

	memcpy(wanted + 1, name, len);
	for (unsigned i = 0; file->len >= sizeof(*eh) && i < eh->e_phnum && !found; i++) {
		uint64_t at = eh->e_phoff + i * sizeof(ph);

		if (at > file->len || file->len - at < sizeof(ph))
			break;
		memcpy(&ph, file->data + at, sizeof(ph));
		found = ph.p_type == PT_LOAD && ph.p_offset <= file->len &&
			memmem(file->data + ph.p_offset, MIN(ph.p_filesz, file->len - ph.p_offset),
			       wanted, len + 2);
	}
	free(wanted);
	return found;
}

/* What libc itself looks at, and what changes what a program does. */
static bool matters_to_libc(const char *entry)
{
	return !strncmp(entry, "LC_", 3) || !strncmp(entry, "LANG=", 5) ||
	       !strncmp(entry, "TZ=", 3) || !strncmp(entry, "POSIXLY_CORRECT", 15);
}

/* Where the shipped binary found its libraries. It is no input: whatever the options say, that binary runs with
 * what it ran with. */
static void read_loader_path(struct study *s)
{
	struct dump_words words = { 0 };

	dump_words(&s->dump, true, &words);
	for (size_t i = 0; i < words.len; i++)
		if (!s->loader && !strncmp(words.data[i], "LD_LIBRARY_PATH=", 16))
			s->loader = xstrdup(words.data[i]);
	vec_deinit(&words);
}

static void read_env(struct study *s)
{
	struct dump_words words = { 0 };
	struct file_map file = { 0 };

	dump_words(&s->dump, true, &words);
	err_free(file_map_open(stacks_program(s->stacks), &file));
	for (size_t i = 0; i < words.len; i++) {
		const char *equals = strchr(words.data[i], '=');

		if (equals && file.data &&
		    (matters_to_libc(words.data[i]) ||
		     has_string(&file, words.data[i], (size_t)(equals - words.data[i]))))
			vec_push(&s->known.env, xstrdup(words.data[i]));
	}
	if (s->known.env.len)
		fact(s, "%zu of %zu environment variables, which the program can ask for",
		     s->known.env.len, words.len);
	if (file.data)
		file_map_close(&file);
	vec_deinit(&words);
}

/* The beginning of glibc's struct _IO_FILE. */
struct stdio {
	int flags;
	uint64_t read_ptr, read_end, read_base, write_base, write_ptr, write_end, buf_base, buf_end;
};

enum { EOF_SEEN = 0x10 }; /* _IO_EOF_SEEN */

/* Where in the buffer the bytes are that were read. At the end of the input stdio sets its pointers back, and the
 * bytes stay; the buffer was fresh memory, so behind the last of them are zeroes. */
static uint64_t stdin_bytes(const struct dump *d, const struct stdio *f, bool *guessed)
{
	size_t there = 0;
	const uint8_t *p;
	uint64_t n = f->read_end - f->read_base;

	*guessed = f->read_base == f->read_end && f->flags & EOF_SEEN;
	if (f->read_base < f->buf_base || f->read_end > f->buf_end || f->read_base > f->read_end)
		return 0;
	if (!*guessed)
		return n;
	n = MIN(f->buf_end - f->read_base, (uint64_t)STDIO_MOST);
	p = dump_bytes(d, f->read_base, &there);
	if (!p || there < n)
		return 0;
	while (n && !p[n - 1])
		n--;
	return n;
}

static void read_stdin(struct study *s)
{
	uint64_t at = stacks_symbol(s->stacks, "_IO_2_1_stdin_"), n;
	struct stdio f;
	bool guessed;

	if (!at || !dump_read(&s->dump, at, &f, sizeof(f)))
		return;
	n = stdin_bytes(&s->dump, &f, &guessed);
	if (!n || n > STDIO_MOST)
		return;
	s->known.input = xcalloc(1, n + 1);
	if (!dump_read(&s->dump, f.read_base, s->known.input, n)) {
		free(s->known.input);
		s->known.input = NULL;
		return;
	}
	s->known.input_len = n;
	fact(s, "%zu bytes of standard input, in stdio's buffer%s", (size_t)n,
	     guessed ? ", which was read to its end" : "");
	if (f.read_base + n == f.buf_end)
		names_intern(&s->r->notes, "the buffer of standard input is full: what was read "
					   "before it is not in the dump");
	else if (guessed)
		names_intern(&s->r->notes,
			     "where standard input ends in its buffer is guessed; if it "
			     "was longer than the buffer, its beginning is lost");
}

/* Compilers call one of these for another, or do it themselves: that its slot is not bound says nothing. */
static bool is_replaced(const char *name)
{
	static const char *const prefixes[] = { "str",	     "stp",	"mem",	    "b",
						"index",     "rindex",	"put",	    "fput",
						"fwrite",    "printf",	"fprintf",  "vprintf",
						"vfprintf",  "sprintf", "snprintf", "vsprintf",
						"vsnprintf", "__",	"_",	    "malloc",
						"calloc",    "abort" };

	for (unsigned i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Library functions whose slot was never bound. Evidence, no proof: the search believes it for half of the time. */
static void read_uncalled(struct study *s)
{
	struct names all = { 0 };

	err_free(unbound_functions(stacks_program(s->stacks), &s->dump, &all));
	for (size_t i = 0; i < all.len; i++)
		if (!is_replaced(all.text[i]))
			names_intern(&s->uncalled, all.text[i]);
	names_deinit(&all);
}

void facts_read(struct study *s)
{
	read_loader_path(s);
	if (s->o->facts >= SYNTH_FACTS_ARGS) {
		read_args(s);
		read_env(s);
	}
	if (s->o->facts >= SYNTH_FACTS_ALL) {
		read_stdin(s);
		read_uncalled(s);
	}
	globals_read(s);
	if (!s->known.args.len)
		vec_push(&s->known.args, xstrdup(s->o->program));
	vec_push(&s->known.args, NULL);
	vec_push(&s->known.env, NULL);
}

bool synth_facts_parse(const char *name, enum synth_facts *ret)
{
	static const char *const names[] = { "stack", "args", "all" };

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i])) {
			*ret = (enum synth_facts)i;
			return true;
		}
	return false;
}

void synth_inputs_deinit(struct synth_inputs *in)
{
	for (size_t i = 0; i < in->args.len; i++)
		free(in->args.data[i]);
	for (size_t i = 0; i < in->env.len; i++)
		free(in->env.data[i]);
	vec_deinit(&in->args);
	vec_deinit(&in->env);
	free(in->input);
	in->input = NULL;
}
