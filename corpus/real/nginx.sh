# a web server with a pool of threads for files
system="own configure"
configure() {
	./configure --with-cc="$CC" --with-cc-opt="$FLAGS" --with-ld-opt="$FLAGS" --with-threads --prefix="$PWD/inst" \
		--without-http_rewrite_module --without-http_gzip_module
}
build() { make -j2 && make install; }
program=inst/sbin/nginx products="inst/sbin/nginx objs/nginx"
serve() {
	echo "daemon off; master_process off; events {} http { server { listen $1; location / { aio threads; sendfile off; root html; } } }" \
		>inst/conf/nginx.conf
	exec "$prog"
}
answers() { talk $port 'GET / HTTP/1.0\r\n\r\n' | grep -qi 'welcome to nginx'; }
smoke() { port=$((20000 + $$ % 20000)) && with_server $port answers; }
