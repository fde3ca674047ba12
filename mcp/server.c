/* mcp/server.c - see mcp.h.
 *
 * The loop waits for two things at once: a line from the client, and the end of the command that the
 * current call runs. So a client can cancel a call or ping while one is under way. Calls are carried
 * out one after another: each may use all processors. */
#include "mcp/mcp.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "mcp/tools.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_TEXT = 16 << 10, /* bytes of an answer */
	MOST_LINE = 4 << 20,  /* bytes of a message */
	MOST_WAITING = 64,    /* calls */
};

/* JSON-RPC's numbers */
enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	NO_METHOD = -32601,
	INVALID_PARAMS = -32602
};

static const char *const versions[] = { "2025-06-18", "2025-03-26", "2024-11-05" };

struct server {
	const struct mcp_options *o;
	struct strbuf input;
	struct VEC_FIELDS(cJSON *) waiting; /* messages of calls that come later */
	cJSON *current;			    /* the call under way; NULL = none */
	const struct mcp_tool *tool;	    /* of that call */
	struct process process;
	char *dir, *out, *errors; /* what the command prints */
	bool gone;		  /* nobody reads our answers */
};

/* ---- messages ---- */

static void send_message(struct server *s, cJSON *m)
{
	char *text = cJSON_PrintUnformatted(m);
	size_t n = strlen(text), done = 0;

	text[n++] = '\n'; /* in place of the NUL */
	while (done < n && !s->gone) {
		ssize_t w = write(s->o->out, text + done, n - done);

		if (w >= 0)
			done += (size_t)w;
		else if (errno != EINTR)
			s->gone = true;
	}
	free(text);
	cJSON_Delete(m);
}

static cJSON *new_answer(const cJSON *id)
{
	cJSON *m = cJSON_CreateObject();

	cJSON_AddStringToObject(m, "jsonrpc", "2.0");
	cJSON_AddItemToObject(m, "id", id ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
	return m;
}

static void answer(struct server *s, const cJSON *id, cJSON *result)
{
	cJSON *m = new_answer(id);

	cJSON_AddItemToObject(m, "result", result);
	send_message(s, m);
}

static void refuse(struct server *s, const cJSON *id, int code, const char *why)
{
	cJSON *m = new_answer(id), *e = cJSON_AddObjectToObject(m, "error");

	cJSON_AddNumberToObject(e, "code", code);
	cJSON_AddStringToObject(e, "message", why);
	send_message(s, m);
}

/* Too long: the beginning and the end, and how much is left out. Never cuts a character in two. */
static void bound(struct strbuf *text)
{
	struct strbuf out = { 0 };
	const char *all = strbuf_str(text);
	size_t half = MOST_TEXT / 2, tail;

	if (text->len <= MOST_TEXT)
		return;
	while (half > 0 && ((unsigned char)all[half] & 0xc0) == 0x80)
		half--;
	tail = text->len - MOST_TEXT / 2;
	while (tail < text->len && ((unsigned char)all[tail] & 0xc0) == 0x80)
		tail++;
	strbuf_add(&out, all, half);
	strbuf_addf(&out, "\n... %zu bytes left out ...\n", tail - half);
	strbuf_add(&out, all + tail, text->len - tail);
	strbuf_deinit(text);
	*text = out;
}

static void answer_text(struct server *s, const cJSON *id, struct strbuf *text, bool is_error)
{
	cJSON *result = cJSON_CreateObject(), *content, *part = cJSON_CreateObject();

	bound(text);
	content = cJSON_AddArrayToObject(result, "content");
	cJSON_AddStringToObject(part, "type", "text");
	cJSON_AddStringToObject(part, "text", strbuf_str(text));
	cJSON_AddItemToArray(content, part);
	cJSON_AddBoolToObject(result, "isError", is_error);
	answer(s, id, result);
}

static void answer_err(struct server *s, const cJSON *id, struct err *err)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	strbuf_adds(&text, err_message(err));
	answer_text(s, id, &text, true);
	err_free(err);
}

static const cJSON *id_of(const cJSON *message)
{
	return cJSON_GetObjectItemCaseSensitive(message, "id");
}

static const cJSON *params_of(const cJSON *message, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(message, "params"),
						key);
}

/* ---- calls ---- */

static void call_done(struct server *s)
{
	cJSON_Delete(s->current);
	s->current = NULL;
}

static void add_next(const struct mcp_tool *t, const struct process *p, struct strbuf *text)
{
	const char *next = p->exit_code == 0   ? t->nothing
			   : p->exit_code == 1 ? t->found
			   : p->exit_code == 4 ? t->open
					       : "";

	if (p->timed_out)
		next = "The call took too long and was ended: give it fewer seconds.";
	if (next && *next)
		strbuf_addf(text, "\nnext: %s\n", next);
}

/* The command of the current call has ended. */
static void call_ended(struct server *s)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 }, errors = { 0 };
	const struct process *p = &s->process;
	bool failed = p->exit_code == 2 || p->exit_code == 3 || p->signal || p->timed_out;

	err_free(file_read(s->out, &text));
	err_free(file_read(s->errors, &errors));
	if (errors.len) {
		bound(&errors);
		strbuf_addf(&text, "%s%s", text.len ? "\n" : "", strbuf_str(&errors));
	}
	bound(&text);
	add_next(s->tool, p, &text);
	strbuf_addf(&text, "(status %d)\n", p->exit_code);
	answer_text(s, id_of(s->current), &text, failed);
	call_done(s);
}

static struct err *start_command(struct server *s, const cJSON *arguments)
{
	_cleanup_(words_deinit) struct words words = { 0 };
	struct process_options o = { .program = s->o->program,
				     .folder = s->o->root,
				     .in = "/dev/null",
				     .out = s->out,
				     .err = s->errors,
				     .timeout = s->o->seconds,
				     .own_group = true,
				     .cleans_up = true };
	struct err *err = mcp_tool_command(s->tool, arguments, s->o, &words);

	o.argv = words.data;
	return err ? err : process_start(&o, &s->process);
}

/* Take over `message`, a tools/call, and begin to carry it out. */
static void call_start(struct server *s, cJSON *message)
{
	const cJSON *name = params_of(message, "name"),
		    *arguments = params_of(message, "arguments");
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err;

	s->current = message;
	s->tool = cJSON_IsString(name) ? mcp_tool_find(name->valuestring) : NULL;
	if (!s->tool) {
		refuse(s, id_of(message), INVALID_PARAMS, "there is no such tool; see tools/list");
		call_done(s);
		return;
	}
	if (s->tool->command[0]) {
		err = start_command(s, arguments);
		if (!err)
			return;
	} else {
		err = mcp_source(arguments, s->o->root, &text);
	}
	if (err)
		answer_err(s, id_of(message), err);
	else
		answer_text(s, id_of(message), &text, false);
	call_done(s);
}

static void start_waiting(struct server *s)
{
	while (!s->current && s->waiting.len) {
		cJSON *m = s->waiting.data[0];

		s->waiting.len--;
		memmove(&s->waiting.data[0], &s->waiting.data[1], s->waiting.len * sizeof(m));
		call_start(s, m);
	}
}

/* The client does not want to know any more. A cancelled call gets no answer. */
static void cancel(struct server *s, const cJSON *id)
{
	if (s->current && cJSON_Compare(id_of(s->current), id, true)) {
		process_kill(&s->process);
		call_done(s);
		return;
	}
	for (size_t i = 0; i < s->waiting.len; i++) {
		if (!cJSON_Compare(id_of(s->waiting.data[i]), id, true))
			continue;
		cJSON_Delete(s->waiting.data[i]);
		s->waiting.len--;
		memmove(&s->waiting.data[i], &s->waiting.data[i + 1],
			(s->waiting.len - i) * sizeof(s->waiting.data[0]));
		return;
	}
}

/* ---- methods ---- */

static cJSON *introduce(const cJSON *message)
{
	const cJSON *wanted = params_of(message, "protocolVersion");
	cJSON *r = cJSON_CreateObject(), *info, *can;
	const char *version = versions[0];

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (cJSON_IsString(wanted) && strcmp(wanted->valuestring, versions[i]) == 0)
			version = versions[i];
	cJSON_AddStringToObject(r, "protocolVersion", version);
	can = cJSON_AddObjectToObject(r, "capabilities");
	cJSON_AddBoolToObject(cJSON_AddObjectToObject(can, "tools"), "listChanged", false);
	info = cJSON_AddObjectToObject(r, "serverInfo");
	cJSON_AddStringToObject(info, "name", "unplait");
	cJSON_AddStringToObject(info, "title", "unplait: concurrency bugs in C and C++");
	cJSON_AddStringToObject(info, "version", UNPLAIT_VERSION);
	cJSON_AddStringToObject(
		r, "instructions",
		"Build the program with CC='unplait cc' CXX='unplait c++' first. A flaky test: "
		"call "
		"test with the test binary or the build folder. Any other program: call hunt. Both "
		"save "
		"failing schedules as plaits, which replay exactly; explain names the cause and "
		"tests a "
		"cure; look shows variables at the failure. Each answer says what to do next.");
	return r;
}

/* Takes over `message`. */
static void handle_request(struct server *s, const char *method, cJSON *message)
{
	const cJSON *id = id_of(message);

	if (strcmp(method, "tools/call") == 0 && s->waiting.len < MOST_WAITING) {
		vec_push(&s->waiting, message);
		start_waiting(s);
		return;
	}
	if (strcmp(method, "initialize") == 0)
		answer(s, id, introduce(message));
	else if (strcmp(method, "ping") == 0)
		answer(s, id, cJSON_CreateObject());
	else if (strcmp(method, "tools/list") == 0)
		answer(s, id, mcp_tools_list());
	else if (strcmp(method, "tools/call") == 0)
		refuse(s, id, INVALID_REQUEST, "too many calls are waiting");
	else
		refuse(s, id, NO_METHOD, "this server knows tools only");
	cJSON_Delete(message);
}

static void handle_line(struct server *s, const char *line)
{
	cJSON *m = cJSON_Parse(line);
	const cJSON *method = cJSON_GetObjectItemCaseSensitive(m, "method");

	if (!m) {
		refuse(s, NULL, PARSE_ERROR, "this is not JSON");
		return;
	}
	if (!cJSON_IsObject(m) || !cJSON_IsString(method)) {
		/* an answer to something we never asked, or nothing that the protocol knows */
		if (!cJSON_GetObjectItemCaseSensitive(m, "result"))
			refuse(s, id_of(m), INVALID_REQUEST, "a request has a method");
		cJSON_Delete(m);
		return;
	}
	if (id_of(m)) {
		handle_request(s, method->valuestring, m);
		return;
	}
	if (strcmp(method->valuestring, "notifications/cancelled") == 0)
		cancel(s, params_of(m, "requestId"));
	cJSON_Delete(m);
}

/* ---- the loop ---- */

/* False at the end of the input. */
static bool read_more(struct server *s)
{
	char bytes[65536];
	ssize_t n = read(s->o->in, bytes, sizeof(bytes));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	strbuf_add(&s->input, bytes, (size_t)n);
	return n > 0;
}

static void handle_lines(struct server *s)
{
	_cleanup_(xfreep) char *now = strbuf_detach(&s->input);
	char *line = now, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (line[strspn(line, " \t\r")])
			handle_line(s, line);
	}
	if (strlen(line) < MOST_LINE)
		strbuf_adds(&s->input, line);
	else
		refuse(s, NULL, PARSE_ERROR, "that line is too long");
}

/* One whose time is over is ended. */
static bool has_ended(struct process *p)
{
	if (process_wait_for(p, 0))
		return true;
	if (!p->deadline || clock_seconds() < p->deadline)
		return false;
	process_kill(p);
	p->timed_out = true;
	return true;
}

static struct err *serve(struct server *s)
{
	bool open = true;

	while ((open || s->current) && !s->gone) {
		struct pollfd fds[] = { { .fd = open ? s->o->in : -1, .events = POLLIN },
					{ .fd = s->current ? s->process.pidfd : -1,
					  .events = POLLIN } };

		poll(fds, ARRAY_SIZE(fds), 250);
		if (interrupted())
			return interrupt_error();
		if (fds[0].revents && (open = read_more(s)))
			handle_lines(s);
		if (s->current && has_ended(&s->process))
			call_ended(s);
		start_waiting(s);
	}
	return NULL;
}

struct err *mcp_serve(const struct mcp_options *o)
{
	struct server s = { .o = o };
	struct err *err = file_temp_dir(&s.dir);

	if (err)
		return err;
	interrupt_catch();
	s.out = xasprintf("%s/out", s.dir);
	s.errors = xasprintf("%s/errors", s.dir);
	err = serve(&s);
	if (s.current)
		process_kill(&s.process);
	cJSON_Delete(s.current);
	for (size_t i = 0; i < s.waiting.len; i++)
		cJSON_Delete(s.waiting.data[i]);
	vec_deinit(&s.waiting);
	strbuf_deinit(&s.input);
	file_remove_tree(s.dir);
	free(s.dir);
	free(s.out);
	free(s.errors);
	return err;
}
