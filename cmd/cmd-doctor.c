/* cmd/cmd-doctor.c - what works on this machine, and what to install for the rest. */
#include "base/file.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

struct finding {
	const char *name;
	bool good;
	bool needed; /* else: only something lesser is missing */
	const char *advice;
};

static bool program(const char *name)
{
	char *path = file_find_program(name);

	free(path);
	return path != NULL;
}

static bool clang(void)
{
	const char *chosen = getenv("UNPLAIT_CC");

	return program(chosen ? chosen : "clang-19");
}

static bool part(const char *name)
{
	char *path = file_find_part(name);

	free(path);
	return path != NULL;
}

static bool pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Bit 1 of the auxiliary vector's HWCAP2: user code may set its thread pointer. */
static bool fsgsbase(void)
{
	return getauxval(AT_HWCAP2) & 2;
}

static bool no_aslr(void)
{
	int old = personality(0xffffffff);
	bool good = old != -1 && personality((unsigned)old | ADDR_NO_RANDOMIZE) != -1;

	if (good)
		personality((unsigned)old);
	return good;
}

static bool room_for_traces(void)
{
	const char *tmp = getenv("TMPDIR");
	struct statvfs v;

	return statvfs(tmp ? tmp : "/tmp", &v) == 0 &&
	       (uint64_t)v.f_bavail * v.f_frsize > (1ull << 30);
}

static bool invariant_tsc(void)
{
	uint32_t a = 0x80000007, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return d & (1 << 8);
}

static size_t examine(struct finding *f)
{
	size_t n = 0;

	f[n++] = (struct finding){ "clang-19 (unplait cc)", clang(), true,
				   "install clang-19, or set UNPLAIT_CC" };
	f[n++] = (struct finding){ "libplait.a (unplait cc)", part("libplait.a"), true,
				   "build or install unplait completely" };
	f[n++] = (struct finding){ "libplait.so (programs not built with unplait)",
				   part("libplait.so"), false,
				   "build or install unplait completely" };
#ifdef HAVE_Z3
	f[n++] = (struct finding){ "Z3 (explain)", true, false, "" };
#else
	f[n++] = (struct finding){ "Z3 (explain)", false, false,
				   "install libz3-dev and build unplait again" };
#endif
	f[n++] = (struct finding){ "unplait-lift (rewind)", part("unplait-lift"), false,
				   "install valgrind and build unplait again" };
	f[n++] = (struct finding){ "process descriptors (running targets)", pidfd(), true,
				   "needs Linux 5.3, and a container that allows pidfd_open" };
	f[n++] = (struct finding){ "address randomisation can be switched off (hunt, replay)",
				   no_aslr(), false,
				   "allow personality(2), e.g. docker run --security-opt "
				   "seccomp=unconfined" };
	f[n++] = (struct finding){ "FSGSBASE (fast switches in control mode)", fsgsbase(), false,
				   "needs Linux 5.9 and a processor that has it; slower without" };
	f[n++] = (struct finding){ "constant time stamp counter (clocks of recordings)",
				   invariant_tsc(), false,
				   "order between threads is less exact without" };
	f[n++] = (struct finding){ "1 GiB free in $TMPDIR (recording)", room_for_traces(), false,
				   "free some space or set TMPDIR" };
	f[n++] = (struct finding){ "gdb (replay --gdb)", program("gdb"), false, "install gdb" };
	f[n++] = (struct finding){ "dot (graphs in reports)", program("dot"), false,
				   "install graphviz" };
	return n;
}

static struct err *doctor_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	const struct opt none[] = { OPT_END };
	struct cmd_common common = { 0 };
	struct finding f[32];
	size_t n;
	struct json j;
	struct err *err = cmd_parse(cmd, none, &common, true, &argc, &argv);

	if (err)
		return err;
	if (argc > 0)
		return cmd_usage(cmd, "doctor takes no words");
	n = examine(f);
	json_init(&j);
	json_begin_answer(&j);
	json_begin_array(&j, "checks");
	for (size_t i = 0; i < n; i++) {
		if (!f[i].good && f[i].needed)
			*status = ERR_ENV;
		json_begin_object(&j, NULL);
		json_str(&j, "name", f[i].name);
		json_bool(&j, "good", f[i].good);
		json_bool(&j, "needed", f[i].needed);
		json_str(&j, "advice", f[i].good ? NULL : f[i].advice);
		json_end(&j);
		if (common.json)
			continue;
		printf("%s%-7s%s %s\n",
		       color(f[i].good	   ? COLOR_GREEN
			     : f[i].needed ? COLOR_RED
					   : COLOR_YELLOW),
		       f[i].good     ? "ok"
		       : f[i].needed ? "MISSING"
				     : "lacking",
		       color(COLOR_OFF), f[i].name);
		if (!f[i].good)
			printf("        %s\n", f[i].advice);
	}
	json_end(&j);
	json_end(&j);
	if (common.json)
		return cmd_write_json(&common, &j);
	json_deinit(&j);
	return NULL;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.synopsis = "",
	.summary = "check this machine and say what to install",
	.help = "Status 3 when something is missing that unplait cannot do without.\n",
	.main = doctor_main,
};
