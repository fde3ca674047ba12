/* run/session.h - private to run/: what debug.c needs of a session. */
#ifndef RUN_SESSION_H
#define RUN_SESSION_H

#include <stdint.h>

struct err;
struct run_request;
struct session;

/* A path inside the session's folder. Owned. */
char *session_file(const struct session *s, const char *name);
/* Fill in the request without starting anything. gate: as in struct plait_control. */
struct err *session_prepare(struct session *s, const struct run_request *req, uint32_t gate);
/* Become gdb on the target; returns when that fails. */
void session_exec_gdb(struct session *s, const char *gdb, const char *script, char *const *extra);

#endif
