/* report/formats.h - private: the writers, one for each finding and format. */
#ifndef REPORT_FORMATS_H
#define REPORT_FORMATS_H

#include "report/report.h"

struct shown_advice;
struct shown_candidate;

void explanation_term(const struct explanation *x, const struct report_view *view,
		      struct strbuf *out);
void explanation_json(const struct explanation *x, const struct report_view *view,
		      struct strbuf *out);
void explanation_html(const struct explanation *x, const struct report_view *view,
		      struct strbuf *out);
void explanation_dot(const struct explanation *x, const struct report_view *view,
		     struct strbuf *out);

/* " (12 in this way, 3 with a deadlock)", if the schedules that failed before failed in several ways. */
void advice_describe_faces(const struct shown_advice *a, struct strbuf *out);

/* A cause that was considered, in one sentence: how it stands, what it says, what speaks for it. */
void candidate_describe(const struct shown_candidate *c, struct strbuf *out);

void ranking_term(const struct ranking *r, const struct report_view *view, struct strbuf *out);
void ranking_json(const struct ranking *r, const struct report_view *view, struct strbuf *out);
void ranking_html(const struct ranking *r, const struct report_view *view, struct strbuf *out);
void ranking_dot(const struct ranking *r, const struct report_view *view, struct strbuf *out);

void fingerprint_term(const struct fingerprint *f, const struct report_view *view,
		      struct strbuf *out);
void fingerprint_json(const struct fingerprint *f, const struct report_view *view,
		      struct strbuf *out);
void fingerprint_sarif(const struct fingerprint *f, const struct report_view *view,
		       struct strbuf *out);

void merge_term(struct merge *m, const struct report_view *view, struct strbuf *out);
void merge_json(struct merge *m, const struct report_view *view, struct strbuf *out);

void foreign_term(const struct foreign *f, const struct report_view *view, struct strbuf *out);
void foreign_json(const struct foreign *f, const struct report_view *view, struct strbuf *out);

void races_term(const struct races_result *r, const struct report_view *view, struct strbuf *out);
void races_sarif(const struct races_result *r, const struct report_view *view, struct strbuf *out);
void races_junit(const struct races_result *r, const struct report_view *view, struct strbuf *out);
void races_html(const struct races_result *r, const struct report_view *view, struct strbuf *out);
void races_json(const struct races_result *r, const struct report_view *view, struct strbuf *out);

void cases_sarif(const struct ci_cases *c, const char *suite, struct strbuf *out);
void cases_junit(const struct ci_cases *c, const char *suite, struct strbuf *out);

#endif
