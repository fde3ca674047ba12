/* dictionary.c - finding tables, keeping dependencies. */
#include "dictionary.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void dictionary_init(struct dictionary *d)
{
	memset(d, 0, sizeof(*d));
	pthread_mutex_init(&d->lock, NULL);
	for (int i = 0; i < TABLES; i++) {
		struct table *t = &d->table[i];

		pthread_mutex_init(&t->lock, NULL);
		snprintf(t->name, sizeof(t->name), "T%d", i);
		for (int j = 0; j < COLUMNS; j++)
			snprintf(t->column[j], sizeof(t->column[j]), "C%d", j);
		t->rows = 10 * i;
	}
}

void dictionary_deinit(struct dictionary *d)
{
	for (int i = 0; i < TABLES; i++)
		pthread_mutex_destroy(&d->table[i].lock);
	pthread_mutex_destroy(&d->lock);
}

struct table *dictionary_find(struct dictionary *d, const char *name)
{
	struct table *t = NULL;

	pthread_mutex_lock(&d->lock);
	d->lookups++;
	for (int i = 0; i < TABLES && !t; i++)
		if (strcmp(d->table[i].name, name) == 0)
			t = &d->table[i];
	pthread_mutex_unlock(&d->lock);
	return t;
}

void dictionary_add_dependency(struct dictionary *d, int view, const char *provider)
{
	struct dependency *place = NULL;

	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < DEPENDENCIES && !place; i++)
		if (d->dependency[i].view == 0)
			place = &d->dependency[i];
	assert(place);
	place->view = view;
	snprintf(place->provider, sizeof(place->provider), "%s", provider);
	d->views_made++;
	pthread_mutex_unlock(&d->lock);
}

void dictionary_drop_dependencies(struct dictionary *d, int view)
{
	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < DEPENDENCIES; i++)
		if (d->dependency[i].view == view)
			d->dependency[i].view = 0;
	d->views_dropped++;
	pthread_mutex_unlock(&d->lock);
}

int dictionary_dependencies(struct dictionary *d)
{
	int n = 0;

	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < DEPENDENCIES; i++)
		n += d->dependency[i].view != 0;
	pthread_mutex_unlock(&d->lock);
	return n;
}
