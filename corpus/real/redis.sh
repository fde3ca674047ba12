# a data base server; its threads do input and output, and what may wait
system="make"
build() {
	make -j2 -C src redis-server redis-cli MALLOC=libc CC="$CC" OPTIMIZATION=-O2 CFLAGS="$FLAGS" LDFLAGS="$FLAGS" BUILD_TLS=no USE_SYSTEMD=no
}
program=src/redis-server
serve() { exec "$prog" --port "$1" --save '' --io-threads 2; }
answers() { talk $port 'SET k hello\r\nGET k\r\nQUIT\r\n' | grep -q hello; }
smoke() { port=$((20000 + $$ % 20000)) && with_server $port answers; }
