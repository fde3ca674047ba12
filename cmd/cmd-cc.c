/* cmd/cmd-cc.c - `unplait cc` and `unplait c++` are the programs unplait-cc and unplait-c++; they
 * are programs of their own because they are the only ones that need LLVM to start. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/vec.h"

#include <errno.h>
#include <unistd.h>

static struct err *become(const char *program, int argc, char **argv)
{
	_cleanup_(xfreep) char *path = file_find_part(program);
	VEC(char *) words = { 0 };

	if (!path)
		return err_new(
			ERR_ENV,
			"%s is not installed: unplait was built without LLVM; run scripts/deps "
			"and make again",
			program);
	vec_push(&words, path);
	for (int i = 0; i < argc; i++)
		vec_push(&words, argv[i]);
	vec_push(&words, NULL);
	execv(path, words.data);
	vec_deinit(&words);
	return err_errno(errno, "cannot run %s", path);
}

static struct err *cc_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	(void)cmd;
	(void)status;
	return become("unplait-cc", argc, argv);
}

static struct err *cxx_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	(void)cmd;
	(void)status;
	return become("unplait-c++", argc, argv);
}

const struct cmd cmd_cc = {
	.name = "cc",
	.synopsis = "[CLANG-OPTION]... FILE...",
	.summary = "compile and link C, instrumented; takes clang's options",
	.main = cc_main,
};

const struct cmd cmd_cxx = {
	.name = "c++",
	.synopsis = "[CLANG-OPTION]... FILE...",
	.summary = "the same for C++",
	.main = cxx_main,
};
