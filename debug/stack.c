/* debug/stack.c - see stack.h.
 *
 * elfutils walks the frames by the tables that every module carries (.eh_frame); memory and registers
 * come from our reader, so whatever the reader can open can be walked. Where the tables lead nowhere
 * (a call through a wild pointer, a stack that was written over) we look for words on the stack that
 * could be return addresses: they point into code, directly behind a call. */
#include "debug/stack.h"

#include "base/err.h"
#include "base/map.h"
#include "debug/dump.h"
#include "debug/modules.h"
#include "debug/text.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 4096, SCAN_WORDS = 1 << 16, GUESSES_MOST = 256 };

struct loaded {
	const struct dump_module *of;
	char *path;
	struct module *module; /* NULL = cannot be used */
	struct text text;      /* its bytes; opened when they are needed */
	bool opened;
};

struct walk {
	struct stacks *stacks;
	struct user_regs_struct registers; /* to begin with */
	VEC(uint64_t) pcs; /* innermost first; all but the first are return addresses */
	uint64_t sp;	   /* of the last frame */
	uint64_t bp;
};

struct stacks {
	const struct dump *dump;
	struct modules *modules, *own_modules;
	Dwfl *dwfl;
	VEC(struct loaded) loaded;
	struct names notes;
	size_t program; /* index into loaded */
	struct walk *walks;
	struct stack *stacks;
	bool *done;
};

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

/* ---- memory and registers for elfutils ---- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct stacks *s = arg;
	size_t i = (size_t)(uintptr_t)*thread_arg;

	(void)dwfl;
	if (i >= s->dump->threads.len)
		return 0;
	*thread_arg = (void *)(uintptr_t)(i + 1);
	return (pid_t)i + 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	struct stacks *s = arg;

	(void)dwfl;
	*thread_arg = &s->walks[tid - 1];
	return true;
}

static struct loaded *loaded_at(struct stacks *s, uint64_t pc)
{
	const struct dump_module *m = dump_module_at(s->dump, pc);

	for (size_t i = 0; i < s->loaded.len; i++)
		if (s->loaded.data[i].of == m)
			return &s->loaded.data[i];
	return NULL;
}

/* What the dump has; else what the file has, for parts that are never written. */
static bool read_anywhere(struct stacks *s, uint64_t address, void *buf, size_t len)
{
	const struct text_segment *g;
	struct loaded *l;
	const uint8_t *p;
	size_t there;

	if (dump_read(s->dump, address, buf, len))
		return true;
	l = loaded_at(s, address);
	if (!l || !l->module)
		return false;
	if (!l->opened) {
		l->opened = true;
		err_free(text_open(l->path, &l->text));
	}
	g = text_segment_at(&l->text, address - l->of->bias);
	p = g && !(g->flags & PF_W) ? text_bytes(&l->text, address - l->of->bias, &there) : NULL;
	if (!p || there < len)
		return false;
	memcpy(buf, p, len);
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	(void)dwfl;
	return read_anywhere(arg, addr, result, sizeof(*result));
}

/* DWARF's order of registers. */
static bool set_registers(Dwfl_Thread *thread, void *thread_arg)
{
	const struct walk *w = thread_arg;
	const struct user_regs_struct *r = &w->registers;
	const Dwarf_Word words[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
				     r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
				     r->r12, r->r13, r->r14, r->r15, r->rip };

	return dwfl_thread_state_registers(thread, 0, 17, words);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* ---- opening ---- */

/* Where the file of a module may be now. Owned. */
static char *file_of(const struct stacks *s, const struct stack_options *o, size_t i)
{
	const char *path = s->loaded.data[i].of->path;

	if (i == s->program && o->program)
		return xstrdup(o->program);
	if (o->sysroot)
		return xasprintf("%s%s", o->sysroot, path);
	return xstrdup(path);
}

static struct err *load_module(struct stacks *s, const struct stack_options *o, size_t i)
{
	struct loaded *l = &s->loaded.data[i];
	const char *wanted = o->force ? NULL : l->of->build_id;
	struct err *err;
	char *note;

	l->path = file_of(s, o, i);
	err = modules_get(s->modules, l->path, wanted, &l->module);
	if (err) {
		l->module = NULL;
		if (i == s->program)
			return err;
		note = xasprintf("%s: frames in it have no names", err_message(err));
		names_intern(&s->notes, note);
		free(note);
		err_free(err);
		return NULL;
	}
	if (!dwfl_report_elf(s->dwfl, l->path, l->path, -1, l->of->bias, true))
		names_intern(&s->notes, dwfl_errmsg(-1));
	return NULL;
}

/* The module with the program's entry point. */
static bool find_program(struct stacks *s)
{
	const struct dump_module *m = dump_program(s->dump);

	for (size_t i = 0; i < s->loaded.len; i++)
		if (s->loaded.data[i].of == m) {
			s->program = i;
			return true;
		}
	return false;
}

struct err *stacks_open(const struct dump *d, const struct stack_options *o, struct stacks **ret)
{
	struct stacks *s = xcalloc(1, sizeof(*s));
	struct err *err = NULL;

	*ret = s;
	s->dump = d;
	s->own_modules = o->modules ? NULL : modules_new();
	s->modules = o->modules ? o->modules : s->own_modules;
	s->dwfl = dwfl_begin(&callbacks);
	s->stacks = xcalloc(d->threads.len + 1, sizeof(*s->stacks));
	s->done = xcalloc(d->threads.len + 1, sizeof(*s->done));
	s->walks = xcalloc(d->threads.len + 1, sizeof(*s->walks));
	for (size_t i = 0; i < d->modules.len; i++)
		vec_push(&s->loaded, (struct loaded){ .of = &d->modules.data[i] });
	if (!d->threads.len)
		return err_new(ERR_ENV,
			       "the dump has no threads: its notes are missing or cut off");
	if (!find_program(s))
		return err_new(ERR_ENV, "the dump does not say which program it is of (no list of "
					"mapped files, or the ELF headers were not dumped)");
	dwfl_report_begin(s->dwfl);
	for (size_t i = 0; i < s->loaded.len && !err; i++)
		err = load_module(s, o, i);
	dwfl_report_end(s->dwfl, NULL, NULL);
	if (!err && !dwfl_attach_state(s->dwfl, NULL, 1, &thread_callbacks, s))
		err = err_new(ERR_ENV, "its stacks cannot be read: %s", dwfl_errmsg(-1));
	return err;
}

void stacks_close(struct stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->dump->threads.len; i++) {
		vec_deinit(&s->stacks[i].frames);
		vec_deinit(&s->walks[i].pcs);
	}
	for (size_t i = 0; i < s->loaded.len; i++) {
		free(s->loaded.data[i].path);
		if (s->loaded.data[i].opened)
			text_close(&s->loaded.data[i].text);
	}
	vec_deinit(&s->loaded);
	names_deinit(&s->notes);
	dwfl_end(s->dwfl);
	modules_free(s->own_modules);
	free(s->walks);
	free(s->stacks);
	free(s->done);
	free(s);
}

/* ---- walking ---- */

static bool is_code(const struct stacks *s, uint64_t pc)
{
	for (size_t i = 0; i < s->dump->segments.len; i++) {
		const struct dump_segment *g = &s->dump->segments.data[i];

		if (pc >= g->address && pc - g->address < g->size)
			return g->flags & PF_X;
	}
	return false;
}

/* Is there a call instruction directly before this address? */
static bool is_behind_call(struct stacks *s, uint64_t pc)
{
	uint8_t b[8];

	if (pc < 8 || !is_code(s, pc) || !read_anywhere(s, pc - 7, b, 7))
		return false;
	if (b[2] == 0xe8)
		return true;
	for (unsigned len = 2; len <= 7; len++) /* ff /2, with its longer forms */
		if (b[7 - len] == 0xff && (b[8 - len] >> 3 & 7) == 2)
			return true;
	return false;
}

static int keep_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *w = arg;
	Dwarf_Addr pc;
	Dwarf_Word word;
	bool active;

	if (!dwfl_frame_pc(frame, &pc, &active) || w->pcs.len >= FRAMES_MOST)
		return DWARF_CB_ABORT;
	/* the place itself where a signal came, else a return address */
	vec_push(&w->pcs, active && w->pcs.len ? pc + 1 : pc);
	if (dwfl_frame_reg(frame, 7, &word) == 0)
		w->sp = word;
	if (dwfl_frame_reg(frame, 6, &word) == 0)
		w->bp = word;
	return DWARF_CB_OK;
}

/* From the walk's registers on; true when it came to the beginning of the thread. */
static bool walk_on(struct walk *w, size_t thread)
{
	w->sp = w->registers.rsp;
	w->bp = w->registers.rbp;
	return dwfl_getthread_frames(w->stacks->dwfl, (pid_t)thread + 1, keep_frame, w) == 0;
}

/* The tables lead nowhere: go on at the next word of the stack that may be a return address, and
 * from which the tables lead on. */
static bool walk_by_guess(struct walk *w, size_t thread)
{
	size_t before = w->pcs.len;
	uint64_t sp = w->sp;

	for (unsigned i = 0, guesses = 0; i < SCAN_WORDS && guesses < GUESSES_MOST; i++, sp += 8) {
		uint64_t word;

		if (!dump_read(w->stacks->dump, sp, &word, sizeof(word)))
			return false;
		if (!is_behind_call(w->stacks, word))
			continue;
		guesses++;
		w->registers.rip = word;
		w->registers.rsp = sp + 8;
		w->registers.rbp = w->bp;
		w->pcs.len = before;
		if (walk_on(w, thread) && w->pcs.len > before + 1)
			return true;
	}
	w->pcs.len = before;
	return false;
}

/* A jump to where no code is: the call left its return address on top of the stack. */
static bool skip_wild_call(struct walk *w)
{
	uint64_t word;

	if (is_code(w->stacks, w->registers.rip) ||
	    !dump_read(w->stacks->dump, w->registers.rsp, &word, sizeof(word)) ||
	    !is_behind_call(w->stacks, word))
		return false;
	vec_push(&w->pcs, w->registers.rip);
	w->registers.rip = word;
	w->registers.rsp += 8;
	return true;
}

/* ---- names ---- */

/* gcc splits functions: "work.part.0" is called by what is left of work. */
static bool is_part(const struct stacks *s, uint64_t pc)
{
	Dwfl_Module *m = dwfl_addrmodule(s->dwfl, pc);
	const char *symbol = m ? dwfl_module_addrname(m, pc) : NULL;

	return symbol && strstr(symbol, ".part.");
}

static void add_functions(struct stacks *s, struct stack *k, uint64_t pc, bool innermost)
{
	uint64_t at = innermost ? pc : pc - 1;
	const struct loaded *l = loaded_at(s, at);
	struct stack_frame frame = { .pc = pc };
	struct source_frames found = { 0 };

	if (l) {
		frame.module = l->path;
		frame.offset = pc - l->of->bias;
	}
	if (l && l->module)
		module_frames(l->module, at - l->of->bias, &found);
	for (size_t i = 0; i < found.len; i++) {
		const struct source_frame *f = &found.data[i];

		frame.function = f->function;
		frame.file = f->file;
		frame.line = f->line;
		frame.column = f->column;
		frame.inlined = f->inlined;
		frame.split = !f->inlined && is_part(s, at);
		frame.own = l == &s->loaded.data[s->program] && f->file && !f->of_system;
		frame.merged = frame.own && !f->line;
		frame.own &= f->line != 0;
		vec_push(&k->frames, frame);
	}
	if (!found.len)
		vec_push(&k->frames, frame);
	vec_deinit(&found);
}

const struct stack *stacks_get(struct stacks *s, size_t i)
{
	struct stack *k = &s->stacks[i];
	struct walk *w = &s->walks[i];
	size_t len;
	bool wild;

	assert(i < s->dump->threads.len);
	if (s->done[i])
		return k;
	s->done[i] = true;
	w->stacks = s;
	w->registers = s->dump->threads.data[i].registers;
	wild = skip_wild_call(w);
	k->whole = walk_on(w, i) && dump_bytes(s->dump, w->sp, &len);
	if (!k->whole) {
		k->guessed = walk_by_guess(w, i);
		k->whole = k->guessed;
	}
	for (size_t n = 0; n < w->pcs.len; n++)
		add_functions(s, k, w->pcs.data[n], n == 0);
	k->guessed |= wild;
	return k;
}

const char *stacks_program(const struct stacks *s)
{
	return s->loaded.data[s->program].path;
}

bool stacks_has_lines(const struct stacks *s)
{
	const struct loaded *l = &s->loaded.data[s->program];
	Dwarf_Addr bias;

	return l->module && dwfl_module_getdwarf(dwfl_addrmodule(s->dwfl, l->of->low), &bias);
}

uint64_t stacks_symbol(struct stacks *s, const char *name)
{
	for (size_t i = 0; i < s->loaded.len; i++) {
		Dwfl_Module *m = dwfl_addrmodule(s->dwfl, s->loaded.data[i].of->low);
		int n = m ? dwfl_module_getsymtab(m) : 0;

		for (int k = 1; k < n; k++) {
			GElf_Sym sym;
			GElf_Addr address;
			const char *text =
				dwfl_module_getsym_info(m, k, &sym, &address, NULL, NULL, NULL);

			if (text && sym.st_shndx != SHN_UNDEF && !strcmp(text, name))
				return address;
		}
	}
	return 0;
}

size_t stacks_notes(const struct stacks *s, char *const **ret)
{
	*ret = s->notes.text;
	return s->notes.len;
}
