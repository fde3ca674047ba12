// One number from a source that differs in every process: the argument names the source. The number is
// kept in a file; a later run that gets another one aborts. With a second argument, two threads race
// afterwards, so that there is a failure to find and to replay.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <immintrin.h>
#include <pthread.h>
#include <random>
#include <sched.h>
#include <string>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <x86intrin.h>

static uint64_t early = std::random_device{}(); // before main
static int shared;

static uint64_t bytes_of(const char *s)
{
	uint64_t h = 1469598103934665603ull;
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211ull;
	return h;
}

static uint64_t from_file(const char *path)
{
	uint64_t v = 0;
	FILE *f = fopen(path, "rb");
	assert(f && fread(&v, sizeof(v), 1, f) == 1);
	fclose(f);
	return v;
}

static uint64_t work() // some, so that processor time passes
{
	volatile uint64_t v = 0;
	for (int i = 0; i < 3000000; i++)
		v = v + (uint64_t)i;
	return v;
}

static uint64_t stack_address()
{
	int local = 0;
	return (uint64_t)&local;
}

__attribute__((target("rdrnd"))) static uint64_t rdrand()
{
	unsigned long long v = 0;
	while (!_rdrand64_step(&v))
		;
	return v;
}

static uint64_t draw(const std::string &what)
{
	uint64_t v = 0;
	char text[256] = "";
	if (what == "early")
		return early;
	if (what == "random_device")
		return std::random_device{}();
	if (what == "random_device-urandom")
		return std::random_device("/dev/urandom")();
	if (what == "getrandom")
		assert(getrandom(&v, sizeof(v), 0) == sizeof(v));
	else if (what == "getrandom-syscall")
		assert(syscall(SYS_getrandom, &v, sizeof(v), 0) == sizeof(v));
	else if (what == "getentropy")
		assert(getentropy(&v, sizeof(v)) == 0);
	else if (what == "arc4random")
		v = (uint64_t)arc4random() << 32 | arc4random_uniform(1u << 31);
	else if (what == "arc4random_buf")
		arc4random_buf(&v, sizeof(v));
	else if (what == "urandom-open") {
		int fd = open("/dev/urandom", O_RDONLY);
		assert(read(fd, &v, sizeof(v)) == sizeof(v));
		close(fd);
	} else if (what == "urandom-fopen")
		v = from_file("/dev/urandom");
	else if (what == "urandom-stream") {
		std::ifstream in("/dev/urandom", std::ios::binary);
		in.read((char *)&v, sizeof(v));
		assert(in);
	} else if (what == "auxv")
		memcpy(&v, (void *)getauxval(AT_RANDOM), sizeof(v));
	else if (what == "rdtsc")
		v = __rdtsc();
	else if (what == "rdtsc-assembly") {
		uint32_t low, high;
		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
		v = (uint64_t)high << 32 | low;
	} else if (what == "rdrand")
		v = rdrand();
	else if (what == "clock")
		v = work() + (uint64_t)clock();
	else if (what == "times") {
		struct tms t;
		v = (uint64_t)times(&t);
	} else if (what == "getrusage") {
		struct rusage u;
		work();
		getrusage(RUSAGE_SELF, &u);
		v = (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec + u.ru_minflt);
	} else if (what == "time") {
		struct timespec ts;
		timespec_get(&ts, TIME_UTC);
		v = (uint64_t)ts.tv_nsec;
	} else if (what == "clock-syscall") {
		struct timespec ts;
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
		v = (uint64_t)ts.tv_nsec;
	} else if (what == "getpid")
		v = (uint64_t)getpid();
	else if (what == "getppid")
		v = (uint64_t)getppid();
	else if (what == "gettid")
		std::thread([&] { v = (uint64_t)gettid(); }).join();
	else if (what == "child") {
		int status = 0, ends[2];
		pid_t inside = 0, child;
		assert(pipe(ends) == 0);
		child = fork();
		if (child == 0) {
			inside = getpid();
			_exit(write(ends[1], &inside, sizeof(inside)) != sizeof(inside));
		}
		assert(read(ends[0], &inside, sizeof(inside)) == sizeof(inside) && inside == child);
		assert(waitpid(child, &status, 0) == child && status == 0);
		v = (uint64_t)child;
	} else if (what == "proc-stat") {
		std::ifstream in("/proc/" + std::to_string(getpid()) + "/comm");
		std::string name;
		in >> name;
		v = (uint64_t)getpid() + (name == "draws" ? 1 : 0);
		assert(name == "draws" || name == "draws-native");
	} else if (what == "mkstemp") {
		char name[] = "tempXXXXXX";
		int fd = mkstemp(name);
		assert(fd >= 0);
		close(fd);
		unlink(name);
		v = bytes_of(name);
	} else if (what == "mkdtemp") {
		char name[] = "foldXXXXXX";
		assert(mkdtemp(name));
		rmdir(name);
		v = bytes_of(name);
	} else if (what == "tempnam") {
		char *name = tempnam(".", "tmp");
		v = bytes_of(name);
		free(name);
	} else if (what == "heap") {
		int *p = new int;
		v = (uint64_t)p;
		delete p;
	} else if (what == "stack")
		v = stack_address();
	else if (what == "environment") // what lies on the stack above main moves with its size
		v = stack_address() + (uint64_t)&text;
	else if (what == "code")
		v = (uint64_t)&draw ^ (uint64_t)&fopen;
	else
		exit(3);
	return v;
}

static void *race(void *)
{
	int v = shared;
	shared = v + 1;
	return nullptr;
}

int main(int argc, char **argv)
{
	std::string what = argc > 1 ? argv[1] : "", file = "kept-" + what;
	uint64_t v = draw(what), before;
	int fd = open(file.c_str(), O_RDONLY);

	if (fd >= 0) {
		assert(read(fd, &before, sizeof(before)) == sizeof(before));
		if (before != v)
			abort();
	} else {
		fd = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
		assert(write(fd, &v, sizeof(v)) == sizeof(v));
	}
	close(fd);
	if (argc > 2) {
		pthread_t a, b;
		pthread_create(&a, nullptr, race, nullptr);
		pthread_create(&b, nullptr, race, nullptr);
		pthread_join(a, nullptr);
		pthread_join(b, nullptr);
		assert(shared == 2);
	}
	return 0;
}
