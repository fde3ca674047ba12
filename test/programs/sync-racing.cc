/* Threads that read and write plain variables of every size without locks, and mix what they see into a number, which main
 * prints. LIST: the racing lines, in the list that the program is built with. */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

struct shared {
	uint8_t byte;
	int16_t half;
	uint32_t word;
	int64_t wide;
	float single;
	double number;
	shared *self;
};

static shared all[3];
static uint64_t seen[3];
static std::atomic<int> here;

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x9e3779b97f4a7c15ull + (sum >> 29);
}

template <typename T> static uint64_t look(T *p)
{
	return static_cast<uint64_t>(*p); /* racing */
}

template <typename T> static void change(T *p, uint64_t sum)
{
	*p = static_cast<T>(sum & 0x3f); /* racing */
}

static uint64_t step(shared *s, uint64_t sum)
{
	switch (sum >> 32 & 7) {
	case 0:
		change(&s->byte, sum);
		return mix(sum, look(&s->half));
	case 1:
		change(&s->half, sum);
		return mix(sum, look(&s->word));
	case 2:
		s->word += 3; /* racing */
		return mix(sum, look(&s->wide));
	case 3:
		change(&s->wide, sum);
		return mix(sum, look(&s->single));
	case 4:
		change(&s->single, sum);
		return mix(sum, look(&s->number));
	case 5:
		change(&s->number, sum);
		return mix(sum, look(&s->byte));
	case 6:
		s->self = &all[sum & 1]; /* racing */
		return mix(sum, 1);
	default:
		s = s->self; /* racing */
		return mix(sum, s ? static_cast<uint64_t>(s - all) : 7);
	}
}

static void work(unsigned me)
{
	uint64_t sum = me + 1;

	here++;
	while (here < 3) /* all at once */
		;
	for (int i = 0; i < 5000; i++) {
		sum = step(&all[sum >> 40 & 1], mix(sum, static_cast<uint64_t>(i)));
		if (i % 50 == 0)
			std::this_thread::yield();
	}
	seen[me] = sum;
}

int main()
{
	std::vector<std::thread> threads;

	for (unsigned i = 0; i < 3; i++)
		threads.emplace_back(work, i);
	for (auto &t : threads)
		t.join();
	printf("%016llx %016llx %016llx\n", static_cast<unsigned long long>(seen[0]),
	       static_cast<unsigned long long>(seen[1]), static_cast<unsigned long long>(seen[2]));
	return 0;
}
