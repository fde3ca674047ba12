# a compressor as a libtool library and a program
system="autotools, libtool"
package=xz-utils
configure() { ./configure --disable-shared --disable-nls CFLAGS="$FLAGS" LDFLAGS="$FLAGS"; }
build() { make -j2; }
program=src/xz/xz
smoke() { round_trip -zc -T3 --block-size=200000; }
load() { exec "$prog" -T2 -1 -zc "$1"; }
