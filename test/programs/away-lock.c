/* Built without unplait: see away.c. */
static volatile int word, never;

void away_lock(void)
{
	while (__sync_lock_test_and_set(&word, 1))
		;
}

void away_unlock(void)
{
	__sync_lock_release(&word);
}

void away_forever(void)
{
	while (!never)
		;
}
