/* test/unit/faulty-disk.c - see faulty-disk.h. */
#include "test/unit/faulty-disk.h"

#include "base/file.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

struct faulty_disk faulty_disk;

static sqlite3_vfs *real_vfs, faulty_vfs;

struct faulty_file {
	sqlite3_file base;
	sqlite3_file *real; /* behind this struct */
};

static sqlite3_file *real_of(sqlite3_file *f)
{
	return ((struct faulty_file *)f)->real;
}

static bool fails(void)
{
	if (faulty_disk.left < 0)
		return false;
	if (faulty_disk.left > 0) {
		faulty_disk.left--;
		return false;
	}
	faulty_disk.failed = true;
	if (!faulty_disk.stays)
		faulty_disk.left = -1;
	return true;
}

static int f_close(sqlite3_file *f)
{
	return real_of(f)->pMethods ? real_of(f)->pMethods->xClose(real_of(f)) : SQLITE_OK;
}

static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}

static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	if (fails()) { /* half of it arrives */
		real_of(f)->pMethods->xWrite(real_of(f), p, n / 2, at);
		return SQLITE_FULL;
	}
	return real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
}

static int f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return fails() ? SQLITE_IOERR_TRUNCATE : real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int f_sync(sqlite3_file *f, int flags)
{
	(void)f, (void)flags; /* the machine does not crash in this test */
	return fails() ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int f_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	return real_of(f)->pMethods->xFileSize(real_of(f), ret);
}

static int f_lock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int f_unlock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int f_reserved(sqlite3_file *f, int *ret)
{
	return real_of(f)->pMethods->xCheckReservedLock(real_of(f), ret);
}

static int f_control(sqlite3_file *f, int op, void *arg)
{
	(void)f, (void)op, (void)arg;
	return SQLITE_NOTFOUND;
}

static int f_sector(sqlite3_file *f)
{
	return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int f_device(sqlite3_file *f)
{
	return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = f_close,
	.xRead = f_read,
	.xWrite = f_write,
	.xTruncate = f_truncate,
	.xSync = f_sync,
	.xFileSize = f_size,
	.xLock = f_lock,
	.xUnlock = f_unlock,
	.xCheckReservedLock = f_reserved,
	.xFileControl = f_control,
	.xSectorSize = f_sector,
	.xDeviceCharacteristics = f_device,
};

static int v_open(sqlite3_vfs *v, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
	struct faulty_file *x = (void *)f;

	(void)v;
	x->real = (sqlite3_file *)(x + 1);
	x->base.pMethods = NULL;
	if ((flags & SQLITE_OPEN_CREATE) && fails())
		return SQLITE_CANTOPEN;
	x->base.pMethods = &methods;
	return real_vfs->xOpen(real_vfs, name, x->real, flags, out);
}

static int v_delete(sqlite3_vfs *v, const char *name, int sync)
{
	(void)v, (void)sync;
	return fails() ? SQLITE_IOERR_DELETE : real_vfs->xDelete(real_vfs, name, 0);
}

static void put_on_disk(void)
{
	real_vfs = sqlite3_vfs_find(NULL);
	faulty_vfs = *real_vfs;
	faulty_vfs.zName = "faulty";
	faulty_vfs.iVersion = 1;
	faulty_vfs.szOsFile += (int)sizeof(struct faulty_file);
	faulty_vfs.xOpen = v_open;
	faulty_vfs.xDelete = v_delete;
	faulty_disk.left = -1;
	sqlite3_vfs_register(&faulty_vfs, 1);
}

static char *folder;

void faulty_disk_enter(void)
{
	cr_assert_null(file_temp_dir(&folder));
	cr_assert_eq(chdir(folder), 0);
	put_on_disk();
}

void faulty_disk_leave(void)
{
	file_remove_tree(folder);
	free(folder);
}
