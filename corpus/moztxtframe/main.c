/* moztxtframe - text frames that show a piece of a shared text.
 *
 * Reflow moves the frames' borders: it stores a frame's new offset, then its new length.
 * Painting reads both. A frame painted between the two stores shows the new offset with the old
 * length and runs past the end of the text.
 * Cure: both under the frame's lock.   usage: main [frames=4] [reflows=5] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 120, MAX = 16 };

struct frame {
	pthread_mutex_t lock;
	int offset, length;
	int dirty;
};

static char *text;
static struct frame *frame;
static int frames, reflows;
static pthread_mutex_t screen_lock = PTHREAD_MUTEX_INITIALIZER;
static long painted;

static void frame_lock(struct frame *f)
{
#ifdef FIXED
	pthread_mutex_lock(&f->lock);
#else
	(void)f;
#endif
}

static void frame_unlock(struct frame *f)
{
#ifdef FIXED
	pthread_mutex_unlock(&f->lock);
#else
	(void)f;
#endif
}

static __attribute__((noinline)) void set_offset(struct frame *f, int offset)
{
	f->offset = offset; /* BUG:a */
}

static __attribute__((noinline)) void set_length(struct frame *f, int length)
{
	f->length = length;
}

/* Share the text out among the frames; `shift` moves all inner borders. */
static void reflow(int shift)
{
	int i, width = TEXT / frames;

	for (i = 0; i < frames; i++) {
		int from = i == 0 ? 0 : i * width + shift;
		int to = i == frames - 1 ? TEXT : (i + 1) * width + shift;

		frame_lock(&frame[i]);
		set_offset(&frame[i], from);
		set_length(&frame[i], to - from);
		frame_unlock(&frame[i]);
	}
}

static void paint(struct frame *f)
{
	int offset, length, i;
	long sum = 0;

	frame_lock(f);
	offset = f->offset;
	length = f->length; /* BUG:b */
	frame_unlock(f);
	assert(offset >= 0 && length >= 0 && offset + length <= TEXT);
	for (i = offset; i < offset + length; i++)
		sum += text[i] == ' ';
	pthread_mutex_lock(&screen_lock);
	painted += sum;
	pthread_mutex_unlock(&screen_lock);
}

static void *layout_thread(void *arg)
{
	int i;

	(void)arg;
	for (i = 1; i <= reflows; i++)
		reflow(i % 2 ? 3 * i : 0);
	return NULL;
}

static void *paint_thread(void *arg)
{
	int i, round;

	(void)arg;
	for (round = 0; round < 3; round++)
		for (i = 0; i < frames; i++)
			paint(&frame[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[3];
	int i;

	frames = argc > 1 ? atoi(argv[1]) : 4;
	reflows = argc > 2 ? atoi(argv[2]) : 5;
	if (frames < 2 || frames > MAX || reflows < 1 || 3 * reflows > TEXT / frames)
		return 2;
	text = malloc(TEXT);
	frame = calloc(frames, sizeof(*frame));
	assert(text && frame);
	memset(text, 'x', TEXT);
	for (i = 0; i < TEXT; i += 7)
		text[i] = ' ';
	for (i = 0; i < frames; i++)
		pthread_mutex_init(&frame[i].lock, NULL);
	reflow(0);
	pthread_create(&t[0], NULL, layout_thread, NULL);
	pthread_create(&t[1], NULL, paint_thread, NULL);
	pthread_create(&t[2], NULL, paint_thread, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	free(frame);
	free(text);
	return 0;
}
