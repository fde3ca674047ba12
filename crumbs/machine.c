/* crumbs/machine.c - what the kernel, mcelog and rasdaemon say about broken hardware.
 *
 * Two things matter: was data lost (an uncorrected error; a corrected one changes nothing that a program sees), and
 * whom did it hit. A machine check prints the status of its bank, in which bit 61 says uncorrected and bit 63 that the
 * rest is valid. "Memory failure" lines name the process that had the page. */
#include "crumbs/kinds.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_VALID	   (1ull << 63)
#define STATUS_UNCORRECTED (1ull << 61)

/* The number behind `key`; false when the line has no such key. */
static bool hex_behind(const char *line, const char *key, uint64_t *ret)
{
	const char *at = strcasestr(line, key);
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \t=:");
	*ret = strtoull(at, &end, 16);
	return end > at;
}

/* "Machine Check Exception: 5 Bank 4: be00000000800400" and "Machine Check: 0 Bank 5: ..." */
static bool bank_status(const char *line, uint64_t *ret)
{
	const char *at = strcasestr(line, " bank ");
	char *end;

	if (!at)
		return false;
	strtoul(at + 6, &end, 10);
	if (*end != ':')
		return false;
	at = end + 1 + strspn(end + 1, " ");
	*ret = strtoull(at, &end, 16);
	return end - at >= 8;
}

/* "Memory failure: 0x12345: Killing prog:4711 due to hardware memory corruption" and
 * "MCE 0x12345: Killing prog:4711 ..." */
static void read_victim(struct crumbs *c, const char *line, struct crumb_check *ret)
{
	const char *at = strstr(line, "Killing "), *stop, *colon = NULL;
	char *end;

	if (!at)
		return;
	at += 8;
	stop = strstr(at, " due to");
	for (const char *p = at; *p && p != stop; p++)
		if (*p == ':')
			colon = p; /* a name may have one, too */
	if (!colon || !isdigit((unsigned char)colon[1]))
		return;
	ret->pid = (uint32_t)strtoul(colon + 1, &end, 10);
	ret->pid_known = true;
	ret->program = arena_strndup(&c->arena, at, (size_t)(colon - at));
}

static bool is_lost(const char *line)
{
	uint64_t status;

	if (bank_status(line, &status) || hex_behind(line, "status 0x", &status) ||
	    hex_behind(line, "status=", &status) || hex_behind(line, "STATUS ", &status))
		return status & STATUS_VALID && status & STATUS_UNCORRECTED;
	return strcasestr(line, "uncorrected") || strcasestr(line, "uncorrectable") ||
	       strstr(line, "Uncorr. ") || strstr(line, " UE ") ||
	       strstr(line, "due to hardware memory corruption");
}

/* Words that the kernel and the two daemons print, and a program's own log hardly does. */
static bool is_report(const char *line)
{
	static const char *const words[] = { "[Hardware Error]",
					     "Machine Check",
					     "mce_record:",
					     "mc_event:",
					     "memory_failure_event:",
					     "hardware memory error",
					     "due to hardware memory corruption" };
	uint64_t status;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]))
			return true;
	/* mcelog's own lines; EDAC's begin with the controller */
	return (!strncmp(line, "STATUS ", 7) && hex_behind(line, "STATUS ", &status)) ||
	       (strstr(line, "EDAC MC") && (strstr(line, " UE ") || strstr(line, " CE ")));
}

/* Lines around a report that say nothing about this one. */
static bool is_silent(const char *line)
{
	return strstr(line, "Machine check events logged") ||
	       strstr(line, "Run the above through") ||
	       strstr(line, "This is not a software error");
}

bool crumbs_read_check(struct crumbs *c, const char *line)
{
	struct crumb_check check = { .text = line };

	if (is_silent(line))
		return true;
	if (!is_report(line))
		return false;
	check.uncorrected = is_lost(line);
	read_victim(c, line, &check);
	vec_push(&c->checks, check);
	return true;
}
