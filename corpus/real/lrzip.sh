# a compressor in C and C++ that threads by hand; libtool
system="autotools, libtool"
needs="autoconf automake libtool liblzo2-dev liblz4-dev libbz2-dev zlib1g-dev libgcrypt20-dev"
configure() { { [ -x configure ] || ./autogen.sh; } && ./configure --disable-asm CFLAGS="$FLAGS" CXXFLAGS="$FLAGS" LDFLAGS="$FLAGS"; }
build() { make -j2; }
smoke() { data && rm -f data.lrz back && target "$prog" -q -p 3 data -o data.lrz && target "$prog" -q -d data.lrz -o back && cmp back data; }
