/* dap/dap.h - a replay in an editor: a Debug Adapter Protocol server over two descriptors.
 *
 * The protocol is spoken by gdb, through dap/dap.py: it holds the program, and what an editor asks
 * for is what gdb knows. Before gdb can start we must know the plait, so this side reads messages
 * up to `launch`. It reads not a byte more: what follows is gdb's. */
#ifndef DAP_DAP_H
#define DAP_DAP_H

#include "base/words.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

/* A client that has said hello, and what it wants to be replayed. All zero: nothing yet. */
struct dap {
	int in, out;	/* descriptors to talk over */
	uint64_t seq;	/* messages that were sent */
	cJSON *request; /* the launch; NULL: the client has gone */
	/* its arguments, borrowed from the request */
	const char *plait;
	struct VEC_FIELDS(char *) program; /* runs instead of the plait's, with its arguments */
	bool trust;
};

/* Talk until the client says what to replay. An error: what comes is not this protocol. */
struct err *dap_wait_for_launch(struct dap *d);
/* The launch failed; takes the error over. The client may try another one. */
void dap_refuse(struct dap *d, struct err *err);
/* gdb is gone. Unless the client knows, tell it. */
void dap_say_end(struct dap *d);
/* Files in `dir` for gdb, and in *ret its arguments: `-x`, the script, `-ex`, a command. */
struct err *dap_gdb_arguments(const struct dap *d, const char *dir, struct words *ret);
void dap_deinit(struct dap *d);

#endif
