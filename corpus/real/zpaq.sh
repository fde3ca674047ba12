# a journaling archiver in C++: compressing and decompressing threads, jobs under semaphores of its own
system="make"
build() { make -j2 CXX="$CXX" CXXFLAGS="$FLAGS" LDFLAGS="$FLAGS" zpaq; }
smoke() {
	data
	rm -rf a.zpaq back
	target "$prog" add a.zpaq data -t3 -m1 && target "$prog" extract a.zpaq data -to back -t3 && cmp data back
}
