/* run/session.c - one target, many controlled runs.
 *
 * The target is started once, with ASLR off, and stops before main as a fork server
 * (rt/control/server.c). A run is: fill in the request, send one byte, wait for the exit status.
 * Whether it has a process of its own is none of our business (rt/control/again.c).
 * The watchdog is here: a run that takes too long in real time is killed with SIGKILL, which no
 * target can block. Programs whose constructors start threads cannot be forked; they are
 * started anew for every run.
 *
 * Descriptors 190 and up in the target are ours: the control area and the socket. */
#define LOG_DOMAIN "run"
#include "run/run.h"

#include "run/launch.h"
#include "run/session.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "sched/pairs.h"
#include "sched/strategy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AREA_FD = 190, SOCKET_FD = 191 };
enum { DEFAULT_POINTS = 200000, DEFAULT_TIMEOUT = 10 };
#define DEFAULT_EVENTS 50000000ull

struct reply {
	uint32_t pid, status;
};

struct session {
	const struct target *target; /* borrowed */
	int area_fd, socket;
	pid_t server; /* 0 = none */
	struct plait_control *area;
	char *dir, *out, *errors;
	char *preload; /* libplait.so, when the binary does not carry the runtime */
	char *program;
	char *note;
	char area_path[40]; /* of the control area, as other processes can open it */
	bool exec_each;
	bool early; /* its constructors start threads */
	uint64_t run_number;
	bool running;		    /* a run was begun and has not ended */
	struct run_request request; /* of that run */
};

/* ---- opening ---- */

static struct err *make_area(struct session *s)
{
	s->area_fd = memfd_create("unplait-control", 0);
	if (s->area_fd < 0 || ftruncate(s->area_fd, (off_t)PLAIT_CONTROL_SIZE) < 0)
		return err_errno(errno, "the control area");
	s->area = mmap(NULL, PLAIT_CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		       s->area_fd, 0);
	if (s->area == MAP_FAILED) {
		s->area = NULL;
		return err_errno(errno, "the control area");
	}
	snprintf(s->area_path, sizeof(s->area_path), "/proc/%d/fd/%d", (int)getpid(), s->area_fd);
	memcpy(s->area->magic, PLAIT_CONTROL_MAGIC, 8);
	s->area->version = PLAIT_CONTROL_VERSION;
	s->area->size = sizeof(*s->area);
	return NULL;
}

/* The runtime is in the binary when the name of its environment variable is. */
static struct err *find_runtime(struct session *s)
{
	struct file_map m = { 0 };
	struct err *err;
	bool script, carries, tsan;

	s->program = strchr(s->target->argv[0], '/') ? xstrdup(s->target->argv[0])
						     : file_find_program(s->target->argv[0]);
	if (!s->program)
		return err_new(ERR_ENV, "%s: no such program", s->target->argv[0]);
	err = file_map_open(s->program, &m);
	if (err)
		return err;
	script = m.len > 2 && !memcmp(m.data, "#!", 2);
	carries = memmem(m.data, m.len, PLAIT_ENV_CONTROL, sizeof(PLAIT_ENV_CONTROL)) != NULL;
	tsan = memmem(m.data, m.len, "__tsan_", 7) != NULL;
	if (!script && (m.len < 20 || memcmp(m.data, "\177ELF\2", 5) || m.data[18] != 62))
		err = err_new(ERR_ENV, "%s: not an x86-64 program", s->program);
	else if (script)
		err = err_new(ERR_ENV, "%s: a script; name the program that it starts", s->program);
	file_map_close(&m);
	if (!err && !carries)
		err = launch_check_preload(s->program);
	if (err || carries)
		return err;
	s->preload = file_find_part("libplait.so");
	if (!s->preload)
		return err_new(ERR_ENV, "libplait.so is missing: run make, or install unplait");
	if (!tsan)
		s->note = xstrdup("it is not instrumented, so only its synchronisation is seen; "
				  "`unplait cc' builds one whose memory accesses are, too");
	return NULL;
}

static void child_open(int fd, const char *path, int flags)
{
	int got = open(path, flags, 0600);

	if (got >= 0 && got != fd) {
		dup2(got, fd);
		close(got);
	}
}

static _Noreturn void exec_target(struct session *s, int socket)
{
	struct rlimit no_core = { 0, 0 };
	char number[16], path[32];

	child_open(0, s->target->input ? s->target->input : "/dev/null", O_RDONLY);
	child_open(1, s->out, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC);
	child_open(2, s->errors, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC);
	dup2(s->area_fd, AREA_FD);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", AREA_FD);
	setenv(PLAIT_ENV_CONTROL, path, 1);
	setenv(PLAIT_ENV_MODE, "control", 1);
	unsetenv(PLAIT_ENV_DIR);
	unsetenv(PLAIT_ENV_SERVER);
	if (socket >= 0) {
		dup2(socket, SOCKET_FD);
		snprintf(number, sizeof(number), "%d", SOCKET_FD);
		setenv(PLAIT_ENV_SERVER, number, 1);
	}
	if (s->preload)
		setenv("LD_PRELOAD", s->preload, 1);
	setenv("LD_BIND_NOW", "1", 1); /* lazy binding would differ between runs */
	personality(ADDR_NO_RANDOMIZE);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	setpgid(0, 0);
	execv(s->program, s->target->argv);
	_exit(127);
}

static struct err *spawn(struct session *s, bool server, pid_t *ret)
{
	int pair[2] = { -1, -1 };
	pid_t pid;

	if (server && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(errno, "socketpair");
	pid = fork();
	if (pid == 0)
		exec_target(s, pair[1]);
	if (server)
		close(pair[1]);
	if (pid < 0) {
		if (server)
			close(pair[0]);
		return err_errno(errno, "fork");
	}
	s->socket = pair[0];
	*ret = pid;
	return NULL;
}

static double timeout_of(const struct session *s)
{
	return s->target->timeout > 0 ? s->target->timeout : DEFAULT_TIMEOUT;
}

/* True when a reply came; false at the end of the server or of the time. */
static bool receive(struct session *s, double seconds, struct reply *ret, bool *late)
{
	struct pollfd p = { .fd = s->socket, .events = POLLIN };
	int n;

	*late = false;
	if (recv(s->socket, ret, sizeof(*ret), MSG_DONTWAIT) == sizeof(*ret))
		return true;
	do
		n = poll(&p, 1, (int)(seconds * 1000));
	while (n < 0 && errno == EINTR && !launch_interrupted());
	if (n == 0)
		*late = true;
	return n > 0 && recv(s->socket, ret, sizeof(*ret), MSG_WAITALL) == sizeof(*ret);
}

/* A run that makes no step: where it stood, and when to look again. */
struct patience {
	uint64_t steps;
	double next;
};

enum { FIRST_LOOK_MS = 500, NEXT_LOOK_MS = 50 };

static void nudge(struct session *s)
{
	struct plait_control *a = s->area;

	if (!a->pid || !a->started || a->gate_used != PLAIT_GATE_FIBER || a->max_alive < 2)
		return;
	a->nudge_step = a->steps;
	kill((pid_t)a->pid, PLAIT_NUDGE);
}

/* Whoever keeps the processor without a step is asked to let the others on: rt/control/away.c.
 * The first time after a while, since slow code is no fault. */
static void look(struct session *s, struct patience *p)
{
	double now = clock_seconds();

	if (now < p->next)
		return;
	if (p->steps == s->area->steps)
		nudge(s);
	p->steps = s->area->steps;
	p->next = now +
		  (s->area->uncontrolled & PLAIT_UNCONTROLLED_AWAY ? NEXT_LOOK_MS : FIRST_LOOK_MS) /
			  1000.0;
}

/* As receive, looking after the run meanwhile. At the end of the time it may say where it is. */
static bool receive_run(struct session *s, struct reply *ret, bool *late)
{
	double end = clock_seconds() + timeout_of(s);
	struct patience p = { .steps = UINT64_MAX };

	do {
		if (receive(s, NEXT_LOOK_MS / 1000.0, ret, late))
			return true;
		if (!*late)
			return false;
		look(s, &p);
	} while (clock_seconds() < end);
	s->area->nudge_last = 1;
	nudge(s);
	if (!receive(s, 0.2, ret, late))
		return false;
	return *late = true;
}

/* Without a socket it ends by itself, and what its children have used counts as ours. It is not
 * reaped yet: its number still names the group. */
static void await_end(pid_t server)
{
	struct timespec nap = { 0, 100000 };
	siginfo_t info;

	for (int i = 0; i < 1000; i++) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)server, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		    info.si_pid != 0)
			return;
		nanosleep(&nap, NULL);
	}
}

static void stop_server(struct session *s)
{
	if (s->socket >= 0)
		close(s->socket);
	s->socket = -1;
	if (s->server > 0) {
		if (!s->running)
			await_end(s->server);
		kill(-s->server, SIGKILL);
		kill(s->server, SIGKILL);
		waitpid(s->server, NULL, 0);
	}
	s->server = 0;
	s->running = false;
}

static struct err *start_server(struct session *s)
{
	struct reply hello;
	struct err *err;
	int status = 0;
	bool late;

	s->area->uncontrolled = 0;
	s->area->flags = 0;
	err = spawn(s, true, &s->server);
	if (err)
		return err;
	if (receive(s, timeout_of(s), &hello, &late)) {
		if (!(hello.status & PLAIT_UNCONTROLLED_EARLY_THREADS))
			return NULL;
		stop_server(s);
		s->exec_each = s->early = true;
		free(s->note);
		s->note = xstrdup(
			"its constructors start threads, so it is started anew for each run");
		return NULL;
	}
	if (!late)
		waitpid(s->server, &status, 0);
	else
		stop_server(s);
	s->server = 0;
	if (!late && WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_new(ERR_ENV, "%s: cannot be started", s->program);
	return err_new(ERR_ENV,
		       "%s: does not come under control (statically linked, setuid, or built with "
		       "another version of unplait?)",
		       s->program);
}

struct err *session_open(const struct target *target, struct session **ret)
{
	struct session *s = xcalloc(1, sizeof(*s));
	struct err *err;

	s->target = target;
	s->area_fd = s->socket = -1;
	s->exec_each = target->exec_each;
	signal(SIGPIPE, SIG_IGN);
	launch_catch_interrupts();
	err = find_runtime(s);
	if (!err)
		err = make_area(s);
	if (!err)
		err = file_temp_dir(&s->dir);
	if (!err) {
		s->out = xasprintf("%s/stdout", s->dir);
		s->errors = xasprintf("%s/stderr", s->dir);
		if (!s->exec_each)
			err = start_server(s);
	}
	if (err) {
		session_close(s);
		return err;
	}
	*ret = s;
	return NULL;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	stop_server(s);
	if (s->area)
		munmap(s->area, PLAIT_CONTROL_SIZE);
	if (s->area_fd >= 0)
		close(s->area_fd);
	if (s->dir)
		file_remove_tree(s->dir);
	free(s->dir);
	free(s->out);
	free(s->errors);
	free(s->preload);
	free(s->program);
	free(s->note);
	free(s);
}

/* ---- a run ---- */

static struct err *write_decisions(struct session *s, const struct run_request *req)
{
	uint8_t *start = (uint8_t *)s->area + PLAIT_CONTROL_REPLAY, *p = start;
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < req->ndecisions; i++) {
		if ((uint64_t)(p - start) + DECISION_MAX_BYTES > PLAIT_CONTROL_REPLAY_SIZE)
			return err_new(ERR_ENV, "the schedule is too long");
		p = decision_write(p, &req->decisions[i], last);
		last = req->decisions[i].step;
	}
	s->area->replay_len = (uint64_t)(p - start);
	return NULL;
}

static struct err *write_request(struct session *s, const struct run_request *req)
{
	struct plait_control *a = s->area;
	const struct target *t = s->target;

	a->strategy = req->strategy;
	a->points = req->points;
	a->flags = req->flags | (s->early ? PLAIT_CONTROL_EARLY : 0) |
		   (t->spurious ? PLAIT_CONTROL_SPURIOUS : 0);
	if (t->fresh)
		a->flags &= ~(uint32_t)PLAIT_CONTROL_AGAIN;
	a->depth = req->depth;
	a->seed = req->seed;
	a->length = req->length;
	a->point_budget = t->point_budget ? t->point_budget : DEFAULT_POINTS;
	a->event_budget = req->event_budget ? req->event_budget
			  : t->event_budget ? t->event_budget
					    : DEFAULT_EVENTS;
	a->gate = t->gate;
	a->run_number = ++s->run_number;
	if (req->nconstraints > PLAIT_MAX_CONSTRAINTS)
		return err_new(ERR_ENV, "more than %d constraints", PLAIT_MAX_CONSTRAINTS);
	a->nconstraints = (uint32_t)req->nconstraints;
	if (req->nconstraints)
		memcpy(a->constraints, req->constraints,
		       req->nconstraints * sizeof(a->constraints[0]));
	snprintf(a->dir, sizeof(a->dir), "%s", req->record_dir ? req->record_dir : "");
	/* the result begins empty */
	memset(&a->pid, 0,
	       offsetof(struct plait_control, text) - offsetof(struct plait_control, pid));
	a->text[0] = 0;
	a->hash = 0xcbf29ce484222325ull;
	if (req->nturns > PLAIT_CONTROL_TURNS_MAX)
		return err_new(ERR_ENV, "the schedule is too long");
	a->turns_len = req->nturns;
	if (req->nturns)
		memcpy((char *)a + PLAIT_CONTROL_TURNS, req->turns,
		       req->nturns * sizeof(req->turns[0]));
	if (req->vectors_len > PLAIT_CONTROL_VECTORS_SIZE)
		return err_new(ERR_ENV, "the access vectors are too long to replay");
	a->vectors_len = req->vectors_len;
	if (req->vectors_len)
		memcpy((char *)a + PLAIT_CONTROL_VECTORS, req->vectors, req->vectors_len);
	return write_decisions(s, req);
}

/* The fork server's way. */
static struct err *start_forked(struct session *s)
{
	struct err *err;

	if (!s->server) {
		err = start_server(s);
		if (err)
			return err;
	}
	if (write(s->socket, "g", 1) != 1)
		return err_new(ERR_ENV, "the fork server is gone");
	s->running = true;
	return NULL;
}

static struct err *finish_forked(struct session *s, int *status, bool *late)
{
	struct reply reply;

	if (receive_run(s, &reply, late)) {
		*status = (int)reply.status;
		s->running = false;
		return NULL;
	}
	if (launch_interrupted())
		return err_new(ERR_ENV, "interrupted");
	if (!*late)
		return err_new(ERR_ENV, "the fork server ended unexpectedly");
	if (s->area->pid)
		kill((pid_t)s->area->pid, SIGKILL);
	{
		bool again;

		if (receive(s, 5, &reply, &again)) {
			*status = (int)reply.status;
			s->running = false;
			return NULL;
		}
	}
	stop_server(s);
	*status = SIGKILL;
	return NULL;
}

static struct err *run_execed(struct session *s, int *status, bool *late)
{
	double end = clock_seconds() + timeout_of(s);
	struct patience p = { .steps = UINT64_MAX };
	struct err *err;
	pid_t pid, got;

	err = spawn(s, false, &pid);
	if (err)
		return err;
	*late = false;
	while ((got = waitpid(pid, status, WNOHANG)) == 0) {
		struct timespec nap = { 0, 200000 };

		if ((clock_seconds() > end || launch_interrupted()) && !*late) {
			*late = true;
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
		}
		look(s, &p);
		nanosleep(&nap, NULL);
	}
	if (launch_interrupted())
		return err_new(ERR_ENV, "interrupted");
	return got < 0 ? err_errno(errno, "waitpid") : NULL;
}

static void read_result(struct session *s, const struct run_request *req, struct run_result *r)
{
	struct plait_control *a = s->area;
	const struct plait_blocked *b =
		(const struct plait_blocked *)((const char *)a + PLAIT_CONTROL_BLOCKED);
	struct decision_reader reader;
	struct decision d;
	uint32_t i;

	r->end = a->end;
	r->diverged = a->end == PLAIT_END_DIVERGED;
	r->diverged_step = a->diverged_step;
	r->steps = a->steps;
	r->points = a->points_taken;
	r->switches = a->switches;
	r->preemptions = a->preemptions;
	r->hash = a->hash;
	r->nthreads = a->nthreads;
	r->max_alive = a->max_alive;
	r->uncontrolled = a->uncontrolled;
	r->new_pairs = a->new_pairs;
	r->new_points = a->new_points;
	r->reads_met = a->reads_met;
	r->vectors_dropped = a->vectors_dropped;
	r->gate = a->gate_used;
	for (i = 0; i < a->nblocked && i < PLAIT_CONTROL_BLOCKED_MAX; i++)
		vec_push(&r->blocked, b[i]);
	if (req->flags & PLAIT_CONTROL_LOG) {
		r->choices = (const struct plait_choice *)((const char *)a + PLAIT_CONTROL_CHOICES);
		r->nchoices = a->choices_len;
	}
	decision_reader_init(&reader, (const char *)a + PLAIT_CONTROL_DECISIONS, a->decisions_len);
	while (decision_read(&reader, &d))
		vec_push(&r->schedule.decisions, d);
	r->schedule.steps = a->steps;
	r->schedule.hash = a->hash;
	r->schedule.flags =
		a->flags & (PLAIT_CONTROL_NO_POISON | PLAIT_CONTROL_EARLY | PLAIT_CONTROL_SPURIOUS);
	r->schedule.seed = req->seed;
	snprintf(r->schedule.strategy, sizeof(r->schedule.strategy), "%s",
		 sched_strategy_name(req->strategy));
}

/* A run that is recorded notes its failure in its folder. What cannot be read stays unknown: the
 * recording itself will say why. */
static void read_failure(const char *dir, struct plait_failure *ret)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/run", dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (pread(fd, ret, sizeof(*ret), offsetof(struct plait_run, failure)) !=
	    (ssize_t)sizeof(*ret))
		memset(ret, 0, sizeof(*ret));
	close(fd);
}

static void judge(struct session *s, const struct run_request *req, int status,
		  struct run_result *r)
{
	const struct plait_run *run = session_process(s);

	r->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (req->record_dir)
		read_failure(req->record_dir, &r->failure);
	else
		r->failure = run->failure;
	if (r->end == PLAIT_END_DEADLOCK)
		r->outcome = PLAIT_OUTCOME_DEADLOCK;
	else if (r->end == PLAIT_END_BUDGET || r->timed_out)
		r->outcome = PLAIT_OUTCOME_HANG;
	else if (r->end == PLAIT_END_DIVERGED || r->end == PLAIT_END_FULL ||
		 r->end == PLAIT_END_INFEASIBLE || r->end == PLAIT_END_BROKEN || !s->area->started)
		r->outcome = PLAIT_OUTCOME_UNKNOWN;
	else if (r->signal)
		r->outcome = r->signal == SIGABRT ? PLAIT_OUTCOME_ASSERT : PLAIT_OUTCOME_SIGNAL;
	else
		r->outcome = r->exit_code && s->target->fail_on_exit ? PLAIT_OUTCOME_EXIT
								     : PLAIT_OUTCOME_PASS;
	if (s->area->text[0])
		r->text = xstrdup(s->area->text);
	else if (r->failure.text[0])
		r->text = xstrdup(r->failure.text);
	else if (r->timed_out)
		r->text = xasprintf("no end within %g seconds of real time: something outside "
				    "control blocks",
				    timeout_of(s));
	r->schedule.outcome = r->outcome;
}

/* --expect and --oracle, on runs that otherwise passed. */
static struct err *judge_output(struct session *s, struct run_result *r)
{
	struct strbuf want = { 0 }, got = { 0 };
	struct err *err = NULL;
	int status;

	if (r->outcome == PLAIT_OUTCOME_PASS && s->target->expect) {
		err = file_read(s->target->expect, &want);
		if (!err)
			err = file_read(s->out, &got);
		if (!err && (want.len != got.len || memcmp(want.data, got.data, got.len)))
			r->outcome = PLAIT_OUTCOME_OUTPUT;
	}
	strbuf_deinit(&want);
	strbuf_deinit(&got);
	if (!err && r->outcome == PLAIT_OUTCOME_PASS && s->target->oracle) {
		setenv("PLAIT_STDOUT", s->out, 1);
		setenv("PLAIT_STDERR", s->errors, 1);
		status = system(s->target->oracle);
		if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
			return err_new(ERR_ENV, "the oracle cannot be run: %s", s->target->oracle);
		if (status != 0)
			r->outcome = PLAIT_OUTCOME_ORACLE;
	}
	r->schedule.outcome = r->outcome;
	return err;
}

struct err *session_start(struct session *s, const struct run_request *req)
{
	struct err *err = write_request(s, req);

	if (!err && launch_interrupted())
		err = err_new(ERR_ENV, "interrupted");
	if (err)
		return err;
	s->request = *req;
	return s->exec_each ? NULL : start_forked(s);
}

struct err *session_finish(struct session *s, struct run_result *ret)
{
	const struct run_request *req = &s->request;
	struct err *err;
	int status = 0;

	run_result_deinit(ret);
	err = s->exec_each ? run_execed(s, &status, &ret->timed_out)
			   : finish_forked(s, &status, &ret->timed_out);
	if (err)
		return err;
	read_result(s, req, ret);
	judge(s, req, status, ret);
	log_debug(2, "run %llu: %s seed %llu: outcome %d, %llu steps, %llu switches, hash %llx",
		  (unsigned long long)s->run_number, sched_strategy_name(req->strategy),
		  (unsigned long long)req->seed, ret->outcome, (unsigned long long)ret->steps,
		  (unsigned long long)ret->switches, (unsigned long long)ret->hash);
	return judge_output(s, ret);
}

struct err *session_run(struct session *s, const struct run_request *req, struct run_result *ret)
{
	struct err *err = session_start(s, req);

	return err ? err : session_finish(s, ret);
}

/* ---- what others may look at ---- */

const char *session_stdout(const struct session *s)
{
	return s->out;
}

const char *session_stderr(const struct session *s)
{
	return s->errors;
}

const struct plait_run *session_process(const struct session *s)
{
	return (const struct plait_run *)((const char *)s->area + PLAIT_CONTROL_RUN);
}

const struct plait_pairs *session_pairs(const struct session *s)
{
	return pairs_of(s->area);
}

/* Pairs keep the larger count: the sessions saw different runs, but adding up would count the
 * shared past twice. */
static uint32_t merge_pairs(struct session *to, const struct plait_pairs *from)
{
	uint32_t i, fresh = 0;

	for (i = 0; i < from->n && i < PLAIT_CONTROL_PAIRS_MAX; i++) {
		const struct plait_pair *p = &from->pair[i];
		struct plait_pair *q = pairs_get(to->area, p->write_site, p->read_site);

		if (!q || q->count >= p->count)
			continue;
		fresh += !q->count;
		q->count = p->count;
	}
	return fresh;
}

uint32_t session_learn_all(struct session *s, const struct session *from)
{
	uint64_t *to = (uint64_t *)((char *)s->area + PLAIT_CONTROL_POINTS);
	const uint64_t *bits = (const uint64_t *)((const char *)from->area + PLAIT_CONTROL_POINTS);
	size_t i;

	for (i = 0; i < PLAIT_CONTROL_POINTS_SIZE / sizeof(*to); i++)
		if (bits[i]) /* what is not written stays a hole */
			to[i] |= bits[i];
	return merge_pairs(s, session_pairs(from));
}

void session_add_point(struct session *s, uint32_t site)
{
	uint8_t *bits = (uint8_t *)s->area + PLAIT_CONTROL_POINTS;
	uint32_t bit = site % (PLAIT_CONTROL_POINTS_SIZE * 8);

	bits[bit / 8] |= (uint8_t)(1u << bit % 8);
}

uint64_t session_npoints(const struct session *s)
{
	const uint64_t *bits = (const uint64_t *)((const char *)s->area + PLAIT_CONTROL_POINTS);
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < PLAIT_CONTROL_POINTS_SIZE / 8; i++)
		n += (uint64_t)__builtin_popcountll(bits[i]);
	return n;
}

const char *session_note(const struct session *s)
{
	return s->note;
}

char *const *session_argv(const struct session *s)
{
	return s->target->argv;
}

const struct target *session_target(const struct session *s)
{
	return s->target;
}

char *session_file(const struct session *s, const char *name)
{
	return xasprintf("%s/%s", s->dir, name);
}

/* gdb hands the environment on to the target; what it must not have itself goes by command. */
void session_exec_gdb(struct session *s, const char *gdb, const char *script, char *const *extra)
{
	VEC(char *) argv = { 0 };
	size_t i;

	setenv(PLAIT_ENV_MODE, "control", 1);
	setenv(PLAIT_ENV_CONTROL, s->area_path, 1);
	unsetenv(PLAIT_ENV_DIR);
	unsetenv(PLAIT_ENV_SERVER);
	vec_push(&argv, (char *)gdb);
	vec_push(&argv, "-q");
	if (s->preload) {
		vec_push(&argv, "-ex");
		vec_push(&argv, xasprintf("set environment LD_PRELOAD %s", s->preload));
	}
	vec_push(&argv, "-ex");
	vec_push(&argv, "set environment LD_BIND_NOW 1");
	vec_push(&argv, "-x");
	vec_push(&argv, (char *)script);
	for (i = 0; extra && extra[i]; i++)
		vec_push(&argv, extra[i]);
	vec_push(&argv, "--args");
	vec_push(&argv, s->program);
	for (i = 1; s->target->argv[i]; i++)
		vec_push(&argv, s->target->argv[i]);
	vec_push(&argv, NULL);
	execv(gdb, argv.data);
}

struct err *session_prepare(struct session *s, const struct run_request *req, uint32_t gate)
{
	struct err *err = write_request(s, req);

	s->area->gate = gate;
	return err;
}
