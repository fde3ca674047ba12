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

void interrupt_forget(void)
{
	came = 0;
}

static void catch (int number)
{
	struct sigaction mine = { .sa_handler = on_interrupt }, old;

	if (sigaction(number, NULL, &old) == 0 && (number != SIGHUP || old.sa_handler != SIG_IGN))
		sigaction(number, &mine, NULL);
}

void interrupt_catch(void)
{
	catch (SIGINT);
	catch (SIGTERM);
	catch (SIGHUP);
}

void interrupt_catch_more(void)
{
	catch (SIGQUIT);
	catch (SIGABRT);
	catch (SIGUSR1);
	catch (SIGUSR2);
}

struct err *interrupt_error(void)
{
	return err_new(ERR_ENV, "interrupted");
}
