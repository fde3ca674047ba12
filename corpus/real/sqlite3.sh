# the amalgamation, one file of a quarter of a million lines, and two threads that insert into one database
system="by hand"
configure() { ./configure --disable-tcl && make sqlite3.c && $CC $FLAGS -DSQLITE_THREADSAFE=1 -c sqlite3.c; }
build() { $CC $FLAGS -I. -o threaded "$top/bench/sqlite-threads.c" sqlite3.o -lpthread -lm -ldl; }
program=threaded
smoke() { [ "$(target "$prog")" = "4000 rows" ]; }
load() { exec "$prog"; }
