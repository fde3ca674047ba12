# the silver searcher: worker threads take files from a list
system="autotools" note='`-fcommon`'
package=silversearcher-ag needs="libpcre3-dev liblzma-dev zlib1g-dev autoconf automake pkg-config"
configure() {
	{ [ -x configure ] || { aclocal && autoconf && autoheader && automake --add-missing; }; } && ./configure CFLAGS="$FLAGS -fcommon" LDFLAGS="$FLAGS"
}
build() { make -j2; }
smoke() { mkdir -p hay && for i in $(seq 1 200); do echo "straw $i needle-$((i % 7))" >hay/$i; done && [ "$(target "$prog" --workers 3 -c needle-3 hay | wc -l)" -eq 29 ]; }
load() { exec "$prog" --workers 2 -c line "$1"; }
program=ag
