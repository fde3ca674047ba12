/* rewind/lifter.c - see lifter.h.
 *
 * The program may end on code that confuses it. That is an answer: the function cannot be lifted. The
 * next question starts it again. Nothing it says is believed: every count and every number of a
 * temporary or register is checked, because whoever runs the operations later does not. */
#include "rewind/lifter.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_SECONDS = 20 };

struct lifter {
	char *path;
	bool runs;
	struct process process;
	int socket;
	uint8_t buffer[1 << 16];
	size_t at, have;
};

struct err *lifter_new(struct lifter **ret)
{
	struct lifter *l;
	char *path = file_find_part("unplait-lift");

	if (!path)
		return err_new(ERR_ENV, "unplait-lift is not installed: it is built where Debian's "
					"package valgrind is there (apt-get install valgrind, "
					"then make)");
	l = xcalloc(1, sizeof(*l));
	l->path = path;
	*ret = l;
	return NULL;
}

static void stop(struct lifter *l)
{
	if (!l->runs)
		return;
	close(l->socket);
	process_kill(&l->process);
	l->runs = false;
	l->at = l->have = 0;
}

void lifter_free(struct lifter *l)
{
	if (!l)
		return;
	stop(l);
	free(l->path);
	free(l);
}

static struct err *run(struct lifter *l)
{
	char *argv[] = { l->path, NULL };
	struct process_options o = { .argv = argv, .program = l->path };
	struct err *err;
	int pair[2];

	if (l->runs)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(errno, "socketpair");
	o.fds[0] = (struct process_fd){ pair[1], 0 };
	o.fds[1] = (struct process_fd){ pair[1], 1 };
	err = process_start(&o, &l->process);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	l->socket = pair[0];
	l->runs = true;
	return NULL;
}

static bool send_all(struct lifter *l, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t k = send(l->socket, p, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

static bool receive(struct lifter *l, void *to, size_t n)
{
	char *p = to;

	while (n) {
		size_t k = MIN(n, l->have - l->at);
		struct pollfd wait = { .fd = l->socket, .events = POLLIN };
		ssize_t got;

		memcpy(p, l->buffer + l->at, k);
		l->at += k;
		p += k;
		n -= k;
		if (!n)
			break;
		if (poll(&wait, 1, ANSWER_SECONDS * 1000) <= 0)
			return false;
		got = read(l->socket, l->buffer, sizeof(l->buffer));
		if (got <= 0)
			return false;
		l->at = 0;
		l->have = (size_t)got;
	}
	return true;
}

static bool op_is_sane(const struct lift_op *op, unsigned ntemps, bool *defined)
{
	bool is_value = op->kind >= LIFT_REFUSE + 1;
	bool reads_a = op->kind == LIFT_PUT || op->kind == LIFT_LOAD || op->kind == LIFT_STORE ||
		       op->kind == LIFT_EXIT || is_value;
	bool reads_b =
		op->kind == LIFT_STORE || (is_value && op->kind != LIFT_ZEXT &&
					   op->kind != LIFT_SEXT && op->kind != LIFT_EXTRACT);

	if (op->kind == LIFT_NONE || op->kind >= LIFT_KINDS || op->w > 64)
		return false;
	if ((op->kind == LIFT_GET || op->kind == LIFT_PUT) && op->imm >= LIFT_REGISTERS)
		return false;
	if (op->a > ntemps || op->b > ntemps || op->c > ntemps || op->dst > ntemps)
		return false;
	if ((reads_a && !defined[op->a]) || (reads_b && !defined[op->b]) ||
	    (op->kind == LIFT_ITE && !defined[op->c]) ||
	    (op->kind == LIFT_NEXT && op->a && !defined[op->a]))
		return false;
	defined[op->dst] = op->dst != 0;
	return true;
}

/* The operations of one instruction, checked. */
static bool receive_ops(struct lifter *l, const struct lift_head *head, struct function *f)
{
	bool defined[LIFT_MAX_OPS + 1] = { false };
	struct lift_op op;

	if (head->nops > LIFT_MAX_OPS || head->ntemps > LIFT_MAX_OPS || !head->nops)
		return false;
	for (unsigned i = 0; i < head->nops; i++) {
		if (!receive(l, &op, sizeof(op)) || !op_is_sane(&op, head->ntemps, defined))
			return false;
		vec_push(&f->ops, op);
	}
	return true;
}

struct err *lifter_lift(struct lifter *l, uint64_t address, const uint8_t *bytes, size_t len,
			struct function *f)
{
	struct lift_request request = { .address = address, .length = (uint32_t)len };
	struct lift_head head;
	struct err *err;

	if (len > LIFT_MAX_RANGE)
		return err_new(ERR_ENV, "the function is too long");
	err = run(l);
	if (err)
		return err;
	if (!send_all(l, &request, sizeof(request)) || !send_all(l, bytes, len))
		goto died;
	for (uint64_t next = address; receive(l, &head, sizeof(head));) {
		struct insn i = { .address = head.address,
				  .length = head.length,
				  .nops = head.nops,
				  .ntemps = head.ntemps,
				  .first_op = (uint32_t)f->ops.len };

		if (head.length == 0)
			return NULL;
		if (head.address != next || !receive_ops(l, &head, f))
			break;
		vec_push(&f->insns, i);
		next += head.length;
	}
died:
	stop(l);
	return err_new(ERR_ENV, "unplait-lift could not read the code");
}
