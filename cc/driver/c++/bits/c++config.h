/* bits/c++config.h - what `unplait c++` puts before libstdc++'s own (cc/driver/main.c).
 *
 * libstdc++ keeps the members of the streams and of their buffers in libstdc++.so; its headers only
 * say that they are there ("extern template"). Without those declarations the members that a
 * program uses are compiled into it, and their accesses are seen. */
#include_next <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
