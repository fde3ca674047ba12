/* test/unit/test-coop-plan.c - who records what, and profiles as files. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "coop/program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 40 };

/* n elements with two sites each; element i has `load(i)` accesses, the last one none. */
static struct coop_program *make_program(uint32_t n, uint64_t (*load)(uint32_t))
{
	struct coop_program *p = xcalloc(1, sizeof(*p));

	snprintf(p->build, sizeof(p->build), "feedbeef");
	p->path = xstrdup("/nowhere");
	p->mode = PLAIT_MODE_ORDER;
	p->nsites = SITES;
	p->of_site = xcalloc(SITES, sizeof(*p->of_site));
	for (uint32_t s = 0; s < SITES; s++)
		p->of_site[s] = s / 2 < n ? s / 2 : COOP_NONE;
	for (uint32_t i = 0; i < n; i++) {
		struct coop_program_element *e = vec_add(&p->elements);

		e->id = 100 + i;
		e->name = xasprintf("element %u", i);
		e->nsites = 2;
		e->accesses = i + 1 < n ? load(i) : 0;
		e->seen = i + 1 < n;
	}
	return p;
}

static uint64_t alike(uint32_t i)
{
	(void)i;
	return 10;
}

static uint64_t uneven(uint32_t i)
{
	return i == 0 ? 1000 : 1 + i % 3;
}

static uint32_t count(const struct coop_program *p, const bool *chosen)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->elements.len; i++)
		n += chosen[i];
	return n;
}

Test(coop_plan, a_uniform_profile_has_its_share_and_what_nobody_used)
{
	struct coop_program *p = make_program(17, alike);
	struct plan_options o = { .share = 0.25, .instances = 100, .seed = 3 };
	uint32_t times[17] = { 0 };
	bool chosen[17], again[17];

	cr_assert_eq(plan_size(p, &o), 4);
	for (uint32_t i = 0; i < 400; i++) {
		plan_choose(p, &o, i, chosen);
		plan_choose(p, &o, i, again);
		cr_assert_arr_eq(chosen, again, sizeof(chosen));
		cr_assert_eq(count(p, chosen), 5, "four that are used, and the one that is not");
		cr_assert(chosen[16]);
		for (uint32_t k = 0; k < 17; k++)
			times[k] += chosen[k];
	}
	for (uint32_t k = 0; k < 16; k++)
		cr_assert(times[k] > 60 && times[k] < 140, "%u of 400, about 100", times[k]);
	cr_assert_float_eq(plan_miss(p, &o), pow(0.75, 100), 1e-12);
	coop_program_close(p);
}

Test(coop_plan, a_single_element_is_a_single_element)
{
	struct coop_program *p = make_program(9, alike);
	struct plan_options o = { .share = 0, .instances = 10, .seed = 1 };
	bool chosen[9];

	for (uint32_t i = 0; i < 50; i++) {
		plan_choose(p, &o, i, chosen);
		cr_assert_eq(count(p, chosen), 1);
	}
	o.share = 1;
	plan_choose(p, &o, 0, chosen);
	cr_assert_eq(count(p, chosen), 9);
	coop_program_close(p);
}

/* One element has nearly all accesses: the others cost nothing, and are recorded by all. */
Test(coop_plan, an_informed_profile_is_as_dear_as_its_share)
{
	struct coop_program *p = make_program(17, uneven);
	struct plan_options o = { .share = 0.25, .instances = 50, .seed = 5, .informed = true };
	double elements, accesses;

	plan_load(p, &o, &elements, &accesses);
	cr_assert_gt(elements, 15);
	cr_assert(accesses > 0.1 && accesses < 0.45, "%g", accesses);
	o.informed = false;
	plan_load(p, &o, &elements, &accesses);
	cr_assert_float_eq(elements, 4, 1e-9);
	coop_program_close(p);
}

Test(coop_plan, a_program_without_elements)
{
	struct coop_program *p = make_program(0, alike);
	struct plan_options o = { .share = 0.5, .instances = 3, .seed = 1 };
	double elements, accesses;
	bool chosen[1] = { false };

	plan_choose(p, &o, 0, chosen);
	plan_load(p, &o, &elements, &accesses);
	cr_assert_eq(plan_size(p, &o), 0);
	cr_assert_eq(plan_miss(p, &o), 0);
	cr_assert_eq(elements, 0);
	coop_program_close(p);
}

static char *folder, *path;

static void in_folder(void)
{
	cr_assert_null(file_temp_dir(&folder));
	path = xasprintf("%s/a.profile", folder);
}

static void out_of_folder(void)
{
	file_remove_tree(folder);
	free(path);
	free(folder);
}

TestSuite(profile, .init = in_folder, .fini = out_of_folder);

static void check_profile(const char *text, struct coop_program *p, const char *want)
{
	bool *chosen = NULL;
	struct err *err;

	cr_assert_null(file_write(path, text, strlen(text)));
	err = profile_read(path, p, &chosen);
	if (want)
		cr_assert(err && strstr(err_message(err), want), "%s", err ? err_message(err) : "");
	else
		cr_assert_null(err);
	err_free(err);
	free(chosen);
}

Test(profile, comes_back_as_it_was_written)
{
	struct coop_program *p = make_program(12, alike);
	bool chosen[12] = { [1] = true, [7] = true, [11] = true }, *read = NULL;
	struct strbuf text = { 0 };

	profile_write(p, chosen, &text);
	cr_assert_null(file_write(path, text.data, text.len));
	cr_assert_null(profile_read(path, p, &read));
	cr_assert_arr_eq(read, chosen, sizeof(chosen));
	free(read);
	strbuf_deinit(&text);
	coop_program_close(p);
}

Test(profile, what_is_none_is_refused)
{
	struct coop_program *p = make_program(3, alike);

	check_profile("", p, "is no profile");
	check_profile("\n\n", p, "is no profile");
	check_profile("hello\n", p, "is no profile");
	check_profile(PLAIT_PROFILE_MAGIC "order\n", p, "is no profile");
	check_profile(PLAIT_PROFILE_MAGIC "order cafe\n", p, "another build");
	check_profile(PLAIT_PROFILE_MAGIC "block feedbeef\n", p, "is for mode block");
	check_profile(PLAIT_PROFILE_MAGIC "order feedbeef\nsite 9 4294967295\nnonsense\n", p, NULL);
	coop_program_close(p);
}
