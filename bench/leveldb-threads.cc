// bench/leveldb-threads FOLDER OPERATIONS - two threads that store and fetch values of 100 bytes in one leveldb.
#include "leveldb/db.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

static void work(leveldb::DB *db, unsigned seed, long n)
{
	std::string value(100, 'v'), got;

	for (long i = 0; i < n; i++) {
		char key[32];

		seed = seed * 1103515245 + 12345;
		std::snprintf(key, sizeof(key), "key%08u", (seed >> 8) % 100000);
		if (i % 2)
			db->Get(leveldb::ReadOptions(), key, &got);
		else
			db->Put(leveldb::WriteOptions(), key, value);
	}
}

int main(int argc, char **argv)
{
	leveldb::Options options;
	leveldb::DB *db;

	options.create_if_missing = true;
	if (argc < 3 || !leveldb::DB::Open(options, argv[1], &db).ok())
		return 3;
	std::thread a(work, db, 1, std::atol(argv[2])), b(work, db, 2, std::atol(argv[2]));
	a.join();
	b.join();
	delete db;
	return 0;
}
