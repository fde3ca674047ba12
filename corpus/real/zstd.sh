# a compressor with a thread pool and jobs that overlap
system="make"
package=libzstd
build() { make -j2 -C programs zstd CC="$CC" CFLAGS="$FLAGS" LDFLAGS="$FLAGS" HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0; }
program=programs/zstd
smoke() { round_trip -qc -T3 -B65536; }
load() { exec "$prog" -T2 -3 -c "$1"; }
