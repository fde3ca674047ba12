/* bits/basic_string.tcc - the same for std::string, whose members stay in libstdc++.so: calls of them are
 * expanded where strings are shared (cc/expand/bodies/string.cpp). */
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 1
#include_next <bits/basic_string.tcc>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
