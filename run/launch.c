/* run/launch.c - see launch.h. */
#include "run/launch.h"

#include "run/runtime.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "unplait/abi.h"

#include <unistd.h>

struct err *launch_start(const struct launch_options *o, struct process *ret)
{
	_cleanup_(environment_deinit) struct environment env = { 0 };
	_cleanup_(runtime_deinit) struct runtime runtime = { 0 };
	struct process_options p = {
		.argv = o->command,
		.in = o->stdin_path,
		.out = o->stdout_path && *o->stdout_path ? o->stdout_path : NULL,
		.out_to_err = o->stdout_path && !*o->stdout_path,
		.err = o->stderr_path,
		.timeout = o->timeout,
		.takes_signals = o->takes_signals,
		/* a group of its own could not read from the terminal */
		.own_group = !isatty(0) || o->stdin_path,
	};
	struct err *err = runtime_find(o->command[0], &runtime);

	assert(o->mode && o->dir && *o->dir == '/');
	*ret = (struct process){ .ended = true };
	if (err)
		return err;
	if (!o->env)
		environment_copy(&env);
	for (size_t i = 0; o->env && o->env[i]; i++)
		environment_put(&env, o->env[i]);
	runtime_set_environment(&runtime, o->mode, &env);
	environment_set(&env, PLAIT_ENV_DIR, o->dir);
	environment_set(&env, PLAIT_ENV_OPTIONS, o->options);
	p.env = env.data;
	p.program = runtime.program;
	interrupt_catch();
	if (o->takes_signals)
		interrupt_catch_more();
	return process_start(&p, ret);
}
