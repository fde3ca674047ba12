/* cmd/rewind-check.c - `unplait rewind check`: did the machine do this, and no program? */
#include "cmd/rewind.h"

#include "base/log.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "crumbs/crumbs.h"
#include "debug/dump.h"
#include "rewind/code.h"
#include "rewind/hardware.h"
#include "rewind/logged.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void show_hardware(const struct hardware *w, struct strbuf *out)
{
	strbuf_addf(out, "hardware: %s%s", hardware_name(w->strength), *w->what ? ": " : "");
	strbuf_add_printable(out, w->what, "");
	strbuf_addc(out, '\n');
	if (*w->against)
		strbuf_addf(out, "against it: %s\n", w->against);
}

static struct err *print(const struct cmd_common *common, const struct hardware *w)
{
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };
	struct json j;

	if (!common->json || *common->json) {
		show_hardware(w, &sb);
		fputs(strbuf_str(&sb), stdout);
		printf("%llu bytes were compared with their files\n",
		       (unsigned long long)w->compared);
	}
	if (!common->json)
		return NULL;
	json_init(&j);
	json_begin_answer(&j);
	json_hardware(&j, w);
	json_end(&j);
	return cmd_write_json(common, &j);
}

struct err *rewind_read_crumbs(struct crumbs *c, const struct strings *files)
{
	struct err *err = crumbs_read_all(c, files->data, files->len);

	if (!err && (c->uses.len || c->plaits.len))
		log_warn("fingerprints of watch and plaits are not used by rewind: only reports "
			 "about broken hardware and records of branches are");
	return err;
}

void json_hardware(struct json *j, const struct hardware *w)
{
	json_begin_object(j, "hardware");
	json_str(j, "strength", hardware_name(w->strength));
	json_str(j, "what", *w->what ? w->what : NULL);
	json_str(j, "against", *w->against ? w->against : NULL);
	json_uint(j, "compared", w->compared);
	json_end(j);
}

struct err *rewind_check_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct cmd_common common = { 0 };
	bool no_run = false, run = false;
	struct strings files = { 0 };
	struct crumbs crumbs = { 0 };
	const struct opt table[] = {
		OPT_LIST(0, "crumbs", "FILE", &files,
			 "what the kernel, mcelog or rasdaemon logged"),
		OPT_FLAG(0, "run", &run, "also run the dump of another user"),
		OPT_FLAG(0, "no-run", &no_run, "do not run the failing instruction again"),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);
	struct hardware w = { 0 };
	struct dump d = { 0 };
	struct stat st;
	struct code *c;

	if (err)
		return err;
	if (argc != 1)
		return cmd_usage(cmd, "rewind check: one core dump is needed");
	err = rewind_read_crumbs(&crumbs, &files);
	if (crumbs.branches.len)
		log_warn("records of branches are not used by rewind check: give them to rewind");
	if (!err)
		err = dump_open(argv[0], &d);
	if (!err && !d.threads.len)
		err = err_new(ERR_ENV, "%s has no threads: it is cut off or damaged", argv[0]);
	if (err) {
		crumbs_deinit(&crumbs);
		dump_close(&d);
		return err;
	}
	c = code_new(&d, NULL);
	if (!run && (stat(argv[0], &st) < 0 || st.st_uid != geteuid()))
		no_run = true;
	err = hardware_check(&d, c, !no_run, &w);
	hardware_logged(&d, &crumbs, &w);
	if (!err)
		err = print(&common, &w);
	*status = w.strength >= HARDWARE_STRONG ? 1 : w.strength == HARDWARE_WEAK ? 4 : 0;
	code_free(c);
	crumbs_deinit(&crumbs);
	dump_close(&d);
	return err;
}
