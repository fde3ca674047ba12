/* std::cout is nobody's race; the total is. */
#include <iostream>
#include <thread>

static int total;

static void work(int n)
{
	std::cout << "thread " << n << std::endl;
	total += n;
	std::cerr.width(3);
	std::cerr << n << '\n';
}

int main()
{
	std::thread a(work, 1), b(work, 2);

	a.join();
	b.join();
	std::cout << total << std::endl;
	return 0;
}
