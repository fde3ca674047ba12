/* The error path frees a pointer that only the good path sets (CVE-2008-1447's neighbours: uninitialised pointer). The
 * memory was used before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct packet {
	int kind;
	long *payload;
};

static __attribute__((noinline)) void stain(void)
{
	long *old = malloc(sizeof(struct packet));

	old[0] = 0x2222;
	old[1] = 0x1111;
	free(old);
}

static __attribute__((noinline)) struct packet *packet_new(int kind)
{
	struct packet *p = malloc(sizeof(*p)); /* BUG:a */

	p->kind = kind;
	if (kind == 1)
		p->payload = &(long){ 3 };
	return p;
}

int main(int argc, char **argv)
{
	struct packet *p;

	stain();
	p = packet_new(argc > 1 ? atoi(argv[1]) : 2);
	return (int)*p->payload;
}
