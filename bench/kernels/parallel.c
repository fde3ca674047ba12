/* parallel - like blackscholes: threads price options of a shared array, each its own part; little is
 * shared but the input. usage: parallel [options=100000] [rounds=10] */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };

struct option {
	double spot, strike, rate, volatility, time;
};

static struct option *options;
static double *prices;
static int count, rounds;

static double normal(double x)
{
	return 0.5 * erfc(-x * 0.70710678118654752);
}

static double price(const struct option *o)
{
	double root = o->volatility * sqrt(o->time);
	double d1 = (log(o->spot / o->strike) +
		     (o->rate + 0.5 * o->volatility * o->volatility) * o->time) / root;

	return o->spot * normal(d1) - o->strike * exp(-o->rate * o->time) * normal(d1 - root);
}

static void *work(void *arg)
{
	int id = (int)(long)arg;

	for (int r = 0; r < rounds; r++)
		for (int i = id * count / THREADS; i < (id + 1) * count / THREADS; i++)
			prices[i] = price(&options[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	double sum = 0;

	count = argc > 1 ? atoi(argv[1]) : 100000;
	rounds = argc > 2 ? atoi(argv[2]) : 10;
	options = malloc((size_t)count * sizeof(*options));
	prices = malloc((size_t)count * sizeof(*prices));
	for (int i = 0; i < count; i++)
		options[i] = (struct option){ 90 + i % 20, 100, 0.02, 0.1 + i % 7 * 0.05, 1 + i % 3 };
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < count; i++)
		sum += prices[i];
	printf("%.6f\n", sum);
	return 0;
}
