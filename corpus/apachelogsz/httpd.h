/* httpd.h - what the workers share. */
#include <pthread.h>

enum { WORKERS = 32, DEPTH = 4, LINE = 96, LOG_BUFFER = 4096 };

struct request {
	char method[8];
	char path[48];
	int minor; /* of the HTTP version */
	int status, length;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	const char *slot[DEPTH];
	int head, count, closed;
};

struct access_log {
	pthread_mutex_t lock;
	int end; /* bytes in the buffer */
	char buffer[LOG_BUFFER];
	char *file; /* what was flushed */
	int file_length, file_room;
};

struct scoreboard {
	pthread_mutex_t lock;
	long served[WORKERS];
	long bytes, errors;
};

struct server {
	struct queue queue;
	struct access_log log;
	struct scoreboard board;
};

void request_parse(const char *text, struct request *r);
void request_answer(struct request *r);

void queue_init(struct queue *q);
void queue_put(struct queue *q, const char *connection);
const char *queue_get(struct queue *q); /* NULL: closed and empty */
void queue_close(struct queue *q);

void log_init(struct access_log *log, int room);
void log_deinit(struct access_log *log);
void log_write(struct access_log *log, const char *line, int length);
void log_flush(struct access_log *log);
