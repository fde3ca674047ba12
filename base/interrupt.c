/* base/interrupt.c - see interrupt.h. The flag is the one thing a signal handler may touch, hence
 * global. */
#include "base/interrupt.h"

#include "base/err.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t came;

static void on_interrupt(int signal)
{
	came = signal;
}

int interrupted(void)
{
	return came;
}

void interrupt_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction mine = { .sa_handler = on_interrupt }, old;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &old) == 0 &&
		    (numbers[i] != SIGHUP || old.sa_handler != SIG_IGN))
			sigaction(numbers[i], &mine, NULL);
}

struct err *interrupt_error(void)
{
	return err_new(ERR_ENV, "interrupted");
}
