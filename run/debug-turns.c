/* run/debug-turns.c - see debug-turns.h.
 *
 * gdb decides how far it goes: to a breakpoint, or one instruction of one thread. The script decides who moves
 * meanwhile (run/perform.h): if gdb wants to step a thread whose turn it is not, the others go on until it is. Breaks
 * of the script and of gdb are the same int3's, and gdb sees neither. */
#include "run/debug-turns.h"

#include "base/err.h"
#include "base/file.h"
#include "base/process.h"
#include "base/remote.h"
#include "run/director.h"
#include "run/perform.h"
#include "run/stage.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMORY_MOST = 4096, REGISTERS = 24 };

struct scene {
	const struct director_options *o;
	struct remote remote;
	struct process process;
	struct stage stage;
	struct performance play;
	bool alive;	    /* there is a process */
	struct actor *seen; /* whose registers gdb asks for */
};

/* ---- the process ---- */

static bool is_interrupted(void *arg)
{
	return remote_is_interrupted(arg);
}

static void end_process(struct scene *s)
{
	if (!s->alive)
		return;
	stage_kill(&s->stage);
	process_kill(&s->process);
	performance_deinit(&s->play);
	stage_close(&s->stage);
	s->alive = false;
}

static bool start_process(struct scene *s)
{
	struct err *err;

	end_process(s);
	s->stage = (struct stage){ .interrupted = is_interrupted, .interrupted_arg = &s->remote };
	s->play = (struct performance){ .stage = &s->stage,
					.turns = s->o->turns,
					.nturns = s->o->nturns };
	err = director_start(s->o, &s->process);
	if (!err)
		err = stage_open(&s->stage, s->process.pid, s->o->program);
	s->alive = !err;
	if (s->alive)
		s->play.now = s->seen = s->stage.actors.data[0];
	err_free(err);
	return s->alive;
}

static struct actor *actor_of(const struct scene *s, long tid)
{
	for (size_t i = 0; s->alive && i < s->stage.actors.len; i++)
		if (s->stage.actors.data[i]->tid == tid &&
		    s->stage.actors.data[i]->state != ACTOR_GONE)
			return s->stage.actors.data[i];
	return NULL;
}

/* Who sleeps is stopped for gdb to look at: its registers cannot be read before. It goes to sleep again when it is
 * told to go on, because the kernel restarts its call. */
static bool read_registers(struct scene *s, struct user_regs_struct *ret)
{
	return s->seen && stage_look_at(&s->stage, s->seen) && stage_registers(s->seen, ret);
}

/* ---- registers and memory ---- */

/* rax rbx rcx rdx rsi rdi rbp rsp r8-r15 rip, then eflags and six segments of 32 bits. */
static unsigned long long *register_at(struct user_regs_struct *r, unsigned n, size_t *bytes)
{
	unsigned long long *const all[REGISTERS] = { &r->rax, &r->rbx, &r->rcx,	   &r->rdx, &r->rsi,
						     &r->rdi, &r->rbp, &r->rsp,	   &r->r8,  &r->r9,
						     &r->r10, &r->r11, &r->r12,	   &r->r13, &r->r14,
						     &r->r15, &r->rip, &r->eflags, &r->cs,  &r->ss,
						     &r->ds,  &r->es,  &r->fs,	   &r->gs };

	*bytes = n < 17 ? 8 : 4;
	return n < REGISTERS ? all[n] : NULL;
}

static void add_registers(struct scene *s, unsigned from, unsigned to, struct strbuf *out)
{
	struct user_regs_struct regs;
	bool known = read_registers(s, &regs);

	for (unsigned n = from; n < to; n++) {
		size_t bytes;
		const void *at = register_at(&regs, n, &bytes);

		remote_add_hex(out, known ? at : NULL, bytes);
	}
}

/* "P0=...": one of them; "G...": all. */
static void set_registers(struct scene *s, unsigned from, unsigned to, const char *hex,
			  struct strbuf *out)
{
	struct user_regs_struct regs;
	bool good = read_registers(s, &regs);

	for (unsigned n = from; good && n < to; n++) {
		size_t bytes;
		void *at = register_at(&regs, n, &bytes);

		good = remote_read_hex(hex, at, bytes) == bytes;
		hex += 2 * bytes;
	}
	good = good && ptrace(PTRACE_SETREGS, s->seen->tid, NULL, &regs) == 0;
	strbuf_adds(out, good ? "OK" : "E01");
}

static void add_memory(struct scene *s, uint64_t at, uint64_t len, struct strbuf *out)
{
	uint8_t bytes[MEMORY_MOST];
	size_t n = stage_read(&s->stage, at, bytes, len < sizeof(bytes) ? len : sizeof(bytes));

	remote_add_hex(out, bytes, n);
	if (!n)
		strbuf_adds(out, "E14");
}

static void set_memory(struct scene *s, const char *packet, struct strbuf *out)
{
	uint8_t bytes[MEMORY_MOST];
	uint64_t at, len;
	int skip = 0;
	bool good;

	good = sscanf(packet, "M%" SCNx64 ",%" SCNx64 ":%n", &at, &len, &skip) == 2 && skip &&
	       len <= sizeof(bytes) && remote_read_hex(packet + skip, bytes, len) == len &&
	       stage_write(&s->stage, at, bytes, len) == len;
	strbuf_adds(out, good ? "OK" : "E14");
}

static void set_break(struct scene *s, const char *p, struct strbuf *out)
{
	uint64_t at;

	if (p[1] != '0' || sscanf(p + 2, ",%" SCNx64, &at) != 1)
		return; /* watchpoints: gdb steps by itself */
	if (p[0] == 'z')
		stage_clear_break(&s->stage, at);
	strbuf_adds(out, p[0] == 'z' || stage_set_break(&s->stage, at) ? "OK" : "E01");
}

/* ---- going on ---- */

static void say(struct scene *s, const char *text)
{
	struct strbuf sb = { 0 };

	strbuf_addc(&sb, 'O');
	remote_add_hex(&sb, (const uint8_t *)text, strlen(text));
	remote_reply(&s->remote, &sb);
	strbuf_deinit(&sb);
}

static void add_stop(struct scene *s, int signal, const char *why, struct strbuf *out)
{
	s->seen = s->play.now;
	strbuf_addf(out, "T%02x%sthread:%x;", signal, why, s->seen->tid);
}

static void go_on(struct scene *s, struct actor *stepped, struct strbuf *out)
{
	bool failed = s->play.now->fails;

	s->play.stepped = stepped;
	stage_let_sleep(&s->stage);
	switch (perform(&s->play)) {
	case PERFORM_FAILED:
		if (failed) {
			strbuf_addf(out, "X%02x", s->play.now->signal);
			end_process(s);
		} else {
			add_stop(s, s->play.now->signal, "", out);
		}
		break;
	case PERFORM_EXITS:
		strbuf_addf(out, "W%02x", s->stage.exit_code);
		end_process(s);
		break;
	case PERFORM_STUCK:
		say(s, "unplait: nobody can go on, everybody waits for somebody else\n");
		for (size_t i = 0; s->play.now->state == ACTOR_GONE; i++)
			s->play.now = s->stage.actors.data[i];
		add_stop(s, SIGINT, "", out);
		break;
	case PERFORM_LATE:
		add_stop(s, SIGINT, "", out);
		break;
	case PERFORM_BREAK:
		add_stop(s, SIGTRAP, "swbreak:;", out);
		break;
	case PERFORM_STEPPED:
	case PERFORM_BEGUN:
		add_stop(s, SIGTRAP, "", out);
		break;
	}
}

/* "vCont;s:1f;c": who is to be stepped? The others go on, by the script. */
static void resume(struct scene *s, const char *p, struct strbuf *out)
{
	const char *step = strstr(p, ";s");
	unsigned tid = 0;

	if (!step)
		step = strstr(p, ";S");
	if (step && (step = strchr(step, ':')))
		sscanf(step, ":%x", &tid);
	go_on(s, strstr(p, ";s") || strstr(p, ";S") ? (tid ? actor_of(s, tid) : s->seen) : NULL,
	      out);
}

/* ---- questions ---- */

static void add_threads(struct scene *s, struct strbuf *out)
{
	char sign = 'm';

	for (size_t i = 0; i < s->stage.actors.len; i++, sign = ',') {
		if (s->stage.actors.data[i]->state == ACTOR_GONE && sign == ',')
			continue;
		strbuf_addf(out, "%c%x", sign, s->stage.actors.data[i]->tid);
	}
}

static void add_about(struct scene *s, const char *tid, struct strbuf *out)
{
	const struct actor *a = actor_of(s, strtol(tid, NULL, 16));
	char text[ACTOR_NAME + 32];

	if (!a)
		return;
	snprintf(text, sizeof(text), "%s%s", a->name, a->state == ACTOR_ASLEEP ? ", waits" : "");
	remote_add_hex(out, (const uint8_t *)text, strlen(text));
}

static void add_auxv(struct scene *s, const char *asked, struct strbuf *out)
{
	_cleanup_(strbuf_deinit) struct strbuf auxv = { 0 };
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/auxv", s->stage.pid);
	err_free(file_read(name, &auxv));
	remote_add_part(out, asked, auxv.data, auxv.len);
}

static void query(struct scene *s, const char *q, struct strbuf *out)
{
	if (!strncmp(q, "qSupported", 10)) {
		strbuf_adds(out, "PacketSize=2000;QStartNoAckMode+;vContSupported+;swbreak+;"
				 "qXfer:auxv:read+");
	} else if (!strcmp(q, "QStartNoAckMode")) {
		strbuf_adds(out, "OK");
		s->remote.no_ack = true;
	} else if (!strcmp(q, "qAttached")) {
		strbuf_adds(out, "0");
	} else if (!s->alive) {
		if (!strcmp(q, "qfThreadInfo") || !strcmp(q, "qsThreadInfo"))
			strbuf_adds(out, "l");
	} else if (!strncmp(q, "qXfer:auxv:read::", 17)) {
		add_auxv(s, q + 17, out);
	} else if (!strcmp(q, "qC")) {
		strbuf_addf(out, "QC%x", s->seen->tid);
	} else if (!strcmp(q, "qfThreadInfo")) {
		add_threads(s, out);
	} else if (!strcmp(q, "qsThreadInfo")) {
		strbuf_adds(out, "l");
	} else if (!strncmp(q, "qThreadExtraInfo,", 17)) {
		add_about(s, q + 17, out);
	}
}

/* Packets that need a process. */
static void ask_process(struct scene *s, const char *p, struct strbuf *out)
{
	struct actor *a;
	uint64_t at, len;
	int skip = 0;

	if (p[0] == 'g')
		add_registers(s, 0, REGISTERS, out);
	else if (p[0] == 'G')
		set_registers(s, 0, REGISTERS, p + 1, out);
	else if (p[0] == 'p' && sscanf(p + 1, "%" SCNx64, &at) == 1 && at < REGISTERS)
		add_registers(s, (unsigned)at, (unsigned)at + 1, out);
	else if (p[0] == 'P' && sscanf(p + 1, "%" SCNx64 "=%n", &at, &skip) == 1 && skip &&
		 at < REGISTERS)
		set_registers(s, (unsigned)at, (unsigned)at + 1, p + 1 + skip, out);
	else if (p[0] == 'm' && sscanf(p + 1, "%" SCNx64 ",%" SCNx64, &at, &len) == 2)
		add_memory(s, at, len, out);
	else if (p[0] == 'M')
		set_memory(s, p, out);
	else if (p[0] == 'Z' || p[0] == 'z')
		set_break(s, p, out);
	else if (p[0] == 'T')
		strbuf_adds(out, actor_of(s, strtol(p + 1, NULL, 16)) ? "OK" : "E01");
	else if (p[0] == 'H') {
		a = actor_of(s, strtol(p + 2, NULL, 16));
		if (p[1] == 'g' && a)
			s->seen = a;
		strbuf_adds(out, "OK");
	} else if (!strncmp(p, "vCont;", 6)) {
		resume(s, p, out);
	}
}

/* The answer to a packet; false: the debugger leaves. Empty means "not supported". */
static bool answer(struct scene *s, const char *p, struct strbuf *out)
{
	if (p[0] == '!') {
		strbuf_adds(out, "OK");
	} else if (p[0] == '?') {
		if (s->alive)
			strbuf_addf(out, "T05thread:%x;", s->seen->tid);
		else
			strbuf_adds(out, "W00"); /* nothing runs until gdb says so */
	} else if (!strncmp(p, "vRun;", 5)) {
		if (start_process(s))
			strbuf_addf(out, "T05thread:%x;", s->seen->tid);
		else
			strbuf_adds(out, "E01");
	} else if (!strncmp(p, "vKill;", 6)) {
		end_process(s);
		strbuf_adds(out, "OK");
	} else if (p[0] == 'k') {
		end_process(s);
	} else if (p[0] == 'D') {
		strbuf_adds(out, "OK");
	} else if (!strcmp(p, "vCont?")) {
		strbuf_adds(out, "vCont;c;C;s;S");
	} else if (p[0] == 'q' || p[0] == 'Q') {
		query(s, p, out);
	} else if (s->alive) {
		ask_process(s, p, out);
	} else if (p[0] == 'H') {
		strbuf_adds(out, "OK");
	}
	return p[0] != 'D';
}

static void serve(struct scene *s)
{
	struct strbuf packet = { 0 }, text = { 0 };
	bool more = true;

	while (more && remote_receive(&s->remote, &packet)) {
		const char *p = strbuf_str(&packet);

		strbuf_clear(&text);
		more = answer(s, p, &text);
		if (p[0] != 'k' && !remote_reply(&s->remote, &text))
			break;
	}
	end_process(s);
	strbuf_deinit(&packet);
	strbuf_deinit(&text);
}

/* ---- gdb ---- */

struct door {
	const struct director_options *o;
	int listening;
};

static int serve_one(void *arg)
{
	const struct door *d = arg;
	struct scene s = { .o = d->o };
	int fd;

	do
		fd = accept(d->listening, NULL, NULL);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return 1;
	s.remote.in = s.remote.out = fd;
	serve(&s);
	remote_deinit(&s.remote);
	close(fd);
	return 0;
}

static struct err *listen_at(const char *path, int *ret)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(at.sun_path))
		return err_new(ERR_ENV, "%s: too long a path for a socket: set TMPDIR", path);
	memcpy(at.sun_path, path, strlen(path));
	*ret = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*ret < 0 || bind(*ret, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(*ret, 1) != 0)
		return err_errno(errno, "%s", path);
	return NULL;
}

static struct err *run_gdb(const struct director_options *o, const char *gdb, const char *path,
			   char *const *extra, int *status)
{
	_cleanup_(xfreep) char *connect = xasprintf("target extended-remote %s", path);
	_cleanup_(xfreep) char *file = xasprintf("set remote exec-file %s", o->program);
	VEC(char *) argv = { 0 };
	struct process_options how = { .program = gdb };
	struct process p;
	struct err *err;

	vec_push(&argv, (char *)gdb);
	vec_push(&argv, "-q");
	vec_push(&argv, "-ex");
	vec_push(&argv, "set sysroot /");
	vec_push(&argv, "-ex");
	vec_push(&argv, file);
	vec_push(&argv, "-ex");
	vec_push(&argv, connect);
	for (size_t i = 0; extra && extra[i]; i++)
		vec_push(&argv, extra[i]);
	vec_push(&argv, (char *)o->program);
	vec_push(&argv, NULL);
	how.argv = argv.data;
	err = process_start(&how, &p);
	if (!err) {
		process_wait_end(&p); /* Ctrl-C is gdb's */
		*status = p.exit_code >= 0 ? p.exit_code : 1;
	}
	vec_deinit(&argv);
	return err;
}

struct err *debug_turns(const struct director_options *o, const char *folder, char *const *extra,
			int *status)
{
	_cleanup_(xfreep) char *gdb = file_find_program("gdb");
	_cleanup_(xfreep) char *path = xasprintf("%s/gdb", folder);
	struct door door = { .o = o, .listening = -1 };
	struct process server;
	struct err *err;

	if (!gdb)
		return err_new(ERR_ENV, "gdb is not installed");
	err = listen_at(path, &door.listening);
	if (!err)
		err = process_fork(serve_one, &door, &server);
	if (!err) {
		err = run_gdb(o, gdb, path, extra, status);
		process_kill(&server);
	}
	if (door.listening >= 0)
		close(door.listening);
	return err;
}
