// Three threads write into one database and read back; prints how many keys there are.
#include "leveldb/db.h"

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char **argv)
{
	leveldb::Options options;
	leveldb::DB *db;
	std::vector<std::thread> threads;
	int n = 0;

	options.create_if_missing = true;
	options.write_buffer_size = 64 << 10; // so that compaction has something to do
	if (argc < 2 || !leveldb::DB::Open(options, argv[1], &db).ok())
		return 1;
	for (int t = 0; t < 3; t++)
		threads.emplace_back([db, t] {
			std::string value;
			for (int i = 0; i < 400; i++) {
				std::string key = std::to_string(t) + "/" + std::to_string(i);
				db->Put(leveldb::WriteOptions(), key, std::string(300, 'a' + t));
				if (!db->Get(leveldb::ReadOptions(), key, &value).ok())
					std::abort();
			}
		});
	for (auto &t : threads)
		t.join();
	leveldb::Iterator *it = db->NewIterator(leveldb::ReadOptions());
	for (it->SeekToFirst(); it->Valid(); it->Next())
		n++;
	delete it;
	delete db;
	std::printf("%d keys\n", n);
	return 0;
}
