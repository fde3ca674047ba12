# a C++ library with background compaction, through CMake, and a driver of ours
system="CMake"
needs="cmake"
configure() { cmake_configure -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF; }
build() { cmake --build out -j2 --target leveldb && $CXX $FLAGS -std=c++11 -Iinclude -o driver "$here/leveldb-driver.cc" out/libleveldb.a -pthread; }
program=driver
smoke() { rm -rf smoke.db && [ "$(target "$prog" smoke.db)" = "1200 keys" ]; }
