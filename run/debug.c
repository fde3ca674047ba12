/* run/debug.c - a replay under gdb.
 *
 * gdb starts the target itself (and starts it again on `run`); what makes it a replay is the
 * environment and the control area, which this process keeps open meanwhile. Threads are switched
 * by futex, so that gdb sees them as the threads they are. */
#include "run/run.h"

#include "run/session.h"

#include "base/err.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FUTEX = 1 };

static const char script[] =
	"import gdb\n"
	"def value(text):\n"
	"    try:\n"
	"        return gdb.parse_and_eval(text)\n"
	"    except gdb.error:\n"
	"        raise gdb.GdbError('not under control yet: start the program first')\n"
	"class Plait(gdb.Command):\n"
	"    '''The schedule of this replay: plait where, plait next-switch, plait threads.'''\n"
	"    def __init__(self):\n"
	"        super().__init__('plait', gdb.COMMAND_USER, prefix=True)\n"
	"class Where(gdb.Command):\n"
	"    '''How many events have run, which thread runs, how many switches are behind us.'''\n"
	"    def __init__(self):\n"
	"        super().__init__('plait where', gdb.COMMAND_USER)\n"
	"    def invoke(self, arg, tty):\n"
	"        a = value('control.area')\n"
	"        print('event %d, thread %d runs, %d switches so far, next one after event %d' % "
	"(\n"
	"            int(a['steps']), int(a['current']), int(a['switches']), "
	"int(value('control.next_step'))))\n"
	"class NextSwitch(gdb.Command):\n"
	"    '''Continue until another thread goes on.'''\n"
	"    def __init__(self):\n"
	"        super().__init__('plait next-switch', gdb.COMMAND_USER)\n"
	"    def invoke(self, arg, tty):\n"
	"        value('control.area')\n"
	"        b = gdb.Breakpoint('gate_arrived', internal=True, temporary=True)\n"
	"        b.silent = True\n"
	"        gdb.execute('continue')\n"
	"        gdb.execute('plait where')\n"
	"class Threads(gdb.Command):\n"
	"    '''Every live thread, and what it is about to do.'''\n"
	"    def __init__(self):\n"
	"        super().__init__('plait threads', gdb.COMMAND_USER)\n"
	"    def invoke(self, arg, tty):\n"
	"        current = int(value('control.area')['current'])\n"
	"        for i in range(int(value('control.nalive'))):\n"
	"            t = value('control_alive[%d]' % i)\n"
	"            wait = t['op']['wait']\n"
	"            what = wait['what'].string() if int(wait) else 'to go on'\n"
	"            print('%s thread %d, waits %s, %d events done' % ('*' if int(t['task']['id']) "
	"== current\n"
	"                else ' ', int(t['task']['id']), what if int(t['task']['id']) != current "
	"else 'for nothing',\n"
	"                int(t['events'])))\n"
	"Plait(); Where(); NextSwitch(); Threads()\n"
	"gdb.execute('set pagination off')\n"
	"gdb.execute('set breakpoint pending on')\n"
	"gdb.execute('handle SIGSTOP nostop noprint pass')\n";

struct err *session_debug(struct session *s, const struct run_request *req, char *const *extra,
			  int *status)
{
	char *gdb = file_find_program("gdb"), *path = NULL;
	struct run_request r = *req;
	struct err *err;
	pid_t pid;
	int st = 0;

	if (!gdb)
		return err_new(ERR_ENV, "gdb is not installed");
	path = session_file(s, "plait.py");
	err = file_write(path, script, sizeof(script) - 1);
	if (!err)
		err = session_prepare(s, &r, FUTEX);
	pid = err ? -1 : fork();
	if (pid == 0) {
		session_exec_gdb(s, gdb, path, extra);
		_exit(127);
	}
	if (!err && pid < 0)
		err = err_errno(errno, "fork");
	while (!err && waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	*status = WIFEXITED(st) ? WEXITSTATUS(st) : 1;
	free(gdb);
	free(path);
	return err;
}
