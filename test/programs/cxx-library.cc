/* What programs do with the C++ library: strings, streams, containers, exceptions. Its output is compared between a native run
 * and the symbolic machine (test/e2e/0862-sym-cxx.sh). */
#include <algorithm>
#include <cmath>
#include <cstring>
#include <clocale>
#include <cxxabi.h>
#include <deque>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <vector>
using namespace std;

static void streams()
{
	string s = "abc", t(s), u(3, 'x');
	s += t;
	s += 'q';
	t = u + s + "end";
	cout << s << ' ' << t << ' ' << t.size() << endl;
	cout << 1 << ' ' << -2 << ' ' << 3u << ' ' << 'c' << ' ' << 1.5 << ' ' << true << ' '
	     << boolalpha << false << endl;
	cout << hex << 255 << ' ' << -1 << ' ' << showbase << 16 << ' ' << dec << setw(6)
	     << setfill('0') << 42 << ' ' << left << setw(5) << 7 << '|' << internal << setw(6)
	     << -5 << '\n';
	cout << fixed << setprecision(2) << 3.14159 << ' ' << scientific << 31415.9 << ' '
	     << uppercase << hex << 3054 << dec << '\n';
	cerr << "to stderr" << endl;
	stringstream ss;
	ss << 12 << ' ' << "word " << 3.5;
	int n;
	string w;
	double d;
	char c;
	ss >> n >> w >> d;
	cout << n << w << d << ss.eof() << ss.fail() << endl;
	istringstream is("10 20 x30");
	while (is >> n)
		cout << n << ',';
	cout << is.eof() << is.fail() << endl;
	ostringstream os;
	os << setw(5) << 5 << "z";
	cout << os.str() << endl;
	istringstream lines("a b\n\nlast");
	while (getline(lines, w))
		cout << '[' << w << ']';
	cout << endl;
	map<string, int> m;
	for (int i = 0; i < 40; i++)
		m["k" + to_string(i * 7 % 41)] += i;
	for (int i = 0; i < 20; i += 3)
		m.erase("k" + to_string(i));
	for (auto &kv : m)
		cout << kv.first << '=' << kv.second << ' ';
	cout << m.size() << endl;
	for (auto it = m.rbegin(); it != m.rend(); ++it)
		cout << it->first;
	cout << endl;
	set<int> si;
	for (int i = 0; i < 64; i++)
		si.insert(i * 37 % 101);
	for (int i = 0; i < 101; i += 2)
		si.erase(i);
	for (int x : si)
		cout << x << ' ';
	cout << endl;
	list<int> l;
	for (int i = 0; i < 6; i++)
		i % 2 ? l.push_back(i) : l.push_front(i);
	l.sort();
	l.reverse();
	list<int> l2(l);
	l.splice(l.begin(), l2);
	l.remove(3);
	for (int x : l)
		cout << x << ' ';
	cout << endl;
	unordered_map<string, int> um;
	for (int i = 0; i < 50; i++)
		um["key" + to_string(i)] = i;
	for (auto &kv : um)
		cout << kv.first << ' ';
	cout << um["key7"] << um.bucket_count() << endl;
	unordered_map<int, int> ui;
	for (int i = 0; i < 50; i++)
		ui[i * i] = i;
	for (auto &kv : ui)
		cout << kv.first << ' ';
	cout << endl;
	vector<string> v{ "pear", "apple", "fig" };
	sort(v.begin(), v.end());
	for (auto &x : v)
		cout << x << ' ';
	cout << endl;
	cout << s.find('q') << s.find("zz") << s.rfind('b') << s.substr(2, 3) << s.compare("abd")
	     << s.find_first_of("cq") << s.find_last_not_of("q") << endl;
	s.insert(1, "--");
	s.erase(0, 1);
	s.replace(0, 1, "RR");
	s.resize(5);
	s.push_back('!');
	s.pop_back();
	s.swap(t);
	cout << s << ' ' << t << endl;
	try {
		s.at(100);
	} catch (const exception &e) {
		cout << "caught" << endl;
	}
	try {
		stoi("x");
	} catch (const invalid_argument &e) {
		cout << "stoi " << e.what() << endl;
	}
	ifstream f("/nonexistent/x");
	cout << f.is_open() << !f << endl;
	while (cin >> n)
		cout << n << '+';
	cout << cin.eof() << cin.fail() << endl;
	cin.clear();
	cin >> w;
	cout << w << endl;
	cin.get(c);
	cout << (int)c << ' ' << cin.peek() << endl;
	getline(cin, w);
	cout << w << endl;
	getline(cin, w);
	cout << w << cin.good() << endl;
	getline(cin, w);
	cout << w << cin.eof() << cin.fail() << endl;
}

class Error : public runtime_error
{
      public:
	Error(const string &s) : runtime_error("E: " + s)
	{
	}
};
struct Shape {
	virtual ~Shape()
	{
	}
	virtual double area() const = 0;
	virtual void print(ostream &o) const
	{
		o << "shape " << area();
	}
};
struct Sq : Shape {
	double a;
	Sq(double x) : a(x)
	{
	}
	double area() const override
	{
		return a * a;
	}
};
ostream &operator<<(ostream &o, const Shape &s)
{
	s.print(o);
	return o;
}
static void library(int argc)
{
	double whole, part = modf(-3.75, &whole);

	cout << whole << ' ' << part << ' ' << typeid(int).name() << typeid(string).name() << endl;
	char *type = abi::__cxa_demangle(typeid(unsigned).name(), nullptr, nullptr, nullptr);
	cout << type << localeconv()->decimal_point << endl;
	free(type);

	{
		ofstream o("f.tmp");
		o << "one 1\n" << "two " << 2 << endl;
	}
	{
		ofstream o("f.tmp", ios::app);
		o << "three 3" << endl;
	}
	ifstream in(string("f.tmp"));
	string w;
	int n;
	while (in >> w >> n)
		cout << w << n << ' ';
	cout << in.eof() << endl;
	in.clear();
	in.close();
	in.open("f.tmp");
	string all((istreambuf_iterator<char>(cin)), istreambuf_iterator<char>());
	fstream fs("f.tmp", ios::in);
	getline(fs, w);
	cout << w << endl;
	priority_queue<int> pq;
	for (int i : { 3, 9, 2 })
		pq.push(i);
	cout << pq.top() << endl;
	unique_ptr<Shape> s = make_unique<Sq>(2.5);
	cout << *s << endl;
	shared_ptr<Shape> sp = make_shared<Sq>(2);
	weak_ptr<Shape> wp = sp;
	cout << sp.use_count() << wp.expired() << endl;
	unordered_set<string> us{ "a", "b" };
	cout << us.count("a") << endl;
	function<int(int)> f = [n](int x) { return x + n; };
	cout << f(1) << endl;
	deque<int> dq;
	dq.push_back(1);
	dq.push_front(2);
	stack<int> st;
	st.push(4);
	cout << dq.size() << st.top() << endl;
	try {
		throw Error("boo");
	} catch (const runtime_error &e) {
		cout << e.what() << endl;
	}
	try {
		vector<int> v;
		v.at(3) = 1;
	} catch (const out_of_range &e) {
		cout << "range" << endl;
	}
	try {
		throw out_of_range("x");
	} catch (const logic_error &e) {
		cout << e.what() << endl;
	}
	try {
		if (argc > 9)
			throw 5;
		throw string("str");
	} catch (const string &x) {
		cout << x << endl;
	} catch (...) {
		cout << "any" << endl;
	}
	cout << setw(10) << left << "name" << right << setw(5) << 3 << endl;
}

int main(int argc, char **)
{
	streams();
	library(argc);
	return 3;
}
