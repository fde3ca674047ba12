# a C++ message library with threads for input and output, through CMake, and its own benchmarks
system="CMake"
package=zeromq3 needs="cmake"
configure() { cmake_configure -DWITH_LIBSODIUM=OFF -DENABLE_CURVE=OFF -DBUILD_SHARED=OFF -DBUILD_TESTS=OFF -DWITH_PERF_TOOL=ON; }
build() { cmake --build out -j2 --target inproc_thr --target inproc_lat; }
program=out/bin/inproc_thr
smoke() { target "$prog" 64 2000 | grep -q 'mean throughput' && target "$(dirname "$prog")/inproc_lat" 64 500 | grep -q 'average latency'; }
load() { exec "$prog" 64 200000; }
