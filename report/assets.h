/* report/assets.h - files of report/assets as strings. */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

extern const char asset_explain_css[];
extern const char asset_explain_js[];
extern const char asset_index_css[];
extern const char asset_index_js[];
extern const char asset_races_css[];

#endif
