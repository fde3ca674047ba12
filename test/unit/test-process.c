/* base/process.c, base/environment.c: starting, waiting, ending. */
#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "base/sweep.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct process run_shell(const char *text, struct process_options o)
{
	char *argv[] = { "sh", "-c", (char *)text, NULL };
	struct process p;
	struct err *err;

	o.argv = argv;
	err = process_run(&o, &p);
	cr_assert_null(err, "%s", err ? err_message(err) : "");
	return p;
}

static char *contents(const char *path)
{
	struct strbuf text = { 0 };

	cr_assert_null(file_read(path, &text));
	return strbuf_detach(&text);
}

Test(process, exit_code_and_signal)
{
	struct process p = run_shell("exit 7", (struct process_options){ 0 });

	cr_assert_eq(p.exit_code, 7);
	cr_assert_eq(p.signal, 0);
	p = run_shell("kill -9 $$", (struct process_options){ 0 });
	cr_assert_eq(p.exit_code, -1);
	cr_assert_eq(p.signal, 9);
	cr_assert(!p.timed_out);
}

Test(process, one_file_takes_both_outputs)
{
	char *dir;

	cr_assert_null(file_temp_dir(&dir));
	char *log = xasprintf("%s/log", dir), *text;

	run_shell("echo one; echo two >&2; echo three",
		  (struct process_options){ .out = log, .err = log });
	text = contents(log);
	cr_assert_str_eq(text, "one\ntwo\nthree\n");
	file_remove_tree(dir);
	free(text);
	free(log);
	free(dir);
}

Test(process, input_folder_environment_and_descriptors)
{
	struct environment e = { 0 };
	char *dir;

	cr_assert_null(file_temp_dir(&dir));
	char *in = xasprintf("%s/in", dir), *out = xasprintf("%s/out", dir), *text, *want;
	char *extra = xasprintf("%s/extra", dir);
	int fd = open(extra, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	cr_assert_null(file_write(in, "hello", 5));
	environment_copy(&e);
	environment_set(&e, "PROCESS_TEST", "a value");
	run_shell("cat; echo \" $PROCESS_TEST $(pwd)\"; echo far >&9",
		  (struct process_options){ .in = in,
					    .out = out,
					    .folder = "/",
					    .env = e.data,
					    .fds = { { .ours = fd, .theirs = 9 } } });
	text = contents(out);
	cr_assert_str_eq(text, "hello a value /\n");
	want = contents(extra);
	cr_assert_str_eq(want, "far\n");
	environment_deinit(&e);
	file_remove_tree(dir);
	close(fd);
	free(want);
	free(text);
	free(extra);
	free(out);
	free(in);
	free(dir);
}

Test(process, what_cannot_start_is_an_error)
{
	char *none[] = { "no-such-program-here", NULL }, *folder[] = { "/tmp", NULL };
	struct process_options o = { .argv = none };
	struct process p;
	struct err *err = process_start(&o, &p);

	cr_assert_not_null(err);
	cr_assert_str_eq(err_message(err), "there is no program 'no-such-program-here'");
	err_free(err);
	process_kill(&p); /* does nothing */
	o.argv = folder;
	err = process_start(&o, &p);
	cr_assert_not_null(err);
	cr_assert_str_eq(err_message(err), "cannot start '/tmp': Permission denied");
	err_free(err);
}

Test(process, a_time_out_ends_the_whole_group)
{
	char *dir, *text;

	cr_assert_null(file_temp_dir(&dir));
	char *out = xasprintf("%s/out", dir);
	struct process p = run_shell(
		"trap '' ABRT; sleep 1000 & echo $!; wait",
		(struct process_options){ .timeout = 0.2, .out = out, .own_group = true });

	cr_assert(p.timed_out && p.ended);
	text = contents(out);
	for (int i = 0; i < 100 && kill(atoi(text), 0) == 0; i++)
		usleep(20000);
	/* it may be left as a zombie where nobody reaps orphans */
	char *stat = xasprintf("/proc/%d/stat", atoi(text));
	struct strbuf state = { 0 };
	struct err *err = file_read(stat, &state);

	cr_assert(err || strstr(strbuf_str(&state), ") Z "), "%s", strbuf_str(&state));
	err_free(err);
	strbuf_deinit(&state);
	file_remove_tree(dir);
	free(stat);
	free(text);
	free(out);
	free(dir);
}

Test(process, the_first_of_several_to_end)
{
	char *slow[] = { "sleep", "1000", NULL }, *fast[] = { "true", NULL };
	struct process all[2];
	size_t which = 9;

	cr_assert_null(process_start(&(struct process_options){ .argv = slow }, &all[0]));
	cr_assert_null(process_start(&(struct process_options){ .argv = fast }, &all[1]));
	cr_assert_null(process_wait(all, 2, &which));
	cr_assert_eq(which, 1);
	cr_assert(!process_wait_for(&all[0], 0.01));
	process_kill(&all[0]);
	cr_assert_eq(all[0].signal, SIGKILL);
}

static int add(void *arg)
{
	return *(int *)arg + 1;
}

Test(process, a_copy_of_ourselves_works_for_us)
{
	int number = 41;
	struct process p;

	cr_assert_null(process_fork(add, &number, &p));
	process_wait_end(&p);
	cr_assert_eq(p.exit_code, 42);
}

Test(environment, set_remove_and_prepend)
{
	struct environment e = { 0 };

	environment_set(&e, "A", "1");
	environment_put(&e, "AB=2=3");
	environment_set(&e, "A", "4");
	cr_assert_eq(e.len, 2);
	cr_assert_str_eq(environment_find(&e, "A"), "4");
	cr_assert_str_eq(environment_find(&e, "AB"), "2=3");
	environment_prepend(&e, "AB", "x");
	cr_assert_str_eq(environment_find(&e, "AB"), "x:2=3");
	environment_set(&e, "A", NULL);
	cr_assert_null(environment_find(&e, "A"));
	environment_prepend(&e, "A", "y");
	cr_assert_str_eq(environment_find(&e, "A"), "y");
	cr_assert_null(e.data[e.len]);
	environment_deinit(&e);
}

/* A command with a folder and a target that writes into it; the command is ended by a signal. */
static void interrupted_command(const char *outer)
{
	char dir[128], path[160];
	int files = 0;

	snprintf(dir, sizeof(dir), "%s/unplait-XXXXXX", outer);
	if (sweep_make(dir) != 0)
		_exit(3);
	if (fork() == 0) {
		for (; files < 3000; files++) {
			snprintf(path, sizeof(path), "%s/%d", dir, files);
			close(open(path, O_CREAT | O_WRONLY, 0600));
		}
		_exit(0);
	}
	snprintf(path, sizeof(path), "%s/20", dir);
	while (access(path, F_OK) != 0)
		sched_yield();
	raise(SIGTERM);
}

/* The target goes on writing for a moment, so that rm finds a folder not empty that it had emptied. */
Test(sweep, a_folder_that_is_being_written_to_goes_away)
{
	for (int i = 0; i < 5; i++) {
		char outer[] = "/tmp/unplait-test-sweep-XXXXXX";
		pid_t command;
		int status;

		cr_assert_not_null(mkdtemp(outer));
		command = fork();
		if (command == 0)
			interrupted_command(outer);
		cr_assert_eq(waitpid(command, &status, 0), command);
		cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
		cr_assert_eq(rmdir(outer), 0, "something was left in %s", outer);
	}
}
