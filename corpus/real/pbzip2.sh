# parallel bzip2, C++98: a queue of blocks between a reader, several compressors and a writer
system="make" note='`-std=c++98`'
needs="libbz2-dev"
build() {
	make -j2 CXX="$CXX" CXXFLAGS="$FLAGS -std=c++98 -D_LARGEFILE64_SOURCE=1 -D_FILE_OFFSET_BITS=64 -pthread" LDFLAGS="$FLAGS" pbzip2
}
smoke() { data && target "$prog" -c -p3 -b1 <data >packed && target "$prog" -dc <packed | cmp - data; }
load() { exec "$prog" -p2 -c "$1"; }
