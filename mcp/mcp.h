/* mcp/mcp.h - unplait for agents: a Model Context Protocol server over standard input and output.
 *
 * One JSON-RPC message per line, as the protocol's stdio transport has it. A call of a tool runs an
 * unplait command of its own, the one that a user would type: what an agent is told is what a user is
 * told, and a call that is cancelled or goes wrong leaves the server as it was. Answers are bounded,
 * and each ends with what to do next. */
#ifndef MCP_MCP_H
#define MCP_MCP_H

struct err;

struct mcp_options {
	const char *program; /* the unplait that carries calls out */
	const char *root;    /* calls start here, and `source` shows nothing outside of it */
	double seconds;	     /* a call may take so long at most */
	int in, out;	     /* descriptors to talk over */
};

/* Returns at the end of the input, or with an error after Ctrl-C. */
struct err *mcp_serve(const struct mcp_options *o);

#endif
