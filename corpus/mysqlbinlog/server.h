/* server.h - what sessions share. */
#include <pthread.h>

enum { TABLES = 2, ROWS = 8, EVENTS = 512, FILES = 32 };

enum verb { SQL_SET, SQL_DELETE, SQL_SELECT };

struct statement {
	enum verb verb;
	int table, key;
	long value;
};

struct row {
	int used;
	long value;
};

struct table {
	pthread_mutex_t lock;
	struct row row[ROWS];
	long reads, writes;
};

struct log_file {
	int events;
	struct statement event[EVENTS];
};

struct binlog {
	pthread_mutex_t lock;
	int is_open;
	int current; /* file being written */
	struct log_file file[FILES];
	long written;
};

struct status {
	pthread_mutex_t lock;
	long questions, changes, errors, last_value;
};

struct server {
	struct table table[TABLES];
	struct binlog binlog;
	struct status status;
};

/* -1 when the text is not a statement. */
int sql_parse(const char *text, struct statement *ret);

/* Returns 1 when the table was changed. Call with the table locked. */
int table_execute(struct table *t, const struct statement *st, long *value);

void binlog_init(struct binlog *log);
void binlog_write(struct binlog *log, const struct statement *st);
void binlog_rotate(struct binlog *log);
