# a cache server: worker threads, each with an event loop, and shared tables under striped locks
system="autotools"
needs="libevent-dev autoconf automake"
configure() { { [ -x configure ] || ./autogen.sh; } && ./configure --disable-docs CFLAGS="$FLAGS -pthread" LDFLAGS="$FLAGS"; }
build() { make -j2 memcached; }
driven() { # the server with its clients in one process, ./memcached-driven: for control
	$CC $FLAGS -pthread -DHAVE_CONFIG_H -DNDEBUG -I. -Dmain=memcached_main -w -c memcached.c -o driven.o &&
		$CC $FLAGS -w -c "$here/memcached-driver.c" -o driver.o &&
		$CC $FLAGS -pthread -o memcached-driven driven.o driver.o $(ls memcached-*.o | grep -v -e '-memcached\.o') -levent
}
serve() { exec "$prog" -u nobody -p "$1" -U 0 -t 4; }
answers() { talk $port 'set k 0 0 5\r\nhello\r\nget k\r\nquit\r\n' | grep -q hello; }
smoke() { port=$((20000 + $$ % 20000)) && with_server $port answers; }
drive() { # four clients that set and get
	local port=$1 n=${2:-3000} i
	seq 1 "$n" | awk '{ printf "set key%d 0 0 5\r\nhello\r\nget key%d\r\n", $1, $1 / 2 } END { printf "quit\r\n" }' >requests
	for i in 1 2 3 4; do
		(exec 3<>"/dev/tcp/127.0.0.1/$port" && { cat requests >&3 & cat <&3 >answers.$i; }) &
	done
	wait
	[ "$(cat answers.[1-4] | grep -c STORED)" -eq $((4 * n)) ]
}
