# parallel gzip: buffers, a list of work and a list of what to write, under locks that are counters
system="make"
needs="zlib1g-dev"
build() { make -j2 CC="$CC" CFLAGS="$FLAGS" LDFLAGS="$FLAGS" pigz; }
smoke() { round_trip -c -p 3 -b 128; }
load() { exec "$prog" -p 2 -c "$1"; }
