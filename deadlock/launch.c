/* deadlock/launch.c - see launch.h.
 *
 * Every process of the program writes its area into a folder of ours. Ten times a second we look at
 * the first lines of every slot, through our own mapping of the file: is a thread blocked where it
 * was blocked before? Only then is it worth a closer look, which reads whole slots, asks the locks
 * themselves, and builds the graph; and the same set of blocked threads is looked at only once.
 *
 * Signals are waited for, not handled: SIGCHLD (a child ended), SIGINT and SIGTERM (report, pass it
 * on), SIGUSR1 (report, go on). */
#include "deadlock/launch.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/vec.h"
#include "deadlock/deadlock.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS 100

static void sleep_seconds(double s)
{
	struct timespec ts = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };

	while (s > 0 && nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

/* ---- sampling one process ---- */

struct err *watch_sample(int pid, double wait, double stuck_after, struct snapshot *s,
			 struct deadlock *d)
{
	struct snapshot before;
	struct err *err = snapshot_from_pid(pid, &before);

	*s = (struct snapshot){ 0 };
	*d = (struct deadlock){ 0 };
	if (err)
		return err;
	sleep_seconds(wait);
	err = snapshot_from_pid(pid, s);
	if (!err) {
		snapshot_settle(s, &before);
		deadlock_find(s, d);
	}
	if (!err && d->stuck && stuck_after > wait) {
		deadlock_deinit(d);
		snapshot_deinit(s);
		sleep_seconds(stuck_after - wait);
		err = snapshot_from_pid(pid, s);
		if (!err) {
			snapshot_settle(s, &before);
			deadlock_find(s, d);
		}
	}
	snapshot_deinit(&before);
	if (err)
		snapshot_deinit(s);
	return err;
}

/* ---- the processes of the program ---- */

struct watched {
	int pid;
	char *path;
	uint64_t inode;
	struct file_map map;
	uint32_t *seq; /* per slot, of the poll before */
	size_t nseq;
	uint64_t looked_at; /* hash of the blocked threads we last analysed */
	double quiet_since; /* 0 = somebody moved */
	bool reported, dead;
	unsigned polls;
};

struct watcher {
	const struct watch_opts *o;
	char *dir;
	struct process process;
	VEC(struct watched) all;
	struct watch_result *result;
	bool done;
};

static void watched_deinit(struct watched *w)
{
	file_map_close(&w->map);
	free(w->path);
	free(w->seq);
}

static struct watched *find_watched(struct watcher *wr, int pid)
{
	for (size_t i = 0; i < wr->all.len; i++)
		if (wr->all.data[i].pid == pid && !wr->all.data[i].dead)
			return &wr->all.data[i];
	return NULL;
}

/* After an exec the file is a new one under the old name. */
static uint64_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

static void find_areas(struct watcher *wr)
{
	DIR *dir = opendir(wr->dir);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		struct watched w = { .pid = atoi(d->d_name) }, *old;
		struct err *err;

		if (w.pid <= 0 || !strstr(d->d_name, ".area"))
			continue;
		w.path = xasprintf("%s/%s", wr->dir, d->d_name);
		w.inode = inode_of(w.path);
		old = find_watched(wr, w.pid);
		if (old && old->inode == w.inode) {
			watched_deinit(&w);
			continue;
		}
		if (old)
			old->dead = true;
		err = file_map_open(w.path, &w.map);
		if (err || w.map.len < WATCH_PAGE ||
		    ((const struct watch_header *)w.map.data)->magic != WATCH_MAGIC) {
			err_free(err);
			watched_deinit(&w); /* just being made: next time */
			continue;
		}
		vec_push(&wr->all, w);
		if (!old)
			wr->result->areas++;
	}
	if (dir)
		closedir(dir);
}

/* ---- the cheap look ---- */

struct look {
	unsigned live, waiting;	    /* waiting: where they were before, for ever */
	unsigned locks, conditions; /* ... for a lock; for a condition */
	uint64_t hash;
};

static struct look look_at(struct watched *w)
{
	const struct watch_header *h = (const void *)w->map.data;
	struct look l = { 0 };
	uint32_t used = h->slots_used;

	if (h->slots_at > w->map.len || h->slot_size < sizeof(struct watch_slot))
		return l;
	used = MIN(used, (uint32_t)((w->map.len - h->slots_at) / h->slot_size));
	if (used > w->nseq) {
		w->seq = xreallocarray(w->seq, used, sizeof(*w->seq));
		memset(w->seq + w->nseq, 0xff, (used - w->nseq) * sizeof(*w->seq));
		w->nseq = used;
	}
	for (uint32_t i = 0; i < used; i++) {
		const struct watch_slot *t =
			(const void *)(w->map.data + h->slots_at + (uint64_t)i * h->slot_size);
		uint32_t n = t->n, seq = t->seq, before = w->seq[i];
		const struct watch_use *top;

		w->seq[i] = seq;
		if (t->state == WATCH_STARTING)
			l.live++;
		if (t->state != WATCH_LIVE)
			continue;
		l.live++;
		if (n == 0 || n > WATCH_USES || seq != before)
			continue;
		top = &t->uses[n - 1];
		if (top->state != WATCH_WANT)
			continue;
		l.locks += top->kind <= WATCH_SPIN;
		l.conditions += top->kind == WATCH_COND;
		l.waiting +=
			!(top->flags & (WATCH_TIMED | WATCH_SHARED)) && top->kind != WATCH_SPIN;
		l.hash = hash_u64(l.hash ^ seq ^ (uint64_t)i << 40);
	}
	return l;
}

static struct err *report(struct watcher *wr, struct watched *w, enum watch_why why,
			  const struct snapshot *s, const struct deadlock *d)
{
	if (why == WATCH_WHY_DEADLOCK || why == WATCH_WHY_STUCK || d->ndeadlocks || d->stuck) {
		if (!w->reported)
			wr->result->findings++;
		w->reported = true;
	}
	return wr->o->report(wr->o->context, why, s, d);
}

static void end_program(struct watcher *wr, int pid)
{
	if (wr->o->action == WATCH_LEAVE)
		return;
	if (wr->o->action == WATCH_ABORT)
		kill(pid, SIGABRT);
	else
		kill(pid, SIGKILL);
	if (pid != wr->process.pid) {
		/* the rest of the program may wait for it in turn */
		sleep_seconds(0.05);
		kill(wr->process.pid, SIGTERM);
	}
}

static struct err *examine(struct watcher *wr, struct watched *w, bool quiet_long)
{
	struct snapshot s;
	struct deadlock d;
	struct err *err = watch_sample(w->pid, 0.02, 0, &s, &d);

	if (err) {
		/* it ended under our hands: the look at its death will tell */
		err_free(err);
		return NULL;
	}
	if (d.ndeadlocks) {
		err = report(wr, w, WATCH_WHY_DEADLOCK, &s, &d);
		end_program(wr, w->pid);
	} else if (d.stuck && quiet_long) {
		err = report(wr, w, WATCH_WHY_STUCK, &s, &d);
		end_program(wr, w->pid);
	}
	deadlock_deinit(&d);
	snapshot_deinit(&s);
	/* cppcheck-suppress returnDanglingLifetime ; an error holds no part of a snapshot */
	return err;
}

static struct err *poll_one(struct watcher *wr, struct watched *w)
{
	struct look l;
	bool quiet_long = false;

	if (w->dead || w->reported)
		return NULL;
	l = look_at(w);
	if (l.live == 0 || l.waiting < l.live)
		w->quiet_since = 0;
	else if (w->quiet_since == 0)
		w->quiet_since = clock_seconds();
	else if (wr->o->stuck_after > 0)
		quiet_long = clock_seconds() - w->quiet_since >= wr->o->stuck_after;
	w->polls++;
	if (quiet_long) {
		w->quiet_since = clock_seconds(); /* not again before as long a time */
		return examine(wr, w, true);
	}
	if ((l.locks && l.hash != w->looked_at) || (l.conditions && w->polls % 20 == 0)) {
		w->looked_at = l.hash;
		return examine(wr, w, false);
	}
	return NULL;
}

static struct err *poll_all(struct watcher *wr)
{
	struct err *err = NULL;

	find_areas(wr);
	for (size_t i = 0; i < wr->all.len && !err; i++)
		err = poll_one(wr, &wr->all.data[i]);
	return err;
}

/* ---- requests, and what is left of the dead ---- */

static struct err *report_one(struct watcher *wr, struct watched *w)
{
	struct snapshot s;
	struct deadlock d;
	struct err *err = watch_sample(w->pid, 0.05, 0, &s, &d);

	if (err) {
		err_free(err); /* it has just ended */
		return NULL;
	}
	/* nobody moves between two samples; that says something only after a while */
	d.stuck &= wr->o->stuck_after > 0 && w->quiet_since > 0 &&
		   clock_seconds() - w->quiet_since >= wr->o->stuck_after;
	err = report(wr, w, WATCH_WHY_REQUEST, &s, &d);
	deadlock_deinit(&d);
	snapshot_deinit(&s);
	/* cppcheck-suppress returnDanglingLifetime ; an error holds no part of a snapshot */
	return err;
}

static struct err *report_now(struct watcher *wr)
{
	struct err *err = NULL;

	find_areas(wr);
	for (size_t i = 0; i < wr->all.len && !err; i++)
		if (!wr->all.data[i].dead)
			err = report_one(wr, &wr->all.data[i]);
	return err;
}

/* Threads that were not where the last poll saw them cannot be judged by one sample. */
static void settle_by_poll(struct snapshot *s, const struct watched *w)
{
	for (size_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].slot >= w->nseq ||
		    w->seq[s->threads[i].slot] != s->threads[i].seq)
			s->threads[i].moving = true;
}

static struct err *look_at_dead(struct watcher *wr, struct watched *w)
{
	const struct watch_header *h = (const void *)w->map.data;
	struct err *err;
	struct snapshot s;
	struct deadlock d;

	if (w->dead || w->reported || h->ended || kill(w->pid, 0) == 0)
		return NULL;
	w->dead = true;
	err = snapshot_from_file(w->path, &s);
	if (err) {
		err_free(err);
		return NULL;
	}
	settle_by_poll(&s, w);
	deadlock_find(&s, &d);
	d.stuck = false; /* dead threads do not move either: only a cycle is sure */
	err = report(wr, w, WATCH_WHY_DEATH, &s, &d);
	deadlock_deinit(&d);
	snapshot_deinit(&s);
	/* cppcheck-suppress returnDanglingLifetime ; an error holds no part of a snapshot */
	return err;
}

/* ---- starting ---- */

static struct err *make_folder(char **ret)
{
	char *path;

	/* memory rather than disk: areas are written all the time */
	if (access("/dev/shm", W_OK) == 0) {
		path = xstrdup("/dev/shm/unplait-watch-XXXXXX");
		if (mkdtemp(path)) {
			*ret = path;
			return NULL;
		}
		free(path);
	}
	return file_temp_dir(ret);
}

/* LD_PRELOAD only reaches dynamically linked programs. */
static struct err *check_dynamic(const char *program)
{
	_cleanup_(xfreep) char *path = file_find_program(program);
	struct file_map m;
	struct err *err = path ? file_map_open(path, &m)
			       : err_new(ERR_ENV, "cannot find the program %s", program);
	const Elf64_Ehdr *eh;
	bool is_static = false;

	if (err)
		return err;
	eh = (const void *)m.data;
	if (m.len >= sizeof(*eh) && memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 &&
	    eh->e_ident[EI_CLASS] == ELFCLASS64 && eh->e_phentsize == sizeof(Elf64_Phdr) &&
	    eh->e_phoff <= m.len && (m.len - eh->e_phoff) / sizeof(Elf64_Phdr) >= eh->e_phnum) {
		const Elf64_Phdr *ph = (const void *)(m.data + eh->e_phoff);

		is_static = eh->e_phnum > 0;
		for (unsigned i = 0; i < eh->e_phnum; i++)
			if (ph[i].p_type == PT_INTERP)
				is_static = false;
	}
	file_map_close(&m);
	if (is_static)
		return err_new(
			ERR_ENV,
			"%s is statically linked: no library can be preloaded into it; link it "
			"dynamically",
			program);
	return NULL;
}

/* The program may be left to a debugger, so it does not die with us. */
static struct err *start(struct watcher *wr, const sigset_t *old_mask)
{
	_cleanup_(environment_deinit) struct environment env = { 0 };
	_cleanup_(xfreep) char *config =
		xasprintf("dir=%s,history=%llu", wr->dir, (unsigned long long)wr->o->history);
	struct process_options o = { .argv = wr->o->argv, .mask = old_mask, .survives = true };

	environment_copy(&env);
	environment_prepend(&env, "LD_PRELOAD", wr->o->library);
	environment_set(&env, WATCH_ENV, config);
	o.env = env.data;
	return process_start(&o, &wr->process);
}

/* ---- the loop ---- */

static void reap(struct watcher *wr)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == wr->process.pid) {
			wr->result->wait_status = status;
			wr->result->ended = true;
			wr->done = true;
		}
	}
}

static struct err *interrupted(struct watcher *wr, const siginfo_t *info)
{
	struct err *err = report_now(wr);

	/* what the terminal sends goes to everybody; what kill() sends reached only us */
	if (info->si_code != SI_KERNEL)
		kill(wr->process.pid, info->si_signo);
	for (unsigned i = 0; i < 50 && !wr->done; i++) {
		reap(wr);
		if (!wr->done)
			sleep_seconds(0.02);
	}
	if (!wr->done) {
		kill(wr->process.pid, SIGKILL);
		sleep_seconds(0.05);
		reap(wr);
	}
	wr->done = true;
	return err;
}

static struct err *loop(struct watcher *wr, const sigset_t *signals)
{
	const struct timespec tick = { 0, POLL_MS * 1000000l };
	double start = clock_seconds();
	struct err *err = NULL;

	while (!err && !wr->done) {
		siginfo_t info;
		int sig = sigtimedwait(signals, &info, &tick);

		if (sig == SIGUSR1)
			err = report_now(wr);
		else if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)
			err = interrupted(wr, &info);
		else if (sig == SIGCHLD)
			reap(wr);
		if (!err && !wr->done)
			err = poll_all(wr);
		if (wr->result->findings && wr->o->action == WATCH_LEAVE)
			break; /* leave it as it is, for a debugger */
		if (wr->o->timeout > 0 && clock_seconds() - start > wr->o->timeout && !wr->done) {
			log_note("time is up after %g seconds", wr->o->timeout);
			err = report_now(wr);
			kill(wr->process.pid, SIGKILL);
		}
	}
	find_areas(wr);
	for (size_t i = 0; i < wr->all.len && !err; i++)
		err = look_at_dead(wr, &wr->all.data[i]);
	return err;
}

struct err *watch_run(const struct watch_opts *o, struct watch_result *ret)
{
	struct watcher wr = { .o = o, .result = ret };
	static const int wanted[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	struct err *err = check_dynamic(o->argv[0]);
	sigset_t signals, old_mask;

	*ret = (struct watch_result){ 0 };
	if (!err)
		err = make_folder(&wr.dir);
	if (err)
		return err;
	sigemptyset(&signals);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		sigaddset(&signals, wanted[i]);
	sigprocmask(SIG_BLOCK, &signals, &old_mask);
	err = start(&wr, &old_mask);
	if (!err)
		err = loop(&wr, &signals);
	for (size_t i = 0; i < wr.all.len; i++)
		watched_deinit(&wr.all.data[i]);
	vec_deinit(&wr.all);
	if (ret->ended || o->action != WATCH_LEAVE)
		file_remove_tree(wr.dir);
	free(wr.dir);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	return err;
}
