/* What programs still write as inline assembly, each with many inputs; prints what came out. Every
 * compiler must print the same. */
#include <stdint.h>
#include <stdio.h>

static int32_t word;
static int64_t wide;
static uint8_t byte;
static void *pointer;

static int32_t load(void)
{
	int32_t v;
	__asm__ __volatile__("movl %1, %0" : "=r"(v) : "m"(word) : "memory");
	return v;
}
static void store(int32_t v)
{
	__asm__ __volatile__("movl %1, %0" : "=m"(word) : "r"(v) : "memory");
}
static int32_t exchange(int32_t v)
{
	__asm__ __volatile__("xchgl %0, %1" : "+r"(v), "+m"(word)::"memory");
	return v;
}
static int32_t fetch_add(int32_t v)
{
	__asm__ __volatile__("lock; xaddl %0, %1" : "+r"(v), "+m"(word)::"memory", "cc");
	return v;
}
static int32_t compare_exchange(int32_t old, int32_t new)
{
	int32_t was;
	__asm__ __volatile__("lock; cmpxchgl %1, %2"
			     : "=a"(was)
			     : "r"(new), "m"(word), "0"(old)
			     : "memory", "cc");
	return was;
}
static int compare_and_set(int32_t old, int32_t new)
{
	unsigned char done;
	__asm__ __volatile__("lock cmpxchgl %3, %0\n\tsete %1"
			     : "+m"(word), "=q"(done), "+a"(old)
			     : "r"(new)
			     : "memory", "cc");
	return done * 2 + (old == new);
}
static int flag_output(int32_t old, int32_t new)
{
	int done;
	__asm__ __volatile__("lock cmpxchgl %3, %0"
			     : "+m"(word), "=@ccz"(done), "+a"(old)
			     : "r"(new)
			     : "memory");
	return done;
}
static int decrement(void)
{
	unsigned char zero;
	__asm__ __volatile__("lock; decq %0; setz %1" : "+m"(wide), "=qm"(zero)::"memory", "cc");
	return zero;
}
static int add_is_not_zero(int64_t v)
{
	unsigned char left;
	__asm__ __volatile__("lock addq %2, %0\n\tsetne %1\n"
			     : "+m"(wide), "=q"(left)
			     : "er"(v)
			     : "memory", "cc");
	return left;
}
static void bits(int64_t v)
{
	__asm__ __volatile__("lock; orq %1, %0" : "+m"(wide) : "r"(v) : "cc");
	__asm__ __volatile__("lock; andq %1, %0" : "+m"(wide) : "r"(~v / 3) : "cc");
	__asm__ __volatile__("lock; xorq %1, %0" : "+m"(wide) : "r"(v * 7) : "cc");
	__asm__ __volatile__("lock; subq %1, %0" : "+m"(wide) : "r"(v) : "cc");
	__asm__ __volatile__("lock; notq %0" : "+m"(wide));
	__asm__ __volatile__("lock; incq %0" : "+m"(wide)::"cc");
}
static int test_and_set(uint8_t v)
{
	__asm__ __volatile__("	lock	\n	xchgb	%0,%1	\n" : "+q"(v), "+m"(byte)::"memory");
	return v;
}
static void *exchange_pointer(void *v)
{
	__asm__ __volatile__("xchgq %0, %1" : "+r"(v), "+m"(pointer)::"memory");
	return v;
}
/* stays assembly: the carry flag is not modelled */
static int set_bit(int n)
{
	unsigned char was;
	__asm__ __volatile__("lock; btsl %2, %0; setc %1"
			     : "+m"(word), "=q"(was)
			     : "r"(n)
			     : "memory", "cc");
	return was;
}

int main(void)
{
	static char area[8];
	uint32_t seed = 1;

	for (int i = 0; i < 200; i++) {
		int32_t v = (int32_t)(seed = seed * 1664525 + 1013904223) >> (i % 29);

		printf("%d ", load());
		store(v);
		printf("%d ", exchange(v * 3));
		printf("%d ", fetch_add(v + i));
		printf("%d ", compare_exchange(i % 2 ? word : v, v - 1));
		printf("%d ", compare_and_set(i % 3 ? word : v, v + 1));
		printf("%d ", flag_output(i % 3 ? word : v, 5));
		wide = i % 4 ? v : 1;
		printf("%d ", decrement());
		printf("%d ", add_is_not_zero(i % 5 ? v : -wide));
		bits(v);
		printf("%lld %d ", (long long)wide, test_and_set((uint8_t)v));
		printf("%d ", (int)((char *)exchange_pointer(area + i % 8) - area) * (i > 0));
		__asm__ __volatile__("mfence" ::: "memory");
		__asm__ __volatile__("lock; addl $0, 0(%%rsp)" ::: "memory", "cc");
		__asm__ __volatile__("rep; nop" ::: "memory");
		printf("%d\n", set_bit(i % 32));
	}
	return 0;
}
