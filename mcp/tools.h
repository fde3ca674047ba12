/* mcp/tools.h - private: the tools, what each takes, the command that it runs, and what to say next. */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include "base/words.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

struct err;
struct mcp_options;
struct strbuf;

enum mcp_kind { MCP_TEXT, MCP_NUMBER, MCP_LIST };

struct mcp_argument {
	const char *name;
	enum mcp_kind kind;
	bool needed;
	const char *help;
	const char *option; /* the option it becomes; NULL: a word behind the options */
};

enum { MCP_ARGUMENTS = 6 };

struct mcp_tool {
	const char *name, *title, *help;
	const char *command[8]; /* the first words of what it runs; none: answered here */
	struct mcp_argument arguments[MCP_ARGUMENTS];
	/* What to do next when the command ends with status 0, 1 or 4. */
	const char *nothing, *found, *open;
};

/* The tool of that name; NULL when there is no such tool. */
const struct mcp_tool *mcp_tool_find(const char *name);
/* The answer to tools/list. Owned by the caller. */
cJSON *mcp_tools_list(void);
/* The command of a call. An error says what is wrong with the arguments. */
struct err *mcp_tool_command(const struct mcp_tool *t, const cJSON *arguments,
			     const struct mcp_options *o, struct words *ret);
/* Lines of a source file, for the one tool that runs nothing. */
struct err *mcp_source(const cJSON *arguments, const char *root, struct strbuf *ret);

#endif
