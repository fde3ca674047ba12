/* ls.h - the tree and the options. */

enum sort { SORT_NAME, SORT_TIME, SORT_SIZE, SORT_GROUP };
enum type { T_FILE, T_DIR, T_DEVICE };

struct options {
	int format_long, recursive, classify, one_per_line, author, color;
	enum sort sort;
	const char *ignore, *hide;
};

struct entry {
	const char *dir, *name;
	enum type type;
	int size, time;
	const char *owner, *group;
};

extern const struct entry tree[];
extern const int tree_size;

void list(const char *dir, const struct options *o);
