/* report/formats.c - which format shows which finding. A new format is one more struct here. */
#include "report/formats.h"

const struct report_format report_term = {
	.name = "text",
	.explanation = explanation_term,
	.ranking = ranking_term,
	.fingerprint = fingerprint_term,
	.merge = merge_term,
	.foreign = foreign_term,
	.races = races_term,
};

const struct report_format report_json = {
	.name = "json",
	.explanation = explanation_json,
	.ranking = ranking_json,
	.fingerprint = fingerprint_json,
	.merge = merge_json,
	.foreign = foreign_json,
	.races = races_json,
};

const struct report_format report_html = {
	.name = "html",
	.explanation = explanation_html,
	.ranking = ranking_html,
	.races = races_html,
};

const struct report_format report_dot = {
	.name = "dot",
	.explanation = explanation_dot,
	.ranking = ranking_dot,
};

const struct report_format report_sarif = {
	.name = "sarif",
	.fingerprint = fingerprint_sarif,
	.cases = cases_sarif,
	.races = races_sarif,
};

const struct report_format report_junit = {
	.name = "junit",
	.cases = cases_junit,
	.races = races_junit,
};
