/* rt/interpose/sanitizer.c - living with AddressSanitizer and its relatives in one program.
 *
 * Both sides take over libc's functions. In libplait-sanitizer.a our names are strong, so that the
 * program calls us first, and `real` is what the sanitizer would have called itself (resolve() in
 * interpose.c): we come before it, it comes before libc.
 *
 * A report of theirs ends the process with an ordinary exit status. While we watch, it is to be a
 * failure that every command knows, so it becomes an abort. ASAN_OPTIONS and the like still win.
 *
 * UndefinedBehaviorSanitizer would go on after a report and end with status 0: it is told to halt,
 * and UBSAN_OPTIONS=halt_on_error=0 has it go on.
 *
 * Nothing in a report is a scheduling point: it is written with the sanitizer's locks held, and
 * another thread that wants one of them would wait in the kernel for ever. */
#include "rt/core/rt.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

/* The sanitizer asks before anything is set up: not even strlen() may be called, it is theirs. */
static char first_letter_of_mode(void)
{
	static const char wanted[] = "UNPLAIT_MODE=";
	static volatile char text[1 << 16];
	long fd = rt_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/environ", O_RDONLY, 0, 0, 0);
	long n = rt_syscall(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0), k = 0;

	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	for (long i = 0; i < n; i++) {
		if (k >= 0 && text[i] == wanted[k])
			k++;
		else
			k = text[i] ? -1 : 0; /* wait for the next entry */
		if (k == sizeof(wanted) - 1)
			return text[i + 1] == 'o' && text[i + 2] == 'f' ? 0 : text[i + 1];
	}
	return 0;
}

static const char *default_options(void)
{
	char mode = first_letter_of_mode(); /* 0: off */

	/* Under control: a search for leaks after each of a thousand runs is not what was asked for;
	 * and threads that share a kernel thread share its signal stack, which AddressSanitizer
	 * would unmap at the end of the first of them, even when it is the program's own. */
	return mode == 'c' ? "abort_on_error=1:detect_leaks=0:use_sigaltstack=0"
	       : mode	   ? "abort_on_error=1"
			   : "";
}

/* Common options only count when UndefinedBehaviorSanitizer is alone; its own always do. */
static const char *undefined_options(void)
{
	return first_letter_of_mode() ? "abort_on_error=1:halt_on_error=1:print_stacktrace=1" : "";
}

#define DEFAULT_OPTIONS(name, options)                                                             \
	const char *name(void);                                                                    \
	PLAIT_EXPORT const char *name(void)                                                        \
	{                                                                                          \
		return options();                                                                  \
	}
DEFAULT_OPTIONS(__asan_default_options, default_options)
DEFAULT_OPTIONS(__lsan_default_options, default_options)
DEFAULT_OPTIONS(__msan_default_options, default_options)
DEFAULT_OPTIONS(__ubsan_default_options, undefined_options)

/* A report begins: this is the failure, whatever handlers of the program do about the abort that
 * follows. With halt_on_error=0 the program goes on. Weak: the program may have its own. */
static void report_begins(const char *options_name)
{
	const char *options = rt_getenv(options_name);

	if (!rt_self_ || (options && strstr(options, "halt_on_error=0")))
		return;
	rt_self_->in_signal = true;
	if (rt_mode != PLAIT_MODE_OFF)
		rt_failure(PLAIT_OUTCOME_SANITIZER, SIGABRT, 0, NULL, NULL);
}

void __asan_on_error(void);
PLAIT_EXPORT __attribute__((weak)) void __asan_on_error(void)
{
	report_begins("ASAN_OPTIONS");
}

void __ubsan_on_report(void);
PLAIT_EXPORT __attribute__((weak)) void __ubsan_on_report(void)
{
	report_begins("UBSAN_OPTIONS");
}
