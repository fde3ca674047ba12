/* An object is deleted and its virtual function is called through a second pointer (use after free of browsers and
 * documents, CVE-2012-4792). */
#include <cstdio>
#include <cstring>
#include <vector>

struct Node {
	virtual long size() const { return 1; }
	virtual ~Node() {}
	long weight[4];
};

struct Document {
	std::vector<Node *> nodes;
	Node *focus = nullptr;
};

static __attribute__((noinline)) void remove_node(Document &d, unsigned i)
{
	delete d.nodes[i]; /* BUG:a */
	d.nodes.erase(d.nodes.begin() + i);
}

static __attribute__((noinline)) long paint(const Document &d)
{
	return d.focus->size();
}

int main()
{
	Document d;

	for (int i = 0; i < 3; i++)
		d.nodes.push_back(new Node);
	d.focus = d.nodes[1];
	remove_node(d, 1);
	char *text = new char[sizeof(Node)];
	memset(text, 'q', sizeof(Node));
	return (int)paint(d);
}
