# The writer of sync-late passes between the reader's load and its note.
set pagination off
set confirm off
set debuginfod enabled off
set startup-with-shell off
break writer_posts
run
set scheduler-locking on
tbreak writer_writes
continue
thread 2
tbreak reader_loads
continue
tbreak *&plait_sync_load8_found
continue
thread 3
tbreak writer_wrote
continue
set scheduler-locking off
delete
continue
