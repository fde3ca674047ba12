# another parallel bzip2, with its own scheduler of tasks
# (the two defines: gnulib of 2011 knows no current glibc; every compiler needs them)
system="autotools" note='two gnulib defines, for a current glibc'
configure() { ./configure CFLAGS="$FLAGS" CPPFLAGS="-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100" LDFLAGS="$FLAGS"; }
build() { make -j2; }
program=src/lbzip2
smoke() { round_trip -c -n 3; }
load() { exec "$prog" -n 2 -c "$1"; }
