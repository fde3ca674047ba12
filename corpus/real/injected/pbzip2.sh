# main deletes the queue without waiting for the consumers (the bug that pbzip2 0.9.4 had)
of=pbzip2
edit() { sed -i 's|ret = pthread_join(fifo->consumers\[i\], NULL);|ret = 0; /* INJECTED */|' pbzip2.cpp; }
relevant='q->mut = NULL;'
command() { echo "$prog" -p2 -b1 -1 -k -f -c data; }
lines=60000
