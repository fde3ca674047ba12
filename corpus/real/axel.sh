# a downloader, a thread per connection
system="autotools"
needs="autoconf automake autopoint autoconf-archive pkg-config txt2man gettext"
configure() { { [ -x configure ] || autoreconf -fi; } && ./configure --without-ssl --disable-nls CFLAGS="$FLAGS" LDFLAGS="$FLAGS"; }
build() { make -j2 axel; }
smoke() {
	data
	port=$((20000 + $$ % 20000))
	python3 -m http.server --bind 127.0.0.1 $port >/dev/null 2>&1 &
	sleep 1
	rm -f got && target "$prog" -q -n 3 -o got "http://127.0.0.1:$port/data" && cmp got data
	s=$?
	kill $! && wait
	return $s
}
