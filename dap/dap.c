/* dap/dap.c - see dap.h.
 *
 * A message is a header, "Content-Length: N", an empty line and N bytes of JSON. */
#include "dap/dap.h"

#include "base/embed.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

extern const char dap_script[];
EMBED(dap_script, "dap/dap.py");

enum {
	MOST_HEADER = 1000,    /* bytes of a line */
	MOST_MESSAGE = 4 << 20 /* bytes of JSON */
};

/* ---- messages ---- */

/* False at the end of the input. */
static bool read_all(int fd, char *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = read(fd, bytes + done, n - done);

		if (r > 0)
			done += (size_t)r;
		else if (r == 0 || errno != EINTR)
			return false;
	}
	return true;
}

/* One line of the header, without its end. False at the end of the input, or when it is too long. */
static bool read_line(int fd, struct strbuf *line)
{
	char c;

	strbuf_clear(line);
	while (line->len < MOST_HEADER && read_all(fd, &c, 1)) {
		if (c == '\n')
			return true;
		if (c != '\r')
			strbuf_addc(line, c);
	}
	return false;
}

/* The length that the header says; 0: it says none. False at the end of the input. */
static bool read_header(int fd, size_t *ret)
{
	static const char name[] = "Content-Length:";
	_cleanup_(strbuf_deinit) struct strbuf line = { 0 };
	bool begun = false;

	*ret = 0;
	for (; read_line(fd, &line); begun = true) {
		if (!line.len)
			return true;
		if (strncasecmp(strbuf_str(&line), name, strlen(name)) == 0)
			*ret = strtoul(strbuf_str(&line) + strlen(name), NULL, 10);
	}
	/* the end is an end only between messages */
	*ret = 0;
	return begun || line.len > 0;
}

/* The next message. *ret is NULL at the end of the input. */
static struct err *receive(int fd, cJSON **ret)
{
	_cleanup_(xfreep) char *body = NULL;
	size_t n;

	*ret = NULL;
	if (!read_header(fd, &n))
		return NULL;
	if (!n || n > MOST_MESSAGE)
		return err_new(ERR_ENV, "this is not the Debug Adapter Protocol: a message "
					"begins with its Content-Length");
	body = xmalloc(n + 1);
	if (!read_all(fd, body, n))
		return NULL;
	body[n] = '\0';
	*ret = cJSON_Parse(body);
	return *ret ? NULL : err_new(ERR_ENV, "a message of the client is not JSON");
}

static void send_message(struct dap *d, cJSON *m)
{
	_cleanup_(strbuf_deinit) struct strbuf all = { 0 };
	char *text;

	cJSON_AddNumberToObject(m, "seq", (double)++d->seq);
	text = cJSON_PrintUnformatted(m);
	strbuf_addf(&all, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
	for (size_t done = 0; done < all.len;) {
		ssize_t w = write(d->out, all.data + done, all.len - done);

		if (w >= 0)
			done += (size_t)w;
		else if (errno != EINTR)
			break; /* gone: its input ends, too */
	}
	free(text);
	cJSON_Delete(m);
}

static void say_event(struct dap *d, const char *name)
{
	cJSON *m = cJSON_CreateObject();

	cJSON_AddStringToObject(m, "type", "event");
	cJSON_AddStringToObject(m, "event", name);
	send_message(d, m);
}

static const char *string_of(const cJSON *object, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(v) ? v->valuestring : "";
}

/* why: NULL when all is well. Takes over `body`. */
static void answer(struct dap *d, const cJSON *request, cJSON *body, const char *why)
{
	cJSON *m = cJSON_CreateObject(), *e;
	const cJSON *seq = cJSON_GetObjectItemCaseSensitive(request, "seq");

	cJSON_AddStringToObject(m, "type", "response");
	cJSON_AddNumberToObject(m, "request_seq", cJSON_IsNumber(seq) ? seq->valuedouble : 0);
	cJSON_AddStringToObject(m, "command", string_of(request, "command"));
	cJSON_AddBoolToObject(m, "success", !why);
	if (why) {
		cJSON_AddStringToObject(m, "message", why);
		body = cJSON_CreateObject();
		e = cJSON_AddObjectToObject(body, "error");
		cJSON_AddNumberToObject(e, "id", 1);
		cJSON_AddStringToObject(e, "format", why);
		cJSON_AddBoolToObject(e, "showUser", true);
	}
	if (body)
		cJSON_AddItemToObject(m, "body", body);
	send_message(d, m);
}

/* ---- before the launch ---- */

static cJSON *what_we_can(void)
{
	static const char *const able[] = {
		"supportsConfigurationDoneRequest",
		"supportsFunctionBreakpoints",
		"supportsConditionalBreakpoints",
		"supportsHitConditionalBreakpoints",
		"supportsLogPoints",
		"supportsEvaluateForHovers",
		"supportsStepBack",
		"supportsExceptionInfoRequest",
		"supportsRestartRequest",
		"supportsTerminateRequest",
		"supportsDelayedStackTraceLoading",
	};
	cJSON *body = cJSON_CreateObject();

	for (size_t i = 0; i < ARRAY_SIZE(able); i++)
		cJSON_AddBoolToObject(body, able[i], true);
	return body;
}

/* The arguments of a launch. Returns what is wrong with them, or NULL. */
static const char *take_launch(struct dap *d)
{
	const cJSON *a = cJSON_GetObjectItemCaseSensitive(d->request, "arguments"), *word;

	d->plait = string_of(a, "plait");
	d->trust = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(a, "trust"));
	d->program.len = 0;
	if (!*d->plait)
		return "launch: `plait' says which file to replay";
	if (*string_of(a, "program")) {
		vec_push(&d->program, (char *)string_of(a, "program"));
		cJSON_ArrayForEach(
			word, cJSON_GetObjectItemCaseSensitive(a, "args")) if (cJSON_IsString(word))
			vec_push(&d->program, word->valuestring);
	}
	vec_push(&d->program, NULL);
	return NULL;
}

/* True: the client wants to leave. */
static bool handle(struct dap *d)
{
	const char *command = string_of(d->request, "command");

	if (strcmp(string_of(d->request, "type"), "request") != 0)
		return false;
	if (strcmp(command, "initialize") == 0)
		answer(d, d->request, what_we_can(), NULL);
	else if (strcmp(command, "disconnect") == 0 || strcmp(command, "terminate") == 0) {
		answer(d, d->request, NULL, NULL);
		return true;
	} else
		answer(d, d->request, NULL, "nothing is replayed yet: launch a plait first");
	return false;
}

struct err *dap_wait_for_launch(struct dap *d)
{
	for (bool done = false; !done;) {
		struct err *err;
		const char *why;

		cJSON_Delete(d->request);
		d->request = NULL;
		err = receive(d->in, &d->request);
		if (err || !d->request)
			return err;
		if (strcmp(string_of(d->request, "command"), "launch") != 0) {
			done = handle(d);
			continue;
		}
		why = take_launch(d);
		if (!why)
			return NULL;
		answer(d, d->request, NULL, why);
	}
	cJSON_Delete(d->request);
	d->request = NULL;
	return NULL;
}

void dap_refuse(struct dap *d, struct err *err)
{
	answer(d, d->request, NULL, err_message(err));
	err_free(err);
}

void dap_say_end(struct dap *d)
{
	d->seq += 1 << 20; /* beyond all that gdb has sent */
	say_event(d, "terminated");
}

/* ---- gdb ---- */

struct err *dap_gdb_arguments(const struct dap *d, const char *dir, struct words *ret)
{
	_cleanup_(xfreep) char *launch = xasprintf("%s/launch.json", dir);
	char *script = xasprintf("%s/dap.py", dir), *text;
	cJSON *m = cJSON_CreateObject();
	struct err *err = file_write(script, dap_script, strlen(dap_script));

	cJSON_AddNumberToObject(m, "seq", (double)d->seq);
	cJSON_AddItemToObject(m, "request", cJSON_Duplicate(d->request, true));
	text = cJSON_PrintUnformatted(m);
	if (!err)
		err = file_write(launch, text, strlen(text));
	free(text);
	cJSON_Delete(m);
	words_push(ret, "-x");
	words_take(ret, script);
	words_push(ret, "-ex");
	words_take(ret, xasprintf("python serve(%d, %d, '%s')", d->in, d->out, launch));
	return err;
}

void dap_deinit(struct dap *d)
{
	cJSON_Delete(d->request);
	vec_deinit(&d->program);
}
