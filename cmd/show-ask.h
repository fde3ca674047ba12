/* cmd/show-ask.h - the answers to `unplait rewind --ask`. */
#ifndef CMD_SHOW_ASK_H
#define CMD_SHOW_ASK_H

struct json;
struct rewind;
struct strbuf;

void show_answers(struct rewind *r, struct strbuf *out);
void json_answers(struct rewind *r, struct json *j);

#endif
