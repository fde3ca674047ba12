// std::string and std::allocator<char>: the templates of libstdc++'s own headers, instantiated as the library does it.
// Programs built with -O0 call all their members out of line.
#include <new>
#include <string>

template class std::allocator<char>;
template class std::basic_string<char>;

// Since C++17 these two are templates; programs of earlier years call them by their old names.
#define OLD(name) __asm__("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" name)
void string_of_text(std::string *s, const char *text, const std::allocator<char> &)
	OLD("C1EPKcRKS3_");
void string_of_text(std::string *s, const char *text, const std::allocator<char> &)
{
	new (s) std::string(text);
}
void string_of_letters(std::string *s, size_t n, char c, const std::allocator<char> &)
	OLD("C1EmcRKS3_");
void string_of_letters(std::string *s, size_t n, char c, const std::allocator<char> &)
{
	new (s) std::string(n, c);
}
