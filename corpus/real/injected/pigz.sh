# a lock's new value wakes one waiter instead of all
of=pigz
edit() { sed -i 's|pthread_cond_broadcast(&(bolt->cond))|pthread_cond_signal(\&(bolt->cond)) /* INJECTED */|' yarn.c; }
relevant='pthread_cond_signal'
command() { echo "$prog" -p 3 -b 32 -c data; }
lines=20000
