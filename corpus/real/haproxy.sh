# a proxy with an event loop per thread and lock-free lists; a hand-written makefile
system="make"
build() { make -j2 TARGET=linux-glibc USE_THREAD=1 CC="$CC" OPT_CFLAGS="$FLAGS" DEBUG_CFLAGS= LDFLAGS="$FLAGS" ERR=; }
serve() {
	printf '%s\n' 'global' ' nbthread 3' 'defaults' ' mode http' ' timeout client 5s' ' timeout server 5s' ' timeout connect 5s' \
		'frontend f' " bind 127.0.0.1:$1" ' http-request return status 200 content-type text/plain string "hello"' >conf
	exec "$prog" -db -f conf
}
answers() { talk $port 'GET / HTTP/1.0\r\n\r\n' | grep -q hello; }
smoke() { port=$((20000 + $$ % 20000)) && with_server $port answers; }
