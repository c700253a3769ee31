/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_PAGE_H
#define REPORTS_PAGE_H

/** The parts of report.html. Each appends a whole section, or nothing when it has nothing to say. */

#include "reports/insight.h"
#include "reports/plot.h"

/** The page's style sheet, without the tags. */
void report_page_style(GString *html);

/** Failed points and broken rules: first on the page, because they qualify all that follows. */
void report_page_trouble(GString *html, const struct report_sweep *sweep);
void report_page_measured(GString *html, const struct report_sweep *sweep);
/** What each shell command came to. */
void report_page_commands(GString *html, const struct report_sweep *sweep);
/** Where more of the line axis stops helping, per x value and panel. */
void report_page_enough(GString *html, const struct report_sweep *sweep);
void report_page_all_points(GString *html, const struct report_sweep *sweep);
/** Config, parameters that did not vary, provenance. */
void report_page_appendix(GString *html, const struct report_sweep *sweep);

/** Append `before`, the escaped text, `after`. */
void report_page_put(GString *html, const char *before, const char *text, const char *after);

#endif
