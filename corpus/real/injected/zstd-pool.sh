# zstd's thread pool is shut down without the lock under which its threads look whether it is
package=libzstd
edit() {
	sed -i '/^static void POOL_join/,/Wake up/{ s|ZSTD_pthread_mutex_lock(&ctx->queueMutex);|/* INJECTED */|; s|ZSTD_pthread_mutex_unlock(&ctx->queueMutex);||; }' lib/common/pool.c
}
relevant='ctx->shutdown = 1;'
program=pool
build() {
	cat >driver.c <<'C'
#include "pool.h"
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long done;
static void job(void *n)
{
	pthread_mutex_lock(&m);
	done += (long)n;
	pthread_mutex_unlock(&m);
}
int main(void)
{
	POOL_ctx *p = POOL_create(2, 1);
	for (long i = 1; i <= 3; i++)
		POOL_add(p, job, (void *)i);
	POOL_joinJobs(p);
	assert(done == 6);
	POOL_free(p);
	return 0;
}
C
	$CC $FLAGS -pthread -DZSTD_MULTITHREAD -Ilib -Ilib/common driver.c lib/common/{pool,threading,zstd_common,error_private}.c -o pool
}
command() { echo "$prog"; }
