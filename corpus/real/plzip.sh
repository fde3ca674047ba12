# parallel lzip in C++, with a hand-written configure script
needs="liblz-dev"
configure() { ./configure CXX="$CXX" CXXFLAGS="$FLAGS" LDFLAGS="$FLAGS"; }
build() { make -j2; }
smoke() { round_trip -c -n 3 -B 64KiB -s 64KiB; }
load() { exec "$prog" -n 2 -1 -c "$1"; }
