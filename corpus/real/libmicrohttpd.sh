# an HTTP library with a pool of threads, through autotools and libtool, and a driver of ours
system="autotools, libtool"
configure() { ./configure --disable-doc --disable-https --disable-shared CFLAGS="$FLAGS" LDFLAGS="$FLAGS"; }
build() {
	make -j2 -C src/microhttpd libmicrohttpd.la &&
		$CC $FLAGS -Isrc/include -o driver "$here/libmicrohttpd-driver.c" src/microhttpd/.libs/libmicrohttpd.a -pthread
}
program=driver
smoke() { [ "$(target "$prog" $((20000 + $$ % 20000)))" = "40 answers" ]; }
