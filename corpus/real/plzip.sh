# parallel lzip in C++, with a hand-written configure script
system="own configure"
needs="liblz-dev"
configure() { ./configure CXX="$CXX" CXXFLAGS="$FLAGS" LDFLAGS="$FLAGS"; }
build() { make -j2; }
smoke() { data && rm -f packed.lz packed && target "$prog" -c -n 3 -B 128KiB -s 64KiB <data >packed.lz && target "$prog" -dk packed.lz && cmp packed data; }
load() { exec "$prog" -n 2 -1 -c "$1"; }
