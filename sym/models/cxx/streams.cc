// The streams of C++ for char: the templates of libstdc++'s own headers, instantiated as the library does it, above buffers
// that read and write the FILEs of stdio's model. What the library does not have as a template is here: the objects cout,
// cerr, clog and cin, std::ios_base, and the members that ask a locale. There is one locale, "C": numbers are printed and
// read by printf's and strtol's models, and white space is compared, not looked up in a table (a letter of the input may
// have many values). Streams that throw, other locales and wide characters have no model.
#include "model.hh"

#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0 // members are specialised here

#include <fstream>
#include <iomanip>
#include <istream>
#include <limits>
#include <new>
#include <ostream>
#include <sstream>
#include <string>

#include <cstdio>
#include <cstdlib>

using std::ios_base;
using std::istream;
using std::ostream;

typedef std::char_traits<char> traits;

// ---- locale and base ----

namespace std
{
locale::locale() throw() : _M_impl(nullptr) {}
locale::locale(const locale &) throw() : _M_impl(nullptr) {}
locale::~locale() throw() {}
const locale &locale::operator=(const locale &) throw()
{
	return *this;
}

ios_base::ios_base() throw()
    : _M_precision(), _M_width(), _M_flags(), _M_exception(), _M_streambuf_state(),
      _M_callbacks(nullptr), _M_word_zero(), _M_word_size(_S_local_word_size),
      _M_word(_M_local_word), _M_ios_locale()
{
}
ios_base::~ios_base() {}
void ios_base::_M_init() throw()
{
	_M_precision = 6;
	_M_width = 0;
	_M_flags = skipws | dec;
}
bool ios_base::sync_with_stdio(bool)
{
	return true;
}
void __throw_ios_failure(const char *)
{
	sym_refuse("a stream that throws has no model");
}
void __throw_bad_cast()
{
	sym_refuse("std::bad_cast is thrown, which has no model");
}
} // namespace std

static bool is_space(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

// Laid out as std::ctype<char>, as far as inlined functions look into it: they widen.
static struct {
	alignas(8) char head[48];
	const void *table;
	char widen_known, widen[256], narrow[256], narrow_known;
} letters;
static_assert(sizeof(letters) >= 570 && sizeof(letters) <= sizeof(std::ctype<char>), "its size");
static unsigned short kinds[256];

static void begin_letters()
{
	letters.table = kinds;
	letters.widen_known = letters.narrow_known = 1;
	for (int c = 0; c < 256; c++) {
		letters.widen[c] = letters.narrow[c] = (char)c;
		kinds[c] = is_space(c) ? (unsigned short)std::ctype_base::space : 0;
	}
}

namespace std
{
template <> void basic_ios<char>::_M_cache_locale(const locale &)
{
	_M_ctype = reinterpret_cast<const ctype<char> *>(&letters);
	_M_num_put = nullptr;
	_M_num_get = nullptr;
}
template <> locale basic_ios<char>::imbue(const locale &)
{
	sym_refuse("a locale has no model");
}
template <> basic_ios<char> &basic_ios<char>::copyfmt(const basic_ios &from)
{
	_M_flags = from._M_flags;
	_M_width = from._M_width;
	_M_precision = from._M_precision;
	fill(from.fill());
	tie(from.tie());
	exceptions(from.exceptions());
	return *this;
}
} // namespace std

// ---- buffers ----

// Standard input and output, shared with stdio: nothing is kept here.
struct stdio_buffer : std::streambuf {
	FILE *file;

	explicit stdio_buffer(FILE *f) : file(f) {}
	int_type underflow() override
	{
		int c = fgetc(file);

		ungetc(c, file);
		return c;
	}
	int_type uflow() override
	{
		return fgetc(file);
	}
	int_type pbackfail(int_type c) override
	{
		return ungetc(c, file);
	}
	int_type overflow(int_type c) override
	{
		return c == EOF ? 0 : fputc(c, file);
	}
	std::streamsize xsputn(const char *p, std::streamsize n) override
	{
		return (std::streamsize)fwrite(p, 1, (size_t)n, file);
	}
};

namespace std
{
__basic_file<char>::__basic_file(__c_lock *) throw() : _M_cfile(nullptr), _M_cfile_created(false) {}
__basic_file<char>::~__basic_file()
{
	close();
}
bool __basic_file<char>::is_open() const throw()
{
	return _M_cfile != nullptr;
}
__basic_file<char> *__basic_file<char>::open(const char *path, ios_base::openmode mode, int)
{
	const char *how = mode & ios_base::app	  ? mode & ios_base::in ? "a+" : "a"
			  : !(mode & ios_base::out) ? "r"
			  : !(mode & ios_base::in)  ? "w"
			  : mode & ios_base::trunc  ? "w+"
						    : "r+";

	_M_cfile = is_open() ? nullptr : fopen(path, how);
	return _M_cfile ? this : nullptr;
}
__basic_file<char> *__basic_file<char>::close()
{
	FILE *f = _M_cfile;

	_M_cfile = nullptr;
	return f && !fclose(f) ? this : nullptr;
}
streamsize __basic_file<char>::xsgetn(char *to, streamsize n)
{
	return (streamsize)fread(to, 1, (size_t)n, _M_cfile);
}
streamsize __basic_file<char>::xsputn(const char *from, streamsize n)
{
	return (streamsize)fwrite(from, 1, (size_t)n, _M_cfile);
}
streamoff __basic_file<char>::seekoff(streamoff by, ios_base::seekdir way) throw()
{
	return fseek(_M_cfile, by, way) ? -1 : ftell(_M_cfile);
}

// One letter at a time is read ahead, into _M_pback.
template <>
basic_filebuf<char>::basic_filebuf()
    : streambuf(), _M_lock(), _M_file(&_M_lock), _M_mode(ios_base::openmode(0)), _M_state_beg(),
      _M_state_cur(), _M_state_last(), _M_buf(nullptr), _M_buf_size(0), _M_buf_allocated(false),
      _M_reading(false), _M_writing(false), _M_pback(), _M_pback_cur_save(nullptr),
      _M_pback_end_save(nullptr), _M_pback_init(false), _M_codecvt(nullptr), _M_ext_buf(nullptr),
      _M_ext_buf_size(0), _M_ext_next(nullptr), _M_ext_end(nullptr)
{
}
template <> basic_filebuf<char> *basic_filebuf<char>::close()
{
	setg(nullptr, nullptr, nullptr);
	return _M_file.close() ? this : nullptr;
}
template <>
basic_filebuf<char> *basic_filebuf<char>::open(const char *path, ios_base::openmode mode)
{
	if (!_M_file.open(path, mode))
		return nullptr;
	if (mode & ios_base::ate)
		_M_file.seekoff(0, ios_base::end);
	return this;
}
template <> basic_filebuf<char>::int_type basic_filebuf<char>::underflow()
{
	if (!is_open() || _M_file.xsgetn(&_M_pback, 1) != 1) {
		setg(nullptr, nullptr, nullptr);
		return EOF;
	}
	setg(&_M_pback, &_M_pback, &_M_pback + 1);
	return (unsigned char)_M_pback;
}
template <> basic_filebuf<char>::int_type basic_filebuf<char>::pbackfail(int_type)
{
	return EOF;
}
template <> basic_filebuf<char>::int_type basic_filebuf<char>::overflow(int_type c)
{
	char letter = (char)c;

	if (!is_open())
		return EOF;
	return c == EOF ? 0 : _M_file.xsputn(&letter, 1) == 1 ? c : EOF;
}
template <> streamsize basic_filebuf<char>::xsputn(const char *from, streamsize n)
{
	return is_open() ? _M_file.xsputn(from, n) : 0;
}
template <> streamsize basic_filebuf<char>::xsgetn(char *to, streamsize n)
{
	return streambuf::xsgetn(to, n);
}
template <> streamsize basic_filebuf<char>::showmanyc()
{
	return 0;
}
template <> streambuf *basic_filebuf<char>::setbuf(char *, streamsize)
{
	return this;
}
template <>
basic_filebuf<char>::pos_type basic_filebuf<char>::seekoff(off_type by, ios_base::seekdir way,
							   ios_base::openmode)
{
	if (!is_open())
		return pos_type(off_type(-1));
	if (way == ios_base::cur)
		by -= egptr() - gptr();
	setg(nullptr, nullptr, nullptr);
	return pos_type(_M_file.seekoff(by, way));
}
template <>
basic_filebuf<char>::pos_type basic_filebuf<char>::seekpos(pos_type to, ios_base::openmode mode)
{
	return seekoff(off_type(to), ios_base::beg, mode);
}
template <> int basic_filebuf<char>::sync()
{
	return 0;
}
template <> void basic_filebuf<char>::imbue(const locale &) {}
} // namespace std

// ---- numbers ----

namespace std
{
template <> istream::sentry::sentry(istream &in, bool as_it_is);
}

alignas(16) static char buffers[3][sizeof(stdio_buffer)];

// What goes to standard output is not looked at again: one possible number is enough.
static unsigned long shown(ostream &o, unsigned long v)
{
	const char *b = (const char *)o.rdbuf();

	return b == buffers[1] || b == buffers[2] ? sym_peek(v) : v;
}

static ostream &put_padded(ostream &o, const char *text, size_t n, size_t sign)
{
	ostream::sentry ready(o);
	std::streamsize more = o.width() - (std::streamsize)n;
	ios_base::fmtflags how = o.flags() & ios_base::adjustfield;
	size_t before = how == ios_base::left ? n : how == ios_base::internal ? sign : 0;
	bool good = (bool)ready;

	if (!good)
		return o;
	good = o.rdbuf()->sputn(text, (std::streamsize)before) == (std::streamsize)before;
	for (; good && more > 0; more--)
		good = o.rdbuf()->sputc(o.fill()) != EOF;
	good = good && o.rdbuf()->sputn(text + before, (std::streamsize)(n - before)) ==
			       (std::streamsize)(n - before);
	o.width(0);
	if (!good)
		o.setstate(ios_base::badbit);
	return o;
}

static size_t sign_of(const char *text)
{
	return *text == '-' || *text == '+' ? 1 : text[0] == '0' && (text[1] | 32) == 'x' ? 2 : 0;
}

static ostream &put_number(ostream &o, unsigned long v, bool is_signed)
{
	ios_base::fmtflags flags = o.flags(), base = flags & ios_base::basefield;
	bool upper = flags & ios_base::uppercase, prefix = flags & ios_base::showbase;
	char text[40];
	int n;

	v = shown(o, v);
	if (base == ios_base::hex)
		n = snprintf(text, sizeof(text),
			     prefix ? upper ? "%#lX" : "%#lx"
			     : upper ? "%lX"
				     : "%lx",
			     v);
	else if (base == ios_base::oct)
		n = snprintf(text, sizeof(text), prefix ? "%#lo" : "%lo", v);
	else if (is_signed)
		n = snprintf(text, sizeof(text), flags & ios_base::showpos ? "%+ld" : "%ld",
			     (long)v);
	else
		n = snprintf(text, sizeof(text), "%lu", v);
	return put_padded(o, text, (size_t)n, sign_of(text));
}

static ostream &put_real(ostream &o, long double d)
{
	ios_base::fmtflags flags = o.flags(), as = flags & ios_base::floatfield;
	char format[12] = "%", text[400], *f = format + 1;
	char how = as == ios_base::fixed ? 'f' : as == ios_base::scientific ? 'e' : as ? 'a' : 'g';
	int n;

	if (flags & ios_base::showpos)
		*f++ = '+';
	if (flags & ios_base::showpoint)
		*f++ = '#';
	if (how != 'a') {
		*f++ = '.';
		*f++ = '*';
	}
	*f++ = 'L';
	*f++ = flags & ios_base::uppercase ? (char)(how - 32) : how;
	n = how == 'a' ? snprintf(text, sizeof(text), format, d)
		       : snprintf(text, sizeof(text), format, (int)o.precision(), d);
	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	return put_padded(o, text, (size_t)n, sign_of(text));
}

// The letters of a number, as far as they go; false: there is none, which the stream knows.
static bool take_number(istream &in, char *text, size_t size, bool real)
{
	istream::sentry ready(in, false);
	ios_base::fmtflags base = in.flags() & ios_base::basefield;
	size_t n = 0, digits = 0;
	bool point = false, power = false;
	int c;

	*text = 0;
	if (!ready)
		return false;
	for (c = in.rdbuf()->sgetc(); c != EOF; c = in.rdbuf()->snextc()) {
		int lower = c | 32, before = n ? text[n - 1] | 32 : 0;
		bool digit = c >= '0' && c <= (base == ios_base::oct ? '7' : '9');

		if (base == ios_base::hex && !real)
			digit |= (lower >= 'a' && lower <= 'f') ||
				 (lower == 'x' && digits == 1 && text[n - 1] == '0');
		if (digit) {
			digits++;
		} else if (real && c == '.' && !point && !power) {
			point = true;
		} else if (real && lower == 'e' && digits && !power) {
			power = true;
		} else if ((c != '-' && c != '+') || (n && !(power && before == 'e'))) {
			break;
		}
		if (n + 1 < size)
			text[n++] = (char)c;
	}
	text[n] = 0;
	if (c == EOF)
		in.setstate(ios_base::eofbit);
	if (!digits)
		in.setstate(ios_base::failbit);
	return digits;
}

static int base_of(istream &in)
{
	ios_base::fmtflags base = in.flags() & ios_base::basefield;

	return base == ios_base::hex ? 16 : base == ios_base::oct ? 8 : base ? 10 : 0;
}

// A number that does not fit is the nearest one, and a failure. Nothing is stored where nothing could be read from.
template <typename T> static istream &take_whole(istream &in, T &to)
{
	bool was_good = in.good();
	char text[64];

	if (!take_number(in, text, sizeof(text), false)) {
		if (was_good)
			to = 0;
		return in;
	}
	if (std::numeric_limits<T>::is_signed) {
		long v = strtol(text, nullptr, base_of(in)),
		     low = (long)std::numeric_limits<T>::min(),
		     high = (long)std::numeric_limits<T>::max();

		to = (T)(v < low ? low : v > high ? high : v);
		if (v < low || v > high)
			in.setstate(ios_base::failbit);
	} else {
		unsigned long high = (unsigned long)std::numeric_limits<T>::max();
		bool negative = *text == '-';
		unsigned long v = strtoul(text + negative, nullptr, base_of(in));

		to = (T)(v > high ? high : negative ? 0 - v : v);
		if (v > high)
			in.setstate(ios_base::failbit);
	}
	return in;
}
template <typename T> static istream &take_real(istream &in, T &to)
{
	bool was_good = in.good(), have;
	char text[64];

	have = take_number(in, text, sizeof(text), true);
	if (have || was_good)
		to = have ? (T)strtod(text, nullptr) : 0;
	return in;
}

namespace std
{
#define PUT(type, ...)                                                                             \
	template <> template <> ostream &ostream::_M_insert(type v)                                \
	{                                                                                          \
		return __VA_ARGS__;                                                                \
	}
PUT(long, put_number(*this, (unsigned long)v, true))
PUT(unsigned long, put_number(*this, v, false))
PUT(long long, put_number(*this, (unsigned long)v, true))
PUT(unsigned long long, put_number(*this, v, false))
PUT(double, put_real(*this, v))
PUT(long double, put_real(*this, v))
PUT(bool, !(flags() & boolalpha) ? put_number(*this, v, true)
	  : v			 ? put_padded(*this, "true", 4, 0)
				 : put_padded(*this, "false", 5, 0))
template <> template <> ostream &ostream::_M_insert(const void *p)
{
	char text[24];
	int n = snprintf(text, sizeof(text), p ? "%#lx" : "%lx", shown(*this, (unsigned long)p));

	return put_padded(*this, text, (size_t)n, 0);
}

#define TAKE(type, how)                                                                            \
	template <> template <> istream &istream::_M_extract(type &v)                              \
	{                                                                                          \
		return how(*this, v);                                                              \
	}
TAKE(unsigned short, take_whole)
TAKE(unsigned, take_whole)
TAKE(long, take_whole)
TAKE(unsigned long, take_whole)
TAKE(long long, take_whole)
TAKE(unsigned long long, take_whole)
TAKE(float, take_real)
TAKE(double, take_real)
template <> template <> istream &istream::_M_extract(bool &v)
{
	long n = 0;

	if (flags() & boolalpha)
		sym_refuse("reading true or false as words has no model");
	take_whole(*this, n);
	if (n != 0 && n != 1)
		setstate(failbit);
	v = n != 0;
	return *this;
}
template <> istream &istream::operator>>(short &v)
{
	return take_whole(*this, v);
}
template <> istream &istream::operator>>(int &v)
{
	return take_whole(*this, v);
}

// ---- text ----

template <> istream::sentry::sentry(istream &in, bool as_it_is) : _M_ok(false)
{
	if (in.good() && in.tie())
		in.tie()->flush();
	if (in.good() && !as_it_is && (in.flags() & skipws)) {
		int c = in.rdbuf()->sgetc();

		while (is_space(c))
			c = in.rdbuf()->snextc();
		if (c == EOF)
			in.setstate(eofbit);
	}
	if (in.good())
		_M_ok = true;
	else
		in.setstate(failbit);
}

template <> istream &ws(istream &in)
{
	int c = in.rdbuf()->sgetc();

	while (is_space(c))
		c = in.rdbuf()->snextc();
	if (c == EOF)
		in.setstate(ios_base::eofbit);
	return in;
}

// A word of up to `most` letters, each given to `put`; how many there were.
template <typename F> static streamsize take_word(istream &in, streamsize most, F put)
{
	streamsize n = 0;
	int c = in.rdbuf()->sgetc();

	for (; n < most && c != EOF && !is_space(c); n++) {
		put((char)c);
		c = in.rdbuf()->snextc();
	}
	if (c == EOF && n < most)
		in.setstate(ios_base::eofbit);
	in.width(0);
	if (!n)
		in.setstate(ios_base::failbit);
	return n;
}

template <> istream &operator>>(istream &in, string &to)
{
	istream::sentry ready(in, false);
	streamsize most = in.width() > 0 ? in.width() : numeric_limits<streamsize>::max();

	if (ready) {
		to.erase();
		take_word(in, most, [&](char c) { to.push_back(c); });
	}
	return in;
}

void __istream_extract(istream &in, char *to, streamsize room)
{
	istream::sentry ready(in, false);

	if (ready) {
		streamsize most = in.width() > 0 && in.width() < room ? in.width() : room;

		take_word(in, most - 1, [&](char c) { *to++ = c; });
	}
	*to = 0;
}

template <> istream &getline(istream &in, string &to, char end)
{
	istream::sentry ready(in, true);
	int c;

	if (!ready)
		return in;
	to.erase();
	for (c = in.rdbuf()->sgetc(); c != EOF && (char)c != end; c = in.rdbuf()->snextc())
		to.push_back((char)c);
	if (c == EOF)
		in.setstate(to.empty() ? ios_base::eofbit | ios_base::failbit : ios_base::eofbit);
	else
		in.rdbuf()->sbumpc();
	return in;
}

template <> istream &istream::getline(char *to, streamsize room, char end)
{
	sentry ready(*this, true);
	int c = 0;

	_M_gcount = 0;
	if (ready) {
		for (c = rdbuf()->sgetc(); c != EOF && (char)c != end && _M_gcount + 1 < room;
		     c = rdbuf()->snextc()) {
			*to++ = (char)c;
			_M_gcount++;
		}
		if (c == EOF) {
			setstate(_M_gcount ? eofbit : eofbit | failbit);
		} else if ((char)c == end) {
			_M_gcount++;
			rdbuf()->sbumpc();
		} else {
			setstate(failbit);
		}
	}
	if (room > 0)
		*to = 0;
	return *this;
}

template <> istream &istream::ignore(streamsize n, int_type end)
{
	sentry ready(*this, true);
	int c = 0;

	_M_gcount = 0;
	while (ready && _M_gcount < n) {
		c = rdbuf()->sbumpc();
		if (c == EOF) {
			setstate(eofbit);
			break;
		}
		_M_gcount++;
		if (c == end)
			break;
	}
	return *this;
}
template <> istream &istream::ignore(streamsize n)
{
	return ignore(n, EOF);
}

// ---- instances ----

template class basic_streambuf<char>;
template class basic_ios<char>;
template class basic_ostream<char>;
template class basic_istream<char>;
template class basic_iostream<char>;
template class basic_stringbuf<char>;
template class basic_ostringstream<char>;
template class basic_istringstream<char>;
template class basic_stringstream<char>;
template class basic_filebuf<char>;
template class basic_ofstream<char>;
template class basic_ifstream<char>;
template class basic_fstream<char>;

template ostream &endl(ostream &);
template ostream &ends(ostream &);
template ostream &flush(ostream &);
template ostream &__ostream_insert(ostream &, const char *, streamsize);
template ostream &operator<<(ostream &, char);
template ostream &operator<<(ostream &, signed char);
template ostream &operator<<(ostream &, unsigned char);
template ostream &operator<<(ostream &, const char *);
template ostream &operator<<(ostream &, const signed char *);
template ostream &operator<<(ostream &, const unsigned char *);
template ostream &operator<<(ostream &, const string &);
template ostream &operator<<(ostream &, _Setw);
template ostream &operator<<(ostream &, _Setprecision);
template ostream &operator<<(ostream &, _Setfill<char>);
template ostream &operator<<(ostream &, _Setbase);
template ostream &operator<<(ostream &, _Setiosflags);
template ostream &operator<<(ostream &, _Resetiosflags);
template istream &operator>>(istream &, char &);
template istream &operator>>(istream &, signed char &);
template istream &operator>>(istream &, unsigned char &);
template istream &operator>>(istream &, _Setw);
template istream &operator>>(istream &, _Setbase);
template istream &operator>>(istream &, _Setiosflags);
template istream &operator>>(istream &, _Resetiosflags);
template istream &getline(istream &, string &);
} // namespace std

// ---- the objects ----

alignas(16) char cout_room[sizeof(ostream)] __asm__("_ZSt4cout");
alignas(16) char cerr_room[sizeof(ostream)] __asm__("_ZSt4cerr");
alignas(16) char clog_room[sizeof(ostream)] __asm__("_ZSt4clog");
alignas(16) char cin_room[sizeof(istream)] __asm__("_ZSt3cin");

namespace std
{
// Each file that includes <iostream> has one; the first one makes the streams.
ios_base::Init::Init()
{
	if (letters.widen_known)
		return;
	begin_letters();
	ostream *out = new (cout_room) ostream(new (buffers[1]) stdio_buffer(stdout));
	ostream *err = new (cerr_room) ostream(new (buffers[2]) stdio_buffer(stderr));
	new (clog_room) ostream(err->rdbuf());
	istream *in = new (cin_room) istream(new (buffers[0]) stdio_buffer(stdin));
	in->tie(out);
	err->setf(unitbuf);
	err->tie(out);
}
ios_base::Init::~Init() {}
} // namespace std
