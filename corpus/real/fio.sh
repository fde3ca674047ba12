# a disk benchmark: jobs as threads, shared statistics; its own configure
system="own configure"
configure() { ./configure --cc="$CC" --extra-cflags="$FLAGS" --disable-native --disable-numa --disable-rdma; }
build() { make -j2 CC="$CC" fio; }
smoke() { target "$prog" --minimal --thread --numjobs=3 --name=j --rw=randrw --size=256k --bs=4k --ioengine=psync --directory=. >/dev/null; }
