/* run/server.c - the processes behind a session: a fork server, or one process per run.
 *
 * The target is started once, with fixed addresses, and stops before main as a fork server
 * (rt/control/server.c). To begin a run we send one byte; at its end we get its exit status. The
 * server decides whether the run gets a process of its own (rt/control/again.c). Programs whose
 * constructors start threads cannot be forked; they are started anew for every run.
 *
 * The watchdog is here: a run that takes too long in real time is killed with SIGKILL, which no
 * target can block. Nobody here waits longer than INTERRUPT_TICK_MS without looking for Ctrl-C. */
#include "run/session.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "run/patience.h"
#include "run/sanitizer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Descriptors from 190 on are ours in the target; the last two where fewer are allowed. */
enum { AREA_FD = 190, SOCKET_FD = 191 };
enum { FIRST_LOOK_MS = 500, NEXT_LOOK_MS = 50 };

/* What the server sends: once when it is ready (status: enum plait_uncontrolled), and after each
 * run (status: as waitpid() gives it). */
struct reply {
	uint32_t pid, status;
};

enum answer {
	ANSWER_CAME,
	ANSWER_LATE,	/* not within the time */
	ANSWER_NEVER,	/* the server has ended */
	ANSWER_STOPPED, /* we were interrupted */
};

/* ---- starting ---- */

static int target_fd(int wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > SOCKET_FD)
		return wanted;
	return wanted - SOCKET_FD + (int)limit.rlim_cur - 1;
}

/* socket: the server's end; -1 = this is a single run. */
static struct err *spawn(struct session *s, int socket)
{
	_cleanup_(environment_deinit) struct environment env = { 0 };
	char number[16], path[32];
	struct process_options o = {
		.argv = s->target->argv,
		.program = s->runtime.program,
		.in = s->input,
		.folder = s->target->folder,
		.out = s->out,
		.err = s->errors,
		.fds = { { .ours = s->area.fd, .theirs = target_fd(AREA_FD) } },
		.own_group = true,
		.fixed_addresses = true,
		.no_core = true,
	};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", target_fd(AREA_FD));
	environment_copy(&env);
	for (size_t i = 0; s->target->env && s->target->env[i]; i++)
		environment_put(&env, s->target->env[i]);
	runtime_set_environment(&s->runtime, "control", &env);
	if (s->runtime.sanitized)
		sanitizer_leave_addresses(&env, s->target->live);
	environment_set(&env, PLAIT_ENV_CONTROL, path);
	environment_set(&env, "LD_BIND_NOW", "1"); /* lazy binding would differ between runs */
	if (socket >= 0) {
		snprintf(number, sizeof(number), "%d", target_fd(SOCKET_FD));
		environment_set(&env, PLAIT_ENV_SERVER, number);
		o.fds[1] = (struct process_fd){ .ours = socket, .theirs = target_fd(SOCKET_FD) };
	}
	o.env = env.data;
	return process_start(&o, &s->target_process);
}

/* ---- the conversation with the server ---- */

static enum answer receive(struct session *s, double seconds, struct reply *ret)
{
	struct pollfd p = { .fd = s->socket, .events = POLLIN };
	double end;

	assert(s->socket >= 0);
	if (recv(s->socket, ret, sizeof(*ret), MSG_DONTWAIT) == sizeof(*ret))
		return ANSWER_CAME;
	end = clock_seconds() + seconds;
	for (;;) {
		double left = (end - clock_seconds()) * 1000;
		int n = poll(&p, 1, (int)(MIN(MAX(left, 0), INTERRUPT_TICK_MS) + 0.999));

		if (n > 0)
			return recv(s->socket, ret, sizeof(*ret), MSG_WAITALL) == sizeof(*ret)
				       ? ANSWER_CAME
				       : ANSWER_NEVER;
		if (interrupted())
			return ANSWER_STOPPED;
		if (left <= 0)
			return ANSWER_LATE;
	}
}

/* Without a socket the server ends by itself, and what its runs have used counts as ours. It is
 * killed before it is reaped: until then its number names the group. */
static void stop_server(struct session *s)
{
	struct pollfd p = { .fd = s->target_process.pidfd, .events = POLLIN };

	if (s->socket >= 0)
		close(s->socket);
	s->socket = -1;
	if (!s->running && p.fd >= 0 && !s->target_process.ended)
		poll(&p, 1, INTERRUPT_TICK_MS);
	process_kill(&s->target_process);
	s->running = false;
}

/* The loader's own words, when it could not start the program; NULL. */
static char *loader_says(const struct session *s)
{
	static const char mark[] = ": error while loading shared libraries: ";
	struct strbuf text = { 0 };
	struct err *err = file_read(s->errors, &text);
	const char *at = err ? NULL : strstr(strbuf_str(&text), mark);
	char *said = at ? xstrndup(at + strlen(mark), strcspn(at + strlen(mark), "\n")) : NULL;

	err_free(err);
	strbuf_deinit(&text);
	return said;
}

static struct err *cannot_control(const struct session *s)
{
	_cleanup_(xfreep) char *said = loader_says(s);

	if (said)
		return err_new(
			ERR_ENV,
			"%s cannot be started: %s (LD_LIBRARY_PATH says where its libraries are)",
			s->runtime.program, said);
	return err_new(ERR_ENV,
		       "%s: does not come under control (statically linked, setuid, or built with "
		       "another version of unplait?)",
		       s->runtime.program);
}

static struct err *start_server(struct session *s)
{
	int pair[2];
	struct reply hello;
	struct err *err;
	enum answer answer;

	assert(s->socket < 0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(errno, "socketpair");
	s->area.control->uncontrolled = 0;
	s->area.control->flags = 0;
	err = spawn(s, pair[1]);
	close(pair[1]);
	s->socket = pair[0];
	if (err)
		return err;
	answer = receive(s, session_timeout(s), &hello);
	if (answer == ANSWER_CAME && !(hello.status & PLAIT_UNCONTROLLED_EARLY_THREADS))
		return NULL;
	stop_server(s);
	if (answer == ANSWER_STOPPED)
		return interrupt_error();
	if (answer != ANSWER_CAME)
		return cannot_control(s);
	s->driver = &exec_driver;
	s->early = true;
	free(s->note);
	s->note = xstrdup("its constructors start threads, so it is started anew for each run");
	return NULL;
}

struct err *server_open(struct session *s)
{
	return start_server(s);
}

static struct err *server_start(struct session *s)
{
	struct err *err = s->socket < 0 ? start_server(s) : NULL;

	if (err)
		return err;
	if (s->driver != &server_driver) /* the server has found out that it cannot be one */
		return s->driver->start(s);
	if (send(s->socket, "g", 1, MSG_NOSIGNAL) != 1)
		return err_new(ERR_ENV, "the fork server is gone");
	s->running = true;
	return NULL;
}

/* ---- looking after a run ---- */

/* A run that makes no step: where it stood, and when to look again, in seconds that it had. */
struct run_watch {
	struct patience patience;
	uint64_t steps;
	double next;
};

static void watch_begin(struct run_watch *w)
{
	*w = (struct run_watch){ .steps = UINT64_MAX };
	patience_begin(&w->patience);
}

static void nudge(struct session *s)
{
	struct plait_control *c = s->area.control;

	if (!c->pid || !c->started || c->gate_used != PLAIT_GATE_FIBER || c->max_alive < 2)
		return;
	c->nudge_step = c->steps;
	kill((pid_t)c->pid, PLAIT_NUDGE);
}

/* A thread that keeps the processor without a step is asked to let the others go on:
 * rt/control/away.c. The first time we wait longer, because slow code is no fault. */
static void look(struct session *s, struct run_watch *w)
{
	const struct plait_control *c = s->area.control;
	bool away = c->uncontrolled & PLAIT_UNCONTROLLED_AWAY;

	session_show_output(s);
	patience_look(&w->patience, (pid_t)c->pid);
	if (w->patience.own < w->next)
		return;
	if (w->steps == c->steps)
		nudge(s);
	w->steps = c->steps;
	w->next = w->patience.own + (away ? NEXT_LOOK_MS : FIRST_LOOK_MS) / 1000.0;
}

/* As receive, looking after the run meanwhile. When the time is over, the run is asked once more to
 * say where it is. */
static enum answer receive_run(struct session *s, struct reply *ret, bool *timed_out)
{
	struct run_watch w;
	enum answer answer;

	watch_begin(&w);
	*timed_out = false;
	do {
		answer = receive(s, NEXT_LOOK_MS / 1000.0, ret);
		if (answer != ANSWER_LATE)
			return answer;
		look(s, &w);
		if (session_is_late(s))
			return ANSWER_LATE;
	} while (!patience_is_over(&w.patience, session_timeout(s)));
	*timed_out = true;
	s->moving = w.steps != s->area.control->steps;
	if (s->moving)
		return ANSWER_LATE;
	s->area.control->nudge_last = 1;
	nudge(s);
	return receive(s, 0.2, ret);
}

static struct err *server_finish(struct session *s, int *status, bool *timed_out)
{
	struct reply reply;
	enum answer answer = receive_run(s, &reply, timed_out);
	bool late = answer == ANSWER_LATE && !*timed_out;

	if (answer == ANSWER_LATE) {
		if (s->area.control->pid)
			kill((pid_t)s->area.control->pid, SIGKILL);
		answer = receive(s, 5, &reply);
	}
	switch (answer) {
	case ANSWER_CAME:
		*status = (int)reply.status;
		s->running = false;
		return late ? session_cut_off(s) : NULL;
	case ANSWER_LATE: /* the server is stuck as well */
		stop_server(s);
		*status = SIGKILL;
		return late ? session_cut_off(s) : NULL;
	case ANSWER_STOPPED: /* whose run must write no more: its folder is about to be removed */
		stop_server(s);
		return interrupt_error();
	case ANSWER_NEVER:
		break;
	}
	stop_server(s);
	return err_new(ERR_ENV, "the fork server ended unexpectedly");
}

const struct session_driver server_driver = { server_start, server_finish, stop_server };

/* ---- one process per run ---- */

static struct err *exec_start(struct session *s)
{
	struct err *err = spawn(s, -1);

	s->running = !err;
	return err;
}

static void exec_close(struct session *s)
{
	process_kill(&s->target_process);
	s->running = false;
}

static struct err *exec_finish(struct session *s, int *status, bool *timed_out)
{
	struct run_watch w;

	watch_begin(&w);
	*timed_out = false;
	while (!process_wait_for(&s->target_process, NEXT_LOOK_MS / 1000.0)) {
		if (interrupted()) {
			process_kill(&s->target_process);
			return interrupt_error();
		}
		look(s, &w);
		if (session_is_late(s)) {
			exec_close(s);
			return session_cut_off(s);
		}
		if (!patience_is_over(&w.patience, session_timeout(s)))
			continue;
		*timed_out = true;
		s->moving = w.steps != s->area.control->steps;
		process_kill(&s->target_process);
		break;
	}
	s->running = false;
	*status = s->target_process.status;
	return NULL;
}

const struct session_driver exec_driver = { exec_start, exec_finish, exec_close };
