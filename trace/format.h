/* trace/format.h - private: the bytes of a plait (doc/format/plait.md) and of a record. */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include "base/siphash.h"
#include "trace/trace.h"

#define PLAIT_MAGIC	"\x89PLAIT\r\n"
#define PLAIT_END_MAGIC "PLAITEND"
#define PLAIT_ENDIAN	0x01020304u
#define PLAIT_BLOCK	(256u << 10) /* raw bytes of events in a block, about */
/* A piece that is larger than PLAIT_FREE is at most PLAIT_RATIO times what is stored: otherwise a
 * small file would ask for any amount of memory. What compresses better is stored as it is. */
#define PLAIT_FREE  (512u << 10)
#define PLAIT_RATIO 64

struct format_header {
	char magic[8];
	uint32_t version;
	uint32_t endian;
	uint8_t stamp[SIPHASH_LEN]; /* of what follows, with the user's key; 0 = none */
};

/* One per block of events, and one per named section. */
struct format_entry {
	char name[16];
	uint32_t thread; /* of "events" */
	uint32_t coding; /* 0 as it is, 1 zstd */
	uint64_t offset, stored, raw;
	uint64_t hash; /* xxh64 of the stored bytes, seed 0 */
	/* "events": the state in which decoding starts */
	uint64_t first_index, nevents;
	uint64_t clock;	  /* of the event before */
	uint64_t address; /* likewise */
	uint32_t site;	  /* likewise */
	uint32_t reserved;
};

struct format_footer {
	uint64_t directory; /* offset of the first entry */
	uint64_t nentries;
	uint64_t hash; /* xxh64 of the directory */
	uint64_t size; /* of the whole file */
	char magic[8];
};

/* Decodes the records of one thread. */
struct decoder {
	const uint8_t *next, *end;
	enum plait_clock clock_kind;
	uint64_t index, clock, address;
	uint32_t site, thread;
	uint64_t lost;	 /* since the last event */
	bool clock_seen; /* a CLOCK record since the last event */
};

enum decoded { DECODED_END, DECODED_EVENT, DECODED_DAMAGED };
enum decoded decoder_next(struct decoder *d, struct event *ret);

/* The i-th entry of the directory, NULL behind the last; and its bytes as stored. */
const struct format_entry *trace_entry(const struct trace *t, size_t i);
const uint8_t *trace_stored(const struct trace *t, const struct format_entry *e);
/* Check the hash and decompress into ret (emptied first). */
struct err *trace_load(struct trace *t, const struct format_entry *e, struct strbuf *ret);

/* The stamp of this user: begin, add all bytes behind the header, end. False: there is no key. */
bool stamp_begin(struct siphash *ret);
/* The whole file, checked. */
const uint8_t *trace_bytes(const struct trace *t, size_t *len);

static inline bool format_size_is_fair(uint64_t stored, uint64_t raw)
{
	return raw <= PLAIT_FREE || raw / PLAIT_RATIO <= stored;
}

void meta_write(const struct trace_meta *m, struct strbuf *out);
struct err *meta_read(const char *text, size_t len, struct trace_meta *ret);
void meta_deinit(struct trace_meta *m);
/* Fills in threads[i].name from parents and ordinals; an error when they make no tree. */
struct err *meta_name_threads(struct trace_meta *m);

#endif
